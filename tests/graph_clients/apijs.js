// whatsapp-api-js, whose host is fixed: with its option ponyfill.fetch when BASE_URL is set, else
// with a line of the hosts file (hosts.js).
import { WhatsAppAPI } from "whatsapp-api-js";
import * as m from "whatsapp-api-js/messages";
import {
    base, blocked, catalog, flow, foreign, limited, line, person, photo, received, same, step, to,
    token,
} from "./steps.js";

const platform = "https://graph.facebook.com/";

function make(accessToken) {
    const settings = { token: accessToken, secure: false, v: "v24.0" };
    if (base) {
        settings.ponyfill = { fetch: (url, options) =>
            fetch(String(url).replace(platform, `${base}/`), options) };
    }
    return new WhatsAppAPI(settings);
}
const api = make(token);

// The library returns the platform's answer, also when it is an error.
function checked(answer) {
    if (answer.error) throw new Error(JSON.stringify(answer.error));
    return answer;
}

function call(name, action, read = (answer) => answer) {
    return step(name, async () => read(checked(await action())));
}

function fails(name, action) {
    return step(name, async () => {
        const { error } = await action();
        return { code: error.code, subcode: error.error_subcode, type: error.type,
            readable: error.message.length > 0, traced: error.fbtrace_id.length > 0 };
    });
}

function send(name, message, { recipient = { phone: to }, context, data } = {}) {
    return call(name, () => api.sendMessage(line, recipient, message, context, data),
        (answer) => answer.messages[0].id);
}

function form() {
    const parts = new FormData();
    parts.set("file", new Blob([photo], { type: "image/jpeg" }), "photo.jpg");
    return parts;
}

const link = "https://files.example.org/a";
const body = new m.Body("Choose");
const foot = new m.Footer("Foot");
const head = new m.Header("Head");
const interactive = (action, ...rest) => new m.Interactive(action, body, ...rest);

const uploaded = await call("media upload", () => api.uploadMedia(line, form()), ({ id }) => id);
await send("text", new m.Text("Grüße ☃", true));
await send("text to a user id", new m.Text("Hello"), { recipient: { bsuid: person } });
await send("reply with callback data", new m.Text("Yes"), { context: received, data: "4711" });
await send("image by id", new m.Image(uploaded, true, "Our shop"));
await send("image by link", new m.Image(`${link}.jpg`));
await send("document", new m.Document(`${link}.pdf`, false, "Bill", "a.pdf"));
await send("video", new m.Video(`${link}.mp4`));
await send("audio", new m.Audio(`${link}.ogg`, false, true));
await send("sticker", new m.Sticker(`${link}.webp`));
await send("location", new m.Location(-70.66, -33.45, "Santiago", "CL"));
await send("contacts", new m.Contacts([
    new m.Name("Ann Example", "Ann"), new m.Phone("+15551234567", "WORK", "15551234567"),
    new m.Birthday("1990", "01", "31"), new m.Email("ann@example.org", "WORK"),
]));
await send("reaction", new m.Reaction(received, "😀"));
await send("reaction removed", new m.Reaction(received));
await send("template", new m.Template("order_ready", "en_US",
    new m.BodyComponent(new m.BodyParameter("4711"))));
await send("buttons", interactive(new m.ActionButtons(new m.Button("yes", "Yes")),
    new m.Header(new m.Image(uploaded, true)), foot));
await send("list", interactive(new m.ActionList("Open",
    new m.ListSection("A", new m.Row("1", "One", "First"))), head));
await send("catalog", interactive(new m.ActionCatalog(new m.Product("SKU-1"))));
await send("product", interactive(
    new m.ActionProduct(new m.CatalogProduct("SKU-1", catalog))));
await send("product list", interactive(new m.ActionProductList(catalog,
    new m.ProductSection("A", new m.Product("SKU-1"))), head));
await send("cta url", interactive(new m.ActionCTA("Look", "https://example.org/a?b=c")));
await send("flow", interactive(new m.ActionNavigateFlow("t", flow, "Open", "WELCOME")));
await send("location request", interactive(new m.ActionLocation()));
await send("call permission", interactive(new m.ActionCallPermission()));
await send("contact request", interactive(new m.ActionContactRequest()));
await step("broadcast", async () => (await Promise.all(api.broadcastMessage(line,
    ["15551230002", "15551230003"], new m.Text("All"), 50, 0)))
    .map((answer) => checked(answer).messages[0].id));
await call("read", () => api.markAsRead(line, received));
await call("read and typing", () => api.markAsRead(line, received, "text"));

let url;
await call("media", () => api.retrieveMedia(uploaded), (answer) => {
    ({ url } = answer);
    return { size: Number(answer.file_size), type: answer.mime_type };
});
await call("media of a line", () => api.retrieveMedia(uploaded, line),
    ({ mime_type: type }) => type);
await step("download", async () => same(
    await (await api.fetchMedia(url)).arrayBuffer(), photo));
await call("media delete", () => api.deleteMedia(uploaded, line));
await fails("deleted media", () => api.retrieveMedia(uploaded));

await call("block", () => api.blockUser(line, { phone: "15551230009" }),
    (answer) => answer.block_users.added_users.length);
await call("unblock", () => api.unblockUser(line, { phone: "15551230009" }),
    (answer) => answer.block_users.removed_users.length);

const code = await call("code create", () => api.createQR(line, "Hello%20there"),
    (answer) => answer.code);
await call("codes", () => api.retrieveQR(line),
    ({ data }) => data.map((item) => item.prefilled_message));
await call("code update", () => api.updateQR(line, code, "Good%20day"),
    (answer) => answer.prefilled_message);
await call("code", () => api.retrieveQR(line, code), ({ data }) => data[0].prefilled_message);
await call("code delete", () => api.deleteQR(line, code));

await fails("unknown template", () => api.sendMessage(line, { phone: to },
    new m.Template("no_such", "en_US")));
await fails("too many sends", () => api.sendMessage(line, { phone: limited }, new m.Text("x")));
await fails("line of another account", () => api.sendMessage(foreign, { phone: to },
    new m.Text("x")));
await fails("wrong token", () => make("wrong").sendMessage(line, { phone: to }, new m.Text("x")));
if (blocked) {
    await fails("blocked contact", () => api.sendMessage(line, { phone: blocked },
        new m.Text("x")));
    await fails("edge that is not served", () => api.rejectCall(line, "1"));
}
