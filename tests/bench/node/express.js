// The control in Express 5.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import express from 'express';
import { Failure, accountContext, authenticate, fixedHeaders, log, logLine, sendText } from './gateway.js';
import { serve } from './serve.js';

const app = express();
app.disable('x-powered-by');
app.disable('etag');

app.use((request, response, next) => {
    const started = performance.now();
    response.set(fixedHeaders);
    response.set('x-request-id', randomUUID());
    response.on('finish', () => {
        logLine(request.method, request.route?.path ?? request.path, response.statusCode, request.user,
            started);
    });
    next();
});

function requireToken(request, response, next) {
    request.user = authenticate(request.headers);
    next();
}

app.get('/v2/me', requireToken, (request, response) => {
    response.json({ success: true, data: accountContext(request.user) });
});

app.post('/v2/messages/send/text', requireToken, express.json({ limit: '2mb' }),
    async (request, response) => {
        response.json({ success: true, data: await sendText(request.user, request.body) });
    });

app.use((request, response) => {
    response.status(404).json({ success: false, error: 'NOT_FOUND', message: 'No such route' });
});

// eslint-disable-next-line no-unused-vars -- Express recognizes an error handler by its four parameters
app.use((error, request, response, next) => {
    if (error instanceof Failure) {
        response.status(error.status).json(error.body);
        return;
    }
    log.error(error);
    response.status(error.status ?? 502).json({
        success: false,
        error: error.status === 400 ? 'VALIDATION_ERROR' : 'INTERNAL_ERROR',
        message: error.message,
    });
});

serve((listen) => createServer({ keepAliveTimeout: 65_000 }, app).listen(listen, 1024));
