// Starts Chromium for the tests of a file, prints its address as one line, and runs until its
// standard input ends.
const {createRequire} = require('node:module');
const {chromium} = createRequire(`${process.env.NODE_MODULES}/`)('playwright-core');

async function main() {
    const server = await chromium.launchServer({
        executablePath: '/usr/bin/chromium', host: '127.0.0.1', headless: true,
        // The sandbox of Chromium needs rights that a container and root do not have.
        args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
    });
    process.stdout.write(`${server.wsEndpoint()}\n`);
    process.stdin.resume();
    process.stdin.on('end', async () => {
        await server.close();
        process.exit(0);
    });
}

main().catch((error) => {
    process.stderr.write(`${error.stack}\n`);
    process.exit(1);
});
