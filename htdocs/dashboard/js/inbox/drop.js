// Files that are dropped on a conversation.
import {el} from '../dom.js';
import {t} from '../i18n.js';
import {icon} from '../icons.js';

function hasFiles(event) {
    return event.dataTransfer?.types.includes('Files');
}

// The files of a drop: a folder, which has no content of its own, is none of them.
function filesOf({dataTransfer}) {
    const folders = new Set([...dataTransfer.items]
        .map((item) => item.webkitGetAsEntry?.()).filter((entry) => entry?.isDirectory)
        .map(({name}) => name));
    return [...dataTransfer.files].filter(({name}) => !folders.has(name));
}

// Lets files be dropped on a node: dropZone(node, {isOpen(), take(files)}). A file that is dropped
// beside it would open in place of the page. Returns a function that ends it.
export function dropZone(node, {isOpen, take}) {
    const sign = el('div', {class: 'drop-sign', hidden: true}, icon('attach'),
        el('p', {}, t('files.drop')));
    node.append(sign);

    function onOver(event) {
        if (!hasFiles(event))
            return;
        event.preventDefault();
        const isHere = node.contains(event.target) && isOpen();
        event.dataTransfer.dropEffect = isHere ? 'copy' : 'none';
        sign.hidden = !isHere;
    }

    function onLeave(event) {
        if (!event.relatedTarget)
            sign.hidden = true; // it left the window
    }

    function onDrop(event) {
        if (!hasFiles(event))
            return;
        event.preventDefault();
        sign.hidden = true;
        if (node.contains(event.target) && isOpen())
            take(filesOf(event));
    }

    const types = {dragenter: onOver, dragover: onOver, dragleave: onLeave, drop: onDrop};
    for (const [type, handler] of Object.entries(types))
        window.addEventListener(type, handler);
    return () => {
        for (const [type, handler] of Object.entries(types))
            window.removeEventListener(type, handler);
    };
}
