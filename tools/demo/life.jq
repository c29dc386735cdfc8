# The demo life: what customers wrote (part "before"; $now is a time in seconds), what the shop
# sends through the API ("sends"), and what comes back ("after"; $sent has the ids of the sent
# messages). Ids are fixed, so that a part which runs again stores nothing twice.

def wamid($name): "wamid." + ("demo-life-" + $name | @base64);
def ago($minutes): $now - $minutes * 60 | floor | tostring;
def hours: . * 60;
def days: . * 1440;

# People: those of the shop's main line, and of the other lines.
def marta: {phone: "12125550111", name: "Marta Oliveira"};
def james: {phone: "14155550112", name: "James Whitfield"};
def sofia: {phone: "12125550113", name: "Sofia Lindqvist"};
def joao: {phone: "12125550114", name: "João Pereira"};
def aisha: {phone: "14155550115", name: "Aisha Rahman"};
def lucas: {phone: "12125550116", name: "Lucas Ferreira"};
def emma: {phone: "14155550117", name: "Emma Clarke"};
def thomas: {phone: "12125550118", name: "Thomas Weber"};
def tealover: {bsuid: "US.1349000000000119", name: "Kaya", username: "tea.lover"};
def helena: {phone: "12125550120", name: "Helena Souza"};
def noah: {phone: "14155550121", name: "Noah Kim"};
def priya: {phone: "14155550122", name: "Priya Nair"};
def spam: {phone: "14155550123", name: "<b>WIN $$$</b>"};
def rui: {phone: "12125550124", name: "Rui Santos", bsuid: "US.1349000000000124",
    username: "rui.cha"};
def olga: {phone: "14155550125", name: "Olga Marin"} + {phoneNumberId: $lines.second};
def pedro: {phone: "12125550126", name: "Pedro Almeida"} + {phoneNumberId: $lines.second};
def ines: {phone: "12125550127", name: "Inês Rocha"} + {phoneNumberId: $lines.third};

# An update of the platform: PERSON | update(NAME OF THE MESSAGE; KIND; MINUTES AGO; MEMBERS)
def update($id; $kind; $minutes; $members):
    {phoneNumberId: $lines.first} + . +
    {id: wamid($id), kind: $kind, timestamp: ago($minutes)} + $members;
def text($id; $minutes; $text): update($id; "text"; $minutes; {text: $text});
def echo($id; $minutes; $text): update($id; "echo"; $minutes; {text: $text});

def old_messages($list): # of the history that a business app hands over
    {message: {threads: [{id: .phone, context: {wa_id: .phone}, messages: [$list[] |
        {id: wamid(.id), timestamp: ago(.days | days), type: "text", text: {body: .text},
         history_context: {status: "READ"}} + .ends]}]}};
def theirs: {from: "14155550125"};
def ours: {from: "15550100002", to: "14155550125"};

# A form's answer, as the platform writes it: JSON in a string.
def answers($id; $minutes; $flow; $context; $members):
    update($id; "nfm_reply"; $minutes;
        {flowId: $flow, context: $context, flowResponse: ($members | tojson)});

