// @whatsapp-cloudapi/client, with the argument baseUrl of its functions.
import * as whatsapp from "@whatsapp-cloudapi/client";
import {
    base, blocked, failing, flow, foreign, limited, line, photo, received, step, to, token,
} from "./steps.js";

const common = { accessToken: token, from: line, baseUrl: base };

function send(name, method, input) {
    return step(name, async () => {
        const answer = await whatsapp[method]({ ...common, to, ...input });
        return answer.messages[0].id;
    });
}

// The library throws an Error whose message ends with the platform's answer in JSON.
function fails(name, method, input) {
    const call = () => whatsapp[method]({ ...common, to, ...input });
    return step(name, () => failing(call, (error) => {
        const { code, error_subcode: subcode, message } =
            JSON.parse(error.message.replace(/^[^{]*/, "")).error;
        return { code, subcode, readable: message.length > 0 };
    }));
}

const uploaded = await step("media upload", async () => (await whatsapp.uploadMedia({
    ...common, file: new Blob([photo], { type: "image/jpeg" }),
})).id);
await send("text", "sendTextMessage", { text: "Grüße ☃", previewUrl: true });
await send("text with callback data", "sendTextMessage", { text: "x", bizOpaqueCallbackData: "1" });
await send("image", "sendImageMessage", { mediaId: uploaded, caption: "Our shop" });
await send("template", "sendTemplateMessage", {
    templateName: "order_ready", languageCode: "en_US", languagePolicy: "deterministic",
    replyToMessageId: received,
    components: [{ type: "body", parameters: [{ type: "text", text: "4711" }] }],
});
await send("buttons", "sendButtonsMessage", {
    bodyText: "Choose", headerImage: { id: uploaded }, footerText: "Foot",
    buttons: [{ id: "yes", title: "Yes" }, { id: "no", title: "No" }],
});
await send("list", "sendListMessage", {
    bodyText: "Choose", buttonText: "Open", headerText: "Head",
    sections: [{ title: "A", rows: [{ id: "1", title: "One", description: "First" }] }],
});
await send("cta url", "sendCTAURLMessage", {
    bodyText: "Look", buttonText: "Open", url: "https://example.org/a?b=c",
});
await send("flow", "sendFlowMessage", {
    bodyText: "Fill in", flowToken: "t", flowId: flow, flowCta: "Open", flowAction: "navigate",
    screen: "WELCOME",
});
await step("read", () => whatsapp.markMessageRead({ ...common, messageId: received }));
await step("read and typing", () => whatsapp.markMessageRead({
    ...common, messageId: received, showTypingIndicator: true,
}));
await fails("unknown template", "sendTemplateMessage", {
    templateName: "no_such", languageCode: "en_US",
});
await fails("too many sends", "sendTextMessage", { to: limited, text: "x" });
await fails("line of another account", "sendTextMessage", { from: foreign, text: "x" });
await fails("wrong token", "sendTextMessage", { accessToken: "wrong", text: "x" });
if (blocked) await fails("blocked contact", "sendTextMessage", { to: blocked, text: "x" });
