// @kapso/whatsapp-cloud-api, with its option baseUrl.
import {
    GraphApiError, TemplateDefinition, WhatsAppClient, buildTemplateSendPayload,
} from "@kapso/whatsapp-cloud-api";
import {
    base, blocked, catalog, failing, flow, foreign, limited, line, person, photo, received, same,
    step, to, token, waba,
} from "./steps.js";

const client = new WhatsAppClient({ accessToken: token, baseUrl: base });
const { flows, media, messages, phoneNumbers, templates } = client;
const link = "https://files.example.org/a";

// A step that sends; reads the id of the message.
function send(name, method, input) {
    return step(name, async () => {
        const answer = await messages[method]({ phoneNumberId: line, to, ...input });
        return answer.messages[0].id;
    });
}

function readError(error) {
    if (!(error instanceof GraphApiError)) throw error;
    const { category, code, errorSubcode, fbtraceId, httpStatus, retry, type } = error;
    return { category, code, errorSubcode, httpStatus, retry, type, traced: !!fbtraceId };
}

function fails(name, call) {
    return step(name, () => failing(call, readError));
}

// Calls that the gateway refuses unless graph_destructive is set.
const risky = process.env.DESTRUCTIVE ? step : fails;

const uploaded = await step("media upload", async () => (await media.upload({
    phoneNumberId: line, type: "image/jpeg", fileName: "photo.jpg",
    file: new Blob([photo], { type: "image/jpeg" }),
})).id);

const text = await send("text", "sendText", { body: "Grüße ☃ \"quoted\" \\/", previewUrl: false });
await send("text to a user id", "sendText", { to: undefined, recipient: person, body: "Hello" });
await send("reply with callback data", "sendText", {
    body: "Yes", contextMessageId: received, bizOpaqueCallbackData: "order 4711",
});
await send("image by id", "sendImage", { image: { id: uploaded, caption: "Our shop" } });
await send("image by link", "sendImage", { image: { link: `${link}.jpg` } });
await send("document", "sendDocument", { document: { link: `${link}.pdf`, filename: "a.pdf" } });
await send("video", "sendVideo", { video: { link: `${link}.mp4`, caption: "Clip" } });
await send("audio", "sendAudio", { audio: { link: `${link}.ogg`, voice: true } });
await send("sticker", "sendSticker", { sticker: { link: `${link}.webp` } });
await send("location", "sendLocation", {
    location: { latitude: -33.45, longitude: -70.66, name: "Santiago", address: "CL" },
});
await send("contacts", "sendContacts", { contacts: [{
    name: { formattedName: "Ann Example", firstName: "Ann" },
    phones: [{ phone: "+15551234567", type: "WORK", waId: "15551234567" }],
}] });
await send("reaction", "sendReaction", { reaction: { messageId: received, emoji: "😀" } });
await send("template", "sendTemplate", { template: buildTemplateSendPayload({
    name: "order_ready", language: "en_US", body: [{ type: "text", text: "4711" }],
}) });
await send("raw", "sendRaw", { payload: {
    messaging_product: "whatsapp", to, type: "text", text: { body: "raw" }, context: null,
} });

const bodyText = "Choose";
await send("buttons", "sendInteractiveButtons", {
    bodyText, footerText: "Foot", header: { type: "image", image: { id: uploaded } },
    buttons: [{ id: "yes", title: "Yes" }, { id: "no", title: "No" }],
});
await send("list", "sendInteractiveList", {
    bodyText, buttonText: "Open", header: { type: "text", text: "Head" },
    sections: [{ title: "A", rows: [{ id: "1", title: "One", description: "First" }] }],
});
await send("product", "sendInteractiveProduct", {
    bodyText, catalogId: catalog, productRetailerId: "SKU-1",
});
await send("product list", "sendInteractiveProductList", {
    bodyText, catalogId: catalog, header: { type: "text", text: "Head" },
    sections: [{ title: "A", productItems: [{ productRetailerId: "SKU-1" }] }],
});
await send("flow", "sendInteractiveFlow", { bodyText, parameters: {
    flowId: flow, flowCta: "Open", flowToken: "t", flowAction: "navigate",
    flowActionPayload: { screen: "WELCOME" },
} });
await send("address", "sendInteractiveAddress", { bodyText, parameters: { country: "IN" } });
await send("location request", "sendInteractiveLocationRequest", {
    bodyText, parameters: { requestMessage: "Where are you?" },
});
await send("call permission", "sendInteractiveCallPermission", {
    bodyText, parameters: { phoneNumber: "+15550100001", callPurpose: "Support" },
});
await send("cta url", "sendInteractiveCtaUrl", {
    bodyText, parameters: { displayText: "Look", url: "https://example.org/?utm=wa" },
});
await send("carousel", "sendInteractiveCarousel", { bodyText, cards: [0, 1].map((cardIndex) => ({
    cardIndex, header: { type: "image", image: { link: `${link}${cardIndex}.jpg` } },
    bodyText: `Card ${cardIndex}`, action: { displayText: "View", url: "https://example.org/x" },
})) });
await send("catalog", "sendInteractiveCatalogMessage", {
    bodyText, parameters: { thumbnailProductRetailerId: "SKU-1" },
});
await send("interactive raw", "sendInteractiveRaw", { interactive: {
    type: "button", body: { text: "Raw" },
    action: { buttons: [{ type: "reply", reply: { id: "1", title: "One" } }] },
} });
await step("read and typing", () => messages.markRead({
    phoneNumberId: line, messageId: received, typingIndicator: { type: "text" },
}));