def before: [
    (olga | update("olga-0"; "history"; 9 | days; old_messages([
        {id: "olga-1", days: 21, ends: theirs, text: "Hi, do you repair gear hubs?"},
        {id: "olga-2", days: 20.98, ends: ours,
         text: "We do. Bring it in any weekday before six."},
        {id: "olga-3", days: 20.9, ends: theirs, text: "Great, I will come on Thursday."},
        {id: "olga-4", days: 18.2, ends: ours,
         text: "Your hub is done: new bearings and oil, 48 euros."},
        {id: "olga-5", days: 18.1, ends: theirs, text: "Perfect, thank you 🚲"}]))),

    (olga | text("olga-6"; 13 | hours; "Hello again! Do you rent bicycles, too?")),
    (marta | text("marta-1"; 3 | days; "Bom dia! Vocês têm oolong em folha?")),
    (marta | echo("marta-2"; (3 | days) - 4;
        "Bom dia, Marta! Temos sim: 100 g por 12,50 euros.")),
    (marta | text("marta-3"; (3 | days) - 6; "Ótimo, vou pensar e aviso.")),
    (marta | text("marta-4"; 95; "Olá de novo! Quero fazer o pedido 😊")),
    (marta | update("marta-5"; "order"; 92; {text: "Para presente, por favor"})),
    (marta | update("marta-6"; "voice"; 88; {mediaId: "1200000000000003"})),

    (james | text("james-1"; 2 | days; "When will order A-17 arrive?")),
    (james | echo("james-2"; (2 | days) - 12; "It left us this morning. Tomorrow, I think.")),
    (james | update("james-3"; "image"; 140; {mediaId: "1200000000000001",
        text: "It is here, but look at the box 😕"})),
    (james | text("james-4"; 139; "The pot has a crack, too.")),

    (sofia | text("sofia-1"; 5 | hours; "Could you send me your price list?")),
    (sofia | update("sofia-2"; "sticker"; 298; {mediaId: "1200000000000005"})),

    (joao | update("joao-1"; "location"; 7 | hours; {message: {location: {latitude: 38.7139,
        longitude: -9.1394, name: "Praça da Figueira", address: "Lisboa"}}})),
    (joao | text("joao-2"; 419; "Estou aqui. Onde fica a loja?")),

    (aisha | update("aisha-1"; "contacts"; 9 | hours; {message: {contacts: [
        {name: {formatted_name: "Omar Rahman", first_name: "Omar"}, org: {company: "Rahman Cafés"},
         phones: [{phone: "+1 (415) 555-0130", type: "WORK", wa_id: "14155550130"}],
         emails: [{email: "omar@cafes.example", type: "WORK"}]}]}})),
    (aisha | text("aisha-2"; 539; "My brother buys the tea for our cafés. May he call you?")),

    (lucas | text("lucas-1"; 26 | hours; "Quero reservar uma degustação")),
    (emma | text("emma-1"; 30 | hours; "Do you still have places for the tasting?")),
    (thomas | text("thomas-1"; 4 | days; "Please call me back about the invoice.")),
    (tealover | text("kaya-1"; 50; "Is matcha back in stock? 🍵")),
    (helena | text("helena-1"; 3 | hours; "Qual chá é bom para a noite?")),

    (noah | text("noah-1"; 8 | hours; "I would like two of the blue teapots")),
    (noah | update("noah-2"; "edit"; 478; {context: wamid("noah-1"),
        text: "I would like three of the blue teapots"})),
    (noah | text("noah-3"; 470; "My card number is")),
    (noah | update("noah-4"; "revoke"; 469; {context: wamid("noah-3")})),
    (noah | update("noah-5"; "unsupported"; 460; {})),

    (priya | update("priya-1"; "referral"; 25; {text: "Hi, I saw your ad. Do you ship to Leeds?"})),
    (spam | text("spam-1"; 11 | hours;
        "<img src=x onerror=alert(1)> You are the 1,000th customer!")),

    # Rui writes from his number, then without it, then the platform names both: one contact.
    (rui | text("rui-1"; 6 | days; "Boa tarde, fazem entregas no Porto?") + {bsuid: null}
        | del(.username)),
    (rui | text("rui-2"; 4 | hours; "Já tenho nome de usuário 🙂") | del(.phone)),
    (rui | text("rui-3"; 239; "Sou o Rui, do pedido de chá verde.")),

    (pedro | text("pedro-1"; 20 | hours; "A minha bicicleta já está pronta?")),
    (ines | text("ines-1"; 6 | hours; "Bom dia, o livro já chegou?"))];

# What the shop sends: {as, route, body}; `as` names the message for the updates after it.
def send($key; $route; $line; $body):
    {as: $key, route: $route, body: ({phoneNumberId: $line} + {to: .phone} + $body)};
def send($key; $route; $body): send($key; $route; $lines.first; $body);

