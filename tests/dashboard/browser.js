// Starts Chromium for the tests of a file, writes its address to a file, and runs until SIGTERM:
//
//     node browser.js FILE
const fs = require('node:fs');
const {createRequire} = require('node:module');
const {chromium} = createRequire(`${process.env.NODE_MODULES}/`)('playwright-core');

async function main(file) {
    const server = await chromium.launchServer({
        executablePath: '/usr/bin/chromium', host: '127.0.0.1', headless: true,
        // The sandbox of Chromium needs rights that a container and root do not have.
        args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu'],
    });
    fs.writeFileSync(`${file}.new`, `${server.wsEndpoint()}\n`);
    fs.renameSync(`${file}.new`, file); // a reader never sees a part of the address
}

main(process.argv[2]).catch((error) => {
    process.stderr.write(`${error.stack}\n`);
    process.exit(1);
});
