// whatsapp 0.0.5-Alpha, the library of the platform's owner. It reads a host name, without a port
// or a path, from WA_BASE_URL and connects to port 443 (hosts.js); it returns status and body.
import WhatsApp from "whatsapp";
import { blocked, catalog, foreign, limited, line, received, step, to, token } from "./steps.js";

const number = Number(to);
const api = new WhatsApp();

function call(name, action, read = (body) => body) {
    return step(name, async () => {
        const answer = await action();
        const body = await answer.responseBodyToJSON();
        if (answer.statusCode() !== 200) throw new Error(JSON.stringify(body));
        return read(body);
    });
}

function fails(name, action) {
    return step(name, async () => {
        const answer = await action();
        const { error } = await answer.responseBodyToJSON();
        return { status: answer.statusCode(), code: error.code, subcode: error.error_subcode,
            type: error.type };
    });
}

function send(name, kind, body, context) {
    return call(name, () => api.messages[kind](body, number, context),
        (answer) => answer.messages[0].id);
}

const link = "https://files.example.org/a";
await send("text", "text", { body: "Gruesse", preview_url: true });
await send("reply", "text", { body: "Yes" }, received);
await send("image", "image", { link: `${link}.jpg`, caption: "Our shop" });
await send("document", "document", { link: `${link}.pdf`, filename: "a.pdf" });
await send("video", "video", { link: `${link}.mp4` });
await send("audio", "audio", { link: `${link}.ogg` });
await send("sticker", "sticker", { link: `${link}.webp` });
await send("location", "location", { latitude: -33.45, longitude: -70.66, name: "Santiago" });
await send("contacts", "contacts", [{
    name: { formatted_name: "Ann Example", first_name: "Ann" },
}]);
await send("template", "template", {
    name: "order_ready", language: { policy: "deterministic", code: "en_US" },
    components: [{ type: "body", parameters: [{ type: "text", text: "4711" }] }],
});
await send("buttons", "interactive", {
    type: "button", body: { text: "Choose" },
    action: { buttons: [{ type: "reply", reply: { id: "yes", title: "Yes" } }] },
});
await send("list", "interactive", {
    type: "list", body: { text: "Choose" },
    action: { button: "Open", sections: [{ title: "A", rows: [{ id: "1", title: "One" }] }] },
});
await send("product", "interactive", {
    type: "product", body: { text: "Look" },
    action: { catalog_id: catalog, product_retailer_id: "SKU-1" },
});
await call("read", () => api.messages.status({ status: "read", message_id: received }));
await (process.env.DESTRUCTIVE ? call : fails)("pin", () => api.twoStepVerification.setPin(123456));

await fails("unknown template", () => api.messages.template(
    { name: "no_such", language: { policy: "deterministic", code: "en_US" } }, number));
await fails("too many sends", () => api.messages.text({ body: "x" }, Number(limited)));
if (blocked) {
    await fails("blocked contact", () => api.messages.text({ body: "x" }, Number(blocked)));
}

const other = new WhatsApp(Number(foreign));
await fails("line of another account", () => other.messages.text({ body: "x" }, number));
process.env.CLOUD_API_ACCESS_TOKEN = "wrong";
const wrong = new WhatsApp(Number(line));
await fails("wrong token", () => wrong.messages.text({ body: "x" }, number));
await step("closed", () => [api, other, wrong].map((one) => one.requester.client.clearSockets()));
