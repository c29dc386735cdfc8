// The control in Fastify 5.
import { randomUUID } from 'node:crypto';
import Fastify from 'fastify';
import { Failure, accountContext, authenticate, fixedHeaders, log, logLine, sendText } from './gateway.js';
import { serve } from './serve.js';

const app = Fastify({ keepAliveTimeout: 65_000, bodyLimit: 2_097_152 });
app.decorateRequest('user', null);
app.decorateRequest('started', 0);

app.addHook('onRequest', (request, reply, done) => {
    request.started = performance.now();
    reply.headers(fixedHeaders);
    reply.header('x-request-id', randomUUID());
    done();
});

app.addHook('onResponse', (request, reply, done) => {
    logLine(request.method, request.routeOptions.url, reply.statusCode, request.user, request.started);
    done();
});

function requireToken(request, reply, done) {
    request.user = authenticate(request.headers);
    done();
}

const text = { type: 'string' };
const textOrNull = { type: ['string', 'null'] };
const object = (properties) => ({ type: 'object', properties });
const envelope = (data) => ({ 200: object({ success: { type: 'boolean' }, data }) });

// Fastify compiles a serializer for each declared answer.
const meSchema = {
    response: envelope(object({
        user: object({ id: text, email: text }),
        account: object({ id: textOrNull, wabaid: textOrNull }),
        accounts: { type: 'array', items: object({ id: text, wabaid: text, displayName: text }) },
        phoneNumbers: {
            type: 'array',
            items: object({
                id: text,
                phoneNumberId: text,
                phoneNumber: text,
                name: textOrNull,
                isRegistered: { type: 'boolean' },
                isCoexisting: { type: 'boolean' },
                platformType: textOrNull,
                accountId: text,
                createdAt: text,
            }),
        },
        defaultPhoneNumberId: textOrNull,
    })),
};

app.get('/v2/me', { onRequest: requireToken, schema: meSchema }, (request, reply) => {
    reply.send({ success: true, data: accountContext(request.user) });
});

app.post('/v2/messages/send/text', { onRequest: requireToken }, async (request) => (
    { success: true, data: await sendText(request.user, request.body) }
));

app.setNotFoundHandler((request, reply) => {
    reply.code(404).send({ success: false, error: 'NOT_FOUND', message: 'No such route' });
});

app.setErrorHandler((error, request, reply) => {
    if (error instanceof Failure) {
        reply.code(error.status).send(error.body);
        return;
    }
    log.error(error);
    reply.code(error.statusCode ?? 502).send({
        success: false,
        error: error.statusCode === 400 ? 'VALIDATION_ERROR' : 'INTERNAL_ERROR',
        message: error.message,
    });
});

serve((listen) => app.listen({ ...listen, backlog: 1024 }));
