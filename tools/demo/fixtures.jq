# The fixtures file of the sandbox for the demo life: the settings of the run, a third business
# account, media with real bytes, numbers, templates and flows. `make run` gives it the base64 of
# tools/demo/media in $media.

def account($waba; $id; $mime): {wabaId: $waba, id: $id, mimeType: $mime};
def template($id; $name; $language; $category; $status; $components):
    {id: $id, name: $name, language: $language, category: $category, status: $status,
     parameter_format: "POSITIONAL", components: $components};
def body($text): {type: "BODY", text: $text};
def body($text; $examples): body($text) + {example: {body_text: [$examples]}};
def buttons($list): {type: "BUTTONS", buttons: $list};

{settings: [$settings],
 accounts: [{wabaId: "302290129340398", token: "sandbox-token-3", name: "Casa do Livro",
    phones: [{id: "306540352242922", displayNumber: "15550100003"}]}],
 media: [
    account("102290129340398"; "1200000000000001"; "image/jpeg") + {base64: $media.parcel},
    account("102290129340398"; "1200000000000002"; "image/jpeg") + {base64: $media.teapot},
    account("102290129340398"; "1200000000000003"; "audio/ogg") + {base64: $media.voice},
    account("102290129340398"; "1200000000000004"; "application/pdf")
        + {base64: $media.prices, filename: "prices.pdf"},
    account("102290129340398"; "1200000000000005"; "image/webp") + {base64: $media.sticker}],
 templates: [
    {wabaId: "102290129340398", items: [
        template("310000000000101"; "pedido_confirmado"; "pt_BR"; "UTILITY"; "APPROVED"; [
            {type: "HEADER", format: "TEXT", text: "Pedido {{1}}",
             example: {header_text: ["B-204"]}},
            body("Olá {{1}}, recebemos o seu pedido. Entrega prevista: {{2}}."; ["Marta", "sexta"]),
            {type: "FOOTER", text: "Blue Kettle Tea"},
            buttons([{type: "URL", text: "Acompanhar", url: "https://tea.example/pedido/{{1}}",
                      example: ["https://tea.example/pedido/B-204"]},
                     {type: "PHONE_NUMBER", text: "Ligar", phone_number: "+15550100001"}])])
            + {quality_score: {score: "GREEN"}},
        template("310000000000102"; "price_list"; "en_US"; "MARKETING"; "APPROVED"; [
            {type: "HEADER", format: "DOCUMENT",
             example: {header_handle: ["https://tea.example/prices.pdf"]}},
            body("Hello {{1}}, our new price list is here."; ["Sofia"])])
            + {quality_score: {score: "YELLOW"}},
        template("310000000000103"; "boas_vindas"; "pt_BR"; "MARKETING"; "PENDING"; [
            body("Bem-vindo à Blue Kettle Tea, {{1}}!"; ["João"])]),
        template("310000000000104"; "flash_offer"; "en_US"; "MARKETING"; "REJECTED"; [
            body("ONLY TODAY: {{1}} {{2}} {{3}}"; ["tea", "now", "cheap"])])
            + {rejected_reason: "INVALID_FORMAT"},
        template("310000000000105"; "tasting_invitation"; "en_US"; "UTILITY"; "APPROVED"; [
            body("Would you like to book a tasting?"),
            buttons([{type: "FLOW", text: "Book", flow_id: 410000000000001,
                      flow_action: "NAVIGATE", navigate_screen: "DATE"}])]),
        template("310000000000106"; "order_ready"; "en_US"; "UTILITY"; "APPROVED"; [
            body("Order {{1}} is ready"; ["4711"])])]},
    {wabaId: "302290129340398", items: [
        template("330000000000101"; "livro_chegou"; "pt_BR"; "UTILITY"; "APPROVED"; [
            body("O livro {{1}} chegou à loja."; ["Dom Casmurro"])])]}],
 flows: [{wabaId: "102290129340398", items: [
    {id: "410000000000003", name: "Pesquisa de satisfação", status: "DEPRECATED",
     categories: ["SURVEY"], validation_errors: []}]}]}
