// The settings of this browser.
import {el, fill} from '../dom.js';
import {t} from '../i18n.js';
import {missingForVoice} from '../inbox/voice.js';
import {SETTINGS, choose, onChoice, setting} from '../settings.js';
import {card, field, heading} from '../ui.js';

export const title = 'settings.title';

function boxOf({name}) {
    return field({
        label: t(`settings.${name}.label`), hint: t(`settings.${name}.hint`), name,
        type: 'checkbox', value: setting(name),
        on: {change: (event) => choose(name, event.currentTarget.checked)},
    });
}

export function show(root) {
    const boxes = SETTINGS.map((row) => ({...row, box: boxOf(row)}));
    const sections = [...new Set(SETTINGS.map(({section}) => section))];
    const missing = missingForVoice() ?? 'nothing';
    fill(root, heading(t('settings.title'), {text: t('settings.text')}),
        sections.map((section) => card(t(`settings.section.${section}`), {},
            boxes.filter((one) => one.section === section).map(({box}) => box.root))),
        card(t('voice.title'), {}, el('p', {}, t(`voice.missing.${missing}`))));
    return onChoice(() => {
        for (const {name, box} of boxes)
            box.input.checked = setting(name);
    });
}
