// The title of the tab: the number of unread conversations, what the page shows, the page, the
// product.

let count = '';
let page = '';
let thing = '';

function draw() {
    document.title = (count && `(${count}) `) +
        [thing, page, 'Switchboard'].filter(Boolean).join(' · ');
}

// Names the page that opens.
export function setPage(text) {
    page = text;
    thing = '';
    draw();
}

// Names what the page shows, as the contact of a thread; '' for nothing.
export function setThing(text) {
    thing = text;
    draw();
}

// Sets the number before the title, as text; '' for none.
export function setCount(text) {
    count = text;
    draw();
}
