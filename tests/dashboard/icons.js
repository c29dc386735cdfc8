// Writes the icons of the dashboard that are PNG files, from its icon.svg: node icons.js DIRECTORY
//
// A picture is square. `shape`: the part of its width that the drawing takes; `back`: the colour
// around it, which fills the corners that a system may cut off. The same Chromium writes the same
// bytes.
const fs = require('node:fs');
const path = require('node:path');
const {createRequire} = require('node:module');
const {chromium} = createRequire(`${process.env.NODE_MODULES}/`)('playwright-core');

const ICONS = [
    {name: 'icon-192.png', size: 192, shape: 1},
    {name: 'icon-512.png', size: 512, shape: 1},
    {name: 'icon-maskable.png', size: 512, shape: 0.8, back: '#2f5bd7'},
];

async function draw(page, drawing, {size, shape, back = 'transparent'}) {
    const side = Math.round(size * shape);
    await page.setViewportSize({width: size, height: size});
    await page.setContent(`<!doctype html><style>
        html { background: ${back}; }
        body { display: grid; place-items: center; height: 100vh; margin: 0; }
        svg { display: block; width: ${side}px; height: ${side}px; }
        </style>${drawing}`);
    return page.screenshot({omitBackground: true});
}

async function main(directory) {
    const drawing = fs.readFileSync(path.join(directory, 'icon.svg'), 'utf8');
    const browser = await chromium.launch({
        executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-dev-shm-usage'],
    });
    const page = await browser.newPage();
    for (const icon of ICONS)
        fs.writeFileSync(path.join(directory, icon.name), await draw(page, drawing, icon));
    await browser.close();
}

main(process.argv[2]).catch((error) => {
    process.stderr.write(`${error.stack}\n`);
    process.exit(1);
});
