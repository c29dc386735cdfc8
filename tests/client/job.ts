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
    body: {
        url: "http://127.0.0.1:1/other", name: "Statuses",
        eventTypes: ["message.status", "outgoing.finished", "campaign.changed"],
    },
}));
const changed = await taken(api.PATCH("/v2/webhooks/{webhookId}", {
    params: { path: { webhookId: another.id } }, body: { eventTypes: null, paused: true },
}));
const { items } = await taken(api.GET("/v2/webhooks"));
console.log(`webhooks ${items.length} ${changed.name} ${changed.state} ${changed.eventTypes}`);

const queued = await taken(api.POST("/v2/messages/send/text", {
    params: { header: { Prefer: "respond-async" } },
    body: { phoneNumberId, to: "15550007000", text: "Soon", validFor: 3600 },
}));
if (!("state" in queued)) throw new Error("the message was sent at once");
console.log(`queued ${queued.state} ${queued.recipient} ${queued.attempts}`);

// A campaign: a draft with its hours, its recipients, the start, and what may keep it from all.
const campaign = await taken(api.POST("/v2/campaigns", {
    params: { header: { "Idempotency-Key": "autumn" } },
    body: {
        phoneNumberId, name: "Autumn", templateName: "order_ready", language: "en_US",
        components: [{ type: "body", parameters: [{ type: "text", text: "{{order}}" }] }],
        window: { from: "09:00", to: "20:00", timeZone: "Europe/Berlin" },
    },
}));
const { campaignId, window } = { campaignId: campaign.id, window: campaign.window };
const params = { path: { campaignId } };
console.log(`campaign ${campaign.state} ${window?.from}-${window?.to} ${window?.timeZone}`);
const added = await taken(api.PUT("/v2/campaigns/{campaignId}/recipients", {
    params,
    body: {
        recipients: [
            { to: "+1 555 000 7001", order: 4711 }, { to: "15550007001", order: 4712 },
            { recipient: "US.13491208655302741918", order: "4713" }, { to: "12", order: "4714" },
        ],
    },
}));
const { line: wrongLine, column, message } = added.errors[0];
console.log(`recipients ${added.accepted} ${added.duplicates} ${wrongLine} ${column} ${message}`);
const started = await taken(api.POST("/v2/campaigns/{campaignId}/start", { params, body: {} }));
console.log(`started ${started.state} ${started.counts.waiting} ${codesOf(started)}`);
const paused = await taken(api.POST("/v2/campaigns/{campaignId}/pause", { params, body: {} }));
const resumed = await taken(api.POST("/v2/campaigns/{campaignId}/resume", { params, body: {} }));
console.log(`resumed ${paused.state} ${resumed.state} ${codesOf(resumed)}`);
function codesOf({ warnings = [] }: { warnings?: { code: string; limit: number | null }[] }) {
    return warnings.map(({ code, limit }) => `${code}:${limit}`).join();
}

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

const progress = ({ data: { campaign: now } }: Event<"campaign.changed">): string =>
    `${now.state} ${now.reason} ${now.counts.accepted} ${now.delivery.read} ${now.errors.length}`;
console.log(`event of a campaign ${progress({
    type: "campaign.changed", timestamp: "2026-11-20T23:54:27.935Z",
    data: {
        sequence: 2, accountId: "a", wabaid: "w", phoneNumberId, contact: null, threadId: null,
        campaign: { ...paused, reason: "template" },
    },
})}`);
const outcome = ({ data: { outgoing } }: Event<"outgoing.finished">): string =>
    `${outgoing.state} ${outgoing.reason} ${outgoing.messageId}`;
console.log(`event of a send ${outcome({
    type: "outgoing.finished", timestamp: "2026-11-20T23:54:27.935Z",
    data: {
        sequence: 3, accountId: "a", wabaid: "w", phoneNumberId, contact: null, threadId: null,
        outgoing: { ...queued, state: "unknown", reason: "no_answer" },
    },
})}`);

const { error, response } = await api.POST("/v2/messages/send/text", {
    body: { phoneNumberId, to: "abc", text: "Hello" },
});
const issues = Array.isArray(error?.details) ? error.details : [];
console.log(`refused ${response.status} ${error?.error} ${JSON.stringify(issues)}`);
