// Starts a browser for the tests. Chromium's headless shell has the engine of Chromium without the
// window around it, and takes half of its CPU time: most tests use it. `chromium` is whole.
const {createRequire} = require('node:module');
const {chromium} = createRequire(`${process.env.NODE_MODULES}/`)('playwright-core');

exports.launch = (name = 'chromium-headless-shell') => chromium.launch({
    executablePath: `/usr/bin/${name}`, headless: true,
    // The sandbox of Chromium needs rights that a container and root do not have.
    // The microphone is a tone.
    args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu',
        '--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream'],
});
