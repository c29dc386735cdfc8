// Starts Chromium for the tests of a file, and runs their parts in it until SIGTERM:
//
//     node browser.js SOCKET
//
// Each POST to SOCKET is one run of drive.js. Its body has parts that end with NUL: the email
// address and the password of the user, MODULE, NAME and the arguments. The answer is 200 with what
// the test printed, or 500 with its failure. One process for all tests, because Node and Playwright
// take longer to start than most tests run.
const fs = require('node:fs');
const http = require('node:http');
const {run} = require('./drive.js');
const {launch} = require('./launch.js');

// Errors that no test waits for, such as a promise that is rejected later: the run in which they
// appear fails.
const stray = [];
process.on('unhandledRejection', (error) => stray.push(`rejection: ${error?.stack ?? error}`));

async function partsOf(request) {
    const chunks = [];
    for await (const chunk of request)
        chunks.push(chunk);
    return Buffer.concat(chunks).toString().split('\0').slice(0, -1);
}

async function main(socket) {
    const browser = await launch();
    const server = http.createServer(async (request, response) => {
        const [email, password, ...test] = await partsOf(request);
        const {failure, printed} = await run(browser, {email, password}, test, stray);
        response.writeHead(failure ? 500 : 200);
        response.end(failure ?? printed);
    });
    server.requestTimeout = 0;
    process.on('SIGTERM', async () => {
        await browser.close();
        process.exit(0);
    });
    // A reader never finds a socket that does not answer.
    server.listen(`${socket}.new`, () => fs.renameSync(`${socket}.new`, socket));
}

main(process.argv[2]).catch((error) => {
    process.stderr.write(`${error.stack}\n`);
    process.exit(1);
});
