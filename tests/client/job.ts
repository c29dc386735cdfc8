// The main job of a client of the API, with types and calls generated from the OpenAPI document:
// prints a line for each call. tests/client.bats compiles and runs it.
//
//     BASE_URL=... TOKEN=... node job.js
import createClient from "openapi-fetch";
import type { paths, webhooks } from "./switchboard.js";

declare const process: { env: Record<string, string>; exitCode: number };

const { BASE_URL: baseUrl, TOKEN: token } = process.env;
const api = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${token}` } });

// The `data` of an answer; a refusal ends the program with the gateway's message.
async function taken<Answer extends { success: true; data: unknown }>(
    call: Promise<{ data?: Answer; error?: { message: string } }>,
): Promise<Answer["data"]> {
    const { data, error } = await call;
    if (!data) throw new Error(error?.message);
    return data.data;
}

// The id of a message that was sent: none is queued without `Prefer: respond-async`.
function idOf(sent: { messages: { id: string }[] } | { state: string }): string {
    if (!("messages" in sent)) throw new Error(`the message is ${sent.state}`);
    return sent.messages[0].id;
}

const me = await taken(api.GET("/v2/me"));
const line = me.phoneNumbers[0];
const phoneNumberId: string = line.phoneNumberId;
console.log(`me ${me.user.email} ${phoneNumberId} ${line.isRegistered}`);

const text = await taken(api.POST("/v2/messages/send/text", {
    body: { phoneNumberId, to: "+1 555 000 7000", text: "Hello" },
}));
console.log(`text to a phone ${idOf(text)}`);

const toUser = await taken(api.POST("/v2/messages/send/text", {
    body: { phoneNumberId, recipient: "US.13491208655302741918", text: "Hello user" },
}));
console.log(`text to a user id ${idOf(toUser)}`);

const reply = await taken(api.POST("/v2/messages/send", {
    params: { header: { "Idempotency-Key": "reply-1" } },
    body: {
        phoneNumberId, to: "15550007000", text: "Yes",
        contextMessageWamid: idOf(text),
    },
}));
console.log(`reply ${idOf(reply)}`);

const template = await taken(api.GET("/v2/templates/{name}", {
    params: { path: { name: "order_ready" }, query: { language: "en_US" } },
}));
const filled = await taken(api.POST("/v2/templates/send", {
    body: {
        phoneNumberId, to: "15550007000", templateName: template.name ?? "", language: "en_US",
        components: [{ type: "body", parameters: [{ type: "text", text: "4711" }] }],
    },
}));
console.log(`template ${template.status} ${idOf(filled)}`);

const file = new Blob([new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10])],
    { type: "image/png" });
const upload = await taken(api.POST("/v2/media/upload", {
    body: { file: "shop.png", phoneNumberId },
    bodySerializer: (body) => {
        const form = new FormData();
        if (typeof body === "object") form.set("phoneNumberId", body.phoneNumberId ?? "");
        form.set("file", file, "shop.png");
        return form;
    },
}));
const picture = await taken(api.POST("/v2/messages/send/media", {
    body: {
        phoneNumberId, to: "15550007000",
        media: { type: "image", mediaId: upload.mediaId, caption: "Our shop" },
    },
}));
console.log(`upload ${upload.mediaId} ${idOf(picture)}`);

const webhook = await taken(api.POST("/v2/webhooks/config", {
    body: { webhookUrl: "http://127.0.0.1:1/hook", webhookCode: "s3cret" },
}));
const read = await taken(api.GET("/v2/webhooks/config"));
console.log(`webhook ${webhook.webhookUrl} ${read.webhookCode} ${read.isVerified}`);

const another = await taken(api.POST("/v2/webhooks", {
    body: { url: "http://127.0.0.1:1/other", eventTypes: ["message.status"], name: "Statuses" },
}));
const changed = await taken(api.PATCH("/v2/webhooks/{webhookId}", {
    params: { path: { webhookId: another.id } }, body: { eventTypes: null, paused: true },
}));
const { items } = await taken(api.GET("/v2/webhooks"));
console.log(`webhooks ${items.length} ${changed.name} ${changed.state} ${changed.eventTypes}`);

// The body of an event is typed too.
type Event<Name extends keyof webhooks> =
    webhooks[Name]["post"]["requestBody"]["content"]["application/json"];
const sender = (event: Event<"message.received">): string | null =>
    event.data.contact?.phone ?? event.data.contact?.userId ?? null;
console.log(`event from ${sender({
    type: "message.received", timestamp: "2026-11-20T23:54:27.935Z",
    data: {
        sequence: 1, accountId: "a", wabaid: "w", phoneNumberId, threadId: null, message: {},
        contact: { id: "c", phone: null, userId: "US.1", username: "ann", name: null },
    },
})}`);

const { error, response } = await api.POST("/v2/messages/send/text", {
    body: { phoneNumberId, to: "abc", text: "Hello" },
});
const issues = Array.isArray(error?.details) ? error.details : [];
console.log(`refused ${response.status} ${error?.error} ${JSON.stringify(issues)}`);
