// Calls that the types must refuse: each is below a line that expects an error of the compiler, and
// the compiler reports a line whose call has none. tests/client.bats compiles it; nothing runs it.
import createClient from "openapi-fetch";
import type { components, paths, webhooks } from "./switchboard.js";

const api = createClient<paths>({ baseUrl: "http://127.0.0.1" });
const phoneNumberId = "15550001000";
const to = "15550007000";

// --- paths and methods ---

// @ts-expect-error an unknown path
await api.GET("/v2/mee");
// @ts-expect-error the path of another version
await api.GET("/v1/me");
// @ts-expect-error a method that the path does not have
await api.POST("/v2/me");
// @ts-expect-error a method that the path does not have
await api.GET("/v2/messages/send/text");
// @ts-expect-error no name in the path
await api.GET("/v2/templates/{name}");
// @ts-expect-error an unknown parameter in the path
await api.GET("/v2/templates/{name}", { params: { path: { title: "order_ready" } } });

// --- queries and headers ---

// @ts-expect-error an unknown parameter
await api.GET("/v2/templates", { params: { query: { page: "2" } } });
// @ts-expect-error a text in place of a number
await api.GET("/v2/templates", { params: { query: { limit: "ten" } } });
// @ts-expect-error a number in place of a header
await api.POST("/v2/webhooks/generate-code", { params: { header: { Prefer: 1 } } });

// --- fields of a body ---

// @ts-expect-error no body
await api.POST("/v2/messages/send/text");
await api.POST("/v2/messages/send/text", {
    // @ts-expect-error a field with another spelling
    body: { phone_number_id: phoneNumberId, to, text: "Hello" },
});
await api.POST("/v2/messages/send/text", {
    // @ts-expect-error no text
    body: { phoneNumberId, to },
});
await api.POST("/v2/messages/send/text", {
    // @ts-expect-error no line
    body: { to, text: "Hello" },
});
await api.POST("/v2/messages/send/text", {
    // @ts-expect-error neither a phone nor a user id
    body: { phoneNumberId, text: "Hello" },
});
await api.POST("/v2/messages/send/text", {
    // @ts-expect-error a phone as a number
    body: { phoneNumberId, to: 15550007000, text: "Hello" },
});
await api.POST("/v2/messages/send/text", {
    // @ts-expect-error an object in place of a text
    body: { phoneNumberId, to, text: { body: "Hello" } },
});
await api.POST("/v2/messages/send", {
    // @ts-expect-error a body of no kind
    body: { phoneNumberId, to },
});
await api.POST("/v2/templates/send", {
    // @ts-expect-error no name of a template
    body: { phoneNumberId, to, components: [] },
});
await api.POST("/v2/templates/send", {
    // @ts-expect-error an object in place of a list
    body: { phoneNumberId, to, templateName: "order_ready", components: { type: "body" } },
});
await api.POST("/v2/webhooks/config", {
    // @ts-expect-error no code
    body: { webhookUrl: "https://example.org/hook" },
});
await api.POST("/v2/webhooks", {
    // @ts-expect-error an unknown type of events
    body: { url: "https://example.org/hook", eventTypes: ["message.sent"] },
});
await api.PATCH("/v2/webhooks/{webhookId}", {
    // @ts-expect-error null in place of a text
    params: { path: { webhookId: "whk_1" } }, body: { url: null },
});
await api.POST("/v2/messages/send/interactive/button", {
    body: {
        phoneNumberId, to, bodyText: "Shall we call you?",
        // @ts-expect-error a button without a title
        buttons: [{ id: "yes" }],
    },
});

// openapi-fetch infers the type of its argument, so it accepts additional fields; a body whose type
// is named is checked for them.
type Schemas = components["schemas"];
// @ts-expect-error an unknown field
void ({ phoneNumberId, to, text: "Hello", colour: "red" } satisfies
    Schemas["PostMessagesSendTextBody"]);
// @ts-expect-error a field that no kind has
void ({ phoneNumberId, to, text: "Hello", colour: "red" } satisfies
    Schemas["PostMessagesSendBody"]);
void ({
    phoneNumberId, to, bodyText: "Where?", locationRequest: true,
    // @ts-expect-error a misspelled optional field
    contextMessageWaimd: "wamid.x=",
} satisfies Schemas["PostMessagesSendInteractiveLocationRequestBody"]);

// --- values and alternatives ---

await api.POST("/v2/messages/send/media", {
    body: {
        phoneNumberId, to,
        // @ts-expect-error a kind of file that does not exist
        media: { type: "picture", mediaId: "7001" },
    },
});
await api.POST("/v2/messages/send/media", {
    body: {
        phoneNumberId, to,
        // @ts-expect-error both alternatives of a file
        media: { type: "image", mediaId: "7001", link: "https://example.com/1.png" },
    },
});
await api.POST("/v2/messages/send/media", {
    body: {
        phoneNumberId, to,
        // @ts-expect-error none of the alternatives of a file
        media: { type: "image" },
    },
});
await api.POST("/v2/messages/send/interactive/flow", {
    body: {
        phoneNumberId, to, bodyText: "Book a table", buttonText: "Open", flowId: "7002",
        // @ts-expect-error an action that does not exist
        flowToken: "table-1", flowAction: "open",
    },
});

await api.POST("/v2/campaigns", {
    body: {
        phoneNumberId, name: "Autumn", templateName: "plain", language: "en_US",
        // @ts-expect-error hours without a time zone
        window: { from: "09:00", to: "20:00" },
    },
});
await api.PUT("/v2/campaigns/{campaignId}/recipients", {
    params: { path: { campaignId: "cmp_1" } },
    // @ts-expect-error a recipient whose cell is neither a text nor a number
    body: { recipients: [{ to: true }] },
});

// --- fields of an answer ---

const { data: me, error } = await api.GET("/v2/me");
if (me) {
    // @ts-expect-error a field that the user does not have
    void me.data.user.phone;
    // @ts-expect-error an account without `data`
    void me.user;
    // @ts-expect-error an id that may be null
    void me.data.account.id.length;
    // @ts-expect-error a success that is false
    void (me.success === false);
} else {
    // @ts-expect-error a field that an error does not have
    void error.code;
    // @ts-expect-error a refusal that is a success
    void (error.success === true);
}

const { data: sent } = await api.POST("/v2/messages/send/text", {
    body: { phoneNumberId, to, text: "Hello" },
});
// @ts-expect-error a field that an answer to a send does not have
void sent?.data.mediaId;
// @ts-expect-error an id as a number
const wamid: number | undefined = sent?.data.messages[0].id;
void wamid;

const { data: webhook } = await api.GET("/v2/webhooks/config");
// @ts-expect-error a field with another spelling
void webhook?.data.webhookURL;

// --- fields of an event ---

type Received = webhooks["message.received"]["post"]["requestBody"]["content"]["application/json"];
export function take(event: Received): void {
    // @ts-expect-error a field of another event
    void event.data.status;
    // @ts-expect-error a contact that may be null
    void event.data.contact.phone;
    // @ts-expect-error the type of another event
    void (event.type === "lead.created");
}
type Changed = webhooks["campaign.changed"]["post"]["requestBody"]["content"]["application/json"];
export function follow(event: Changed): void {
    // @ts-expect-error hours that may be null
    void event.data.campaign.window.from;
    // @ts-expect-error a contact, which the event of a campaign does not have
    void event.data.contact.phone;
}
// @ts-expect-error an event that does not exist
export type Unknown = webhooks["message.sent"];