await step("media", async () => {
    const { fileSize, mimeType, url } = await media.get({ mediaId: uploaded });
    return { fileSize, mimeType, origin: new URL(url).origin === base };
});
await step("media of a line", async () => (await media.get({
    mediaId: uploaded, phoneNumberId: line,
})).mimeType);
await step("download without a token", async () => same(
    await media.download({ mediaId: uploaded }), photo));
await step("download with a token", async () => same(
    await media.download({ mediaId: uploaded, auth: "always" }), photo));
await step("media delete", () => media.delete({ mediaId: uploaded }));
await fails("deleted media", () => media.get({ mediaId: uploaded }));

await step("templates, all pages", async () => {
    const names = [];
    let after, pages = 0;
    do {
        const page = await templates.list({ businessAccountId: waba, limit: 2, after });
        names.push(...page.data.map((template) => template.name));
        after = page.paging?.next ? page.paging.cursors.after : undefined;
        pages++;
    } while (after);
    return { names, pages };
});
await step("templates, next", async () => {
    const first = await templates.list({ businessAccountId: waba, limit: 2 });
    const page = await (await client.fetch(first.paging.next)).json();
    return { names: page.data.map((template) => template.name), ours:
        first.paging.next.startsWith(base), token: first.paging.next.includes("access_token") };
});
await step("templates by name", async () => (await templates.list({
    businessAccountId: waba, name: "order_ready", language: "en_US", status: "APPROVED",
})).data.map((template) => template.name));
const definition = TemplateDefinition.buildTemplateDefinition({
    name: "made_here", language: "en_US", category: "UTILITY",
    components: [{ type: "BODY", text: "It was made {{1}} today.",
        example: { bodyText: [["here"]] } }],
});
await step("template create", async () => {
    const { category, status } = await templates.create({ businessAccountId: waba, ...definition });
    return { category, status };
});
await risky("template delete", () => templates.delete({
    businessAccountId: waba, name: "made_here",
}));

await step("profile update", () => phoneNumbers.businessProfile.update({
    phoneNumberId: line, about: "Our shop ☃", websites: ["https://example.org/"],
}));
await step("profile", async () => (await phoneNumbers.businessProfile.get({
    phoneNumberId: line, fields: "about,websites" })).data);
await step("settings update", () => phoneNumbers.settings.update({
    phoneNumberId: line, calling: { status: "ENABLED" },
}));
await step("settings", async () => Object.keys(await phoneNumbers.settings.get({
    phoneNumberId: line })));
await risky("deregister", () => phoneNumbers.deregister({
    phoneNumberId: line }));
await step("request code", () => phoneNumbers.requestCode({
    phoneNumberId: line, codeMethod: "SMS", language: "en_US" }));
await step("verify code", () => phoneNumbers.verifyCode({ phoneNumberId: line, code: "123456" }));
await step("register", () => phoneNumbers.register({ phoneNumberId: line, pin: "000111" }));

const screens = { version: "7.2", screens: [{
    id: "CSAT", title: "Rate", terminal: true, layout: { type: "SingleColumnLayout", children: [
        { type: "Footer", label: "Send", onClickAction: { name: "complete", payload: {} } },
    ] },
}] };
const created = await step("flow create", async () => (await flows.create({
    wabaId: waba, name: "made here", flowJson: screens })).id);
await step("flow", async () => {
    const { name, status } = await flows.get({ flowId: created, fields: "id,name,status" });
    return { name, status };
});
await step("flow assets", async () => (await flows.updateAsset({
    flowId: created, json: screens })).success);
await step("flow preview", async () => !!(await flows.preview({
    flowId: created, interactive: true })).preview.previewUrl);
await step("flow publish", () => flows.publish({ flowId: created }));
await risky("flow deprecate", () => flows.deprecate({ flowId: created }));
await step("flow deploy", async () => !!(await flows.deploy(screens, {
    wabaId: waba, name: "deployed", publish: true, preview: true })).previewUrl);
await step("flows", async () => (await flows.list({ wabaId: waba, limit: 50 })).data.length > 1);

await fails("unknown template", () => messages.sendTemplate({
    phoneNumberId: line, to, template: { name: "no_such", language: { code: "en_US" } } }));
await fails("too many sends", () => messages.sendText({
    phoneNumberId: line, to: limited, body: "x" }));
await fails("line of another account", () => messages.sendText({
    phoneNumberId: foreign, to, body: "x" }));
await fails("wrong token", () => new WhatsAppClient({
    accessToken: "wrong", baseUrl: base,
}).messages.sendText({ phoneNumberId: line, to, body: "x" }));
if (blocked) {
    await fails("blocked contact", () => messages.sendText({
        phoneNumberId: line, to: blocked, body: "x" }));
    await fails("edge that is not served", () => client.calls.reject({
        phoneNumberId: line, callId: "1" }));
}
await step("reaction removed", async () => (await messages.sendReaction({
    phoneNumberId: line, to, reaction: { messageId: text, emoji: "" } })).messages[0].id);