def sends: [
    (james | send("to-james-1"; "messages/send/text"; {contextMessageWamid: wamid("james-3"),
        text: "I am very sorry! A new pot leaves today, and you keep the old one."})),
    (james | send("to-james-2"; "messages/send/media"; {media: {type: "image",
        mediaId: "1200000000000002", caption: "This one, packed twice 🫖"}})),
    (sofia | send("to-sofia-1"; "messages/send/media"; {media: {type: "document",
        mediaId: "1200000000000004", filename: "prices.pdf",
        caption: "All prices until December"}})),
    (joao | send("to-joao-1"; "messages/send/location"; {location: {latitude: 38.7223,
        longitude: -9.1393, name: "Blue Kettle Tea", address: "Rua do Chá 7, Lisboa"}})),
    (aisha | send("to-aisha-1"; "messages/send/interactive/button"; {
        bodyText: "With pleasure. When does it suit him?",
        buttons: [{id: "am", title: "In the morning"}, {id: "pm", title: "In the afternoon"}]})),
    (lucas, emma | send("form-" + .phone; "messages/send/interactive/flow"; {
        bodyText: "Book your tasting", buttonText: "Open", footerText: "Blue Kettle Tea",
        flowId: "410000000000001", flowToken: ("tasting-" + .phone)})),
    (thomas | send("to-thomas-1"; "messages/send/text"; {
        text: "Of course. The invoice is paid, nothing is open."})),
    (thomas | send("to-thomas-2"; "templates/send"; {templateName: "order_shipped",
        components: [{type: "body", parameters: [{type: "text", text: "Thomas"},
            {type: "text", text: "A-12"}]},
            {type: "button", sub_type: "url", index: "0",
             parameters: [{type: "text", text: "A-12"}]}]})),
    (tealover | send("to-kaya-1"; "messages/send/text"; {
        text: "Yes, since this morning. Shall I keep one for you?"} + {recipient: .bsuid})
        | del(.body.to)),
    (helena | send("to-helena-1"; "messages/send/interactive/list"; {
        bodyText: "Estes não têm cafeína:", buttonText: "Ver chás", sections: [
            {title: "Para a noite", rows: [
                {id: "rooibos", title: "Rooibos", description: "Doce e suave"},
                {id: "camomila", title: "Camomila", description: "Calmante"}]}]})),
    (marta | send("to-marta-1"; "templates/send"; {templateName: "pedido_confirmado",
        language: "pt_BR", components: [
            {type: "header", parameters: [{type: "text", text: "B-204"}]},
            {type: "body", parameters: [{type: "text", text: "Marta"},
                {type: "text", text: "sexta-feira"}]},
            {type: "button", sub_type: "url", index: "0",
             parameters: [{type: "text", text: "B-204"}]}]})),
    (marta | send("to-marta-2"; "messages/send/text"; {
        text: "Obrigado, Marta! Embrulhamos para presente 🎁"})),
    (marta | send("to-marta-3"; "messages/send/media"; {media: {type: "audio",
        mediaId: "1200000000000003"}})),
    (rui | send("to-rui-1"; "messages/send/text"; {
        text: "Olá Rui! Sim, entregamos no Porto em dois dias."})),
    (pedro | send("to-pedro-1"; "templates/send"; $lines.second; {templateName: "bike_ready",
        components: [{type: "body", parameters: [{type: "text", text: "No. 31"}]}]}))];

# Statuses of a sent message: PERSON | statuses(AS; LAST STATUS)
def statuses($key; $last):
    . as $person | ["sent", "delivered", "read", "played"] | .[:index($last) + 1][] as $status |
    $person | {phoneNumberId: $lines.first} + . +
        {kind: ("status_" + $status), id: $sent[$key], timestamp: ago(0)};

def after: [
    (james | statuses("to-james-1"; "read"), statuses("to-james-2"; "delivered")),
    (james | update("james-5"; "reaction"; 0; {context: $sent["to-james-1"],
        message: {reaction: {emoji: "❤️"}}})),
    (sofia | statuses("to-sofia-1"; "read")),
    (sofia | update("sofia-3"; "text_reply"; 0; {context: $sent["to-sofia-1"],
        text: "Thank you! The sencha looks good."})),
    (joao | statuses("to-joao-1"; "delivered")),
    (aisha | statuses("to-aisha-1"; "read")),
    (aisha | update("aisha-3"; "button_reply"; 0; {context: $sent["to-aisha-1"],
        title: "In the morning", message: {interactive: {button_reply: {id: "am"}}}})),
    (lucas, emma | statuses("form-" + .phone; "read")),
    (lucas | answers("lucas-2"; 0; "410000000000001"; $sent["form-" + .phone];
        {flow_token: ("tasting-" + .phone), date: "2026-12-04", guests: "4",
         wish: "+ um bolo de limão, se possível"})),
    (emma | answers("emma-2"; 0; "410000000000001"; $sent["form-" + .phone];
        {flow_token: ("tasting-" + .phone), date: "2026-12-11", guests: "2",
         wish: "A quiet table, please", newsletter: true})),
    (thomas | {phoneNumberId: $lines.first} + . + {kind: "status_failed", code: 131047,
        id: $sent["to-thomas-1"]}),
    (thomas | statuses("to-thomas-2"; "delivered")),
    (tealover | statuses("to-kaya-1"; "sent")),
    (helena | statuses("to-helena-1"; "read")),
    (helena | update("helena-2"; "list_reply"; 0; {context: $sent["to-helena-1"],
        title: "Rooibos", message: {interactive: {list_reply:
            {id: "rooibos", description: "Doce e suave"}}}})),
    (marta | statuses("to-marta-1"; "read"), statuses("to-marta-3"; "played")),
    (rui | statuses("to-rui-1"; "delivered")),
    (pedro | statuses("to-pedro-1"; "read")),
    {kind: "template_status", phoneNumberId: $lines.first, templateId: "310000000000007",
     templateName: "survey_paused", event: "PAUSED", timestamp: ago(60)}];

if $part == "before" then {batch: "changes", updates: before}
elif $part == "sends" then sends
else {batch: "changes", updates: after} end
