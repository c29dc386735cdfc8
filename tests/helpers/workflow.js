// Carries out a workflow of n8n of the nodes Webhook, If, Respond to Webhook and NoOp, at its path
// on PORT, as n8n's documentation of these nodes says. Each request is a line of standard output:
// METHOD, STATUS, and the names of the nodes that ran.
//
//     PORT=N node workflow.js FILE
const fs = require('node:fs');
const http = require('node:http');

const workflow = JSON.parse(fs.readFileSync(process.argv[2], 'utf8'));
const nodes = new Map(workflow.nodes.map((node) => [node.name, node]));
const start = workflow.nodes.find((node) => node.type === 'n8n-nodes-base.webhook');

// The value of a parameter: a text that begins with `=` is an expression over $json.
function value(text, json) {
    const match = /^=\{\{(.*)\}\}$/.exec(text);
    return match ? new Function('$json', `return ${match[1]};`)(json) : text;
}

const operations = {
    'string equals': (left, right) => left === right,
    'array exists': (left) => Array.isArray(left),
};

// Each returns the output of the node that goes on.
const types = {
    'n8n-nodes-base.webhook': ({parameters}, call) => parameters.httpMethod.indexOf(call.method),
    'n8n-nodes-base.if': ({parameters}, call) =>
        parameters.conditions.conditions.every(({leftValue, operator, rightValue}) =>
            operations[`${operator.type} ${operator.operation}`](
                value(leftValue, call.json), value(rightValue, call.json))) ? 0 : 1,
    'n8n-nodes-base.respondToWebhook': ({parameters}, call) => {
        call.status = parameters.options.responseCode;
        if (parameters.respondWith === 'text')
            call.answer = value(parameters.responseBody, call.json);
        return 0;
    },
    'n8n-nodes-base.noOp': () => 0,
};

function carryOut(node, call) {
    call.ran.push(node.name);
    const output = types[node.type](node, call);
    for (const {node: next} of workflow.connections[node.name]?.main[output] ?? [])
        carryOut(nodes.get(next), call);
}

async function serve(request, response) {
    const url = new URL(request.url, 'http://localhost');
    const parts = [];
    for await (const part of request)
        parts.push(part);
    const body = Buffer.concat(parts).toString();
    const call = {method: request.method, ran: [], status: 404, answer: '', json: {
        query: Object.fromEntries(url.searchParams), body: body ? JSON.parse(body) : {}}};
    if (url.pathname === `/webhook/${start.parameters.path}`)
        carryOut(start, call);
    console.log(call.method, call.status, call.ran.join(' > '));
    response.writeHead(call.status).end(call.answer);
}

http.createServer((request, response) => {
    serve(request, response).catch((error) => response.destroy(error));
}).listen(Number(process.env.PORT), '127.0.0.1');
