#!/usr/bin/env bats
# POST /v2/messages/... (spec 4.3), and the rules of every protected route that sends (spec 5, 7, 8)
# starts first
load helpers/all
load helpers/batch
load helpers/conventions
load helpers/webhook

# Starts a send that the platform never answers; the last test checks its result.
setup_file() {
    start_stack
    make_user
    sandbox POST media "{\"wabaId\":\"$WABA\",\"id\":\"7001\",\"mimeType\":\"image/png\",\"size\":10}" >/dev/null
    sandbox POST flows "{\"wabaId\":\"$WABA\",\"items\":[{\"id\":\"7002\",\"name\":\"f\",
        \"status\":\"PUBLISHED\"}]}" >/dev/null
    fault '{"match":{"recipient":"15550009999"},"kind":"hang"}'
    mkdir "$BATS_FILE_TMPDIR/hang"
    (
        answer_dir=$BATS_FILE_TMPDIR/hang
        send text "{\"phoneNumberId\":\"$LINE\",\"to\":\"15550009999\",\"text\":\"?\"}"
        printf '%s\n' "$status" >"$answer_dir/part"
        mv "$answer_dir/part" "$answer_dir/done"
    ) >/dev/null 2>&1 3>&- &
    eventually something_sent
}

setup() {
    forget_sent
    new_recipient
}

# A recipient that no test has used: $to (digits), `who` for our bodies, `up` for the platform's.
new_recipient() {
    to=1555$((1000000 + $(next_number)))
    who="\"phoneNumberId\":\"$LINE\",\"to\":\"$to\""
    up="{\"messaging_product\":\"whatsapp\",\"recipient_type\":\"individual\",\"to\":\"$to\""
}

send() { # PATH BODY [option of request...]
    api POST "/v2/messages/send${1:+/$1}" -d "$2" "${@:3}"
}

# The numbers of contacts, threads and messages in the database.
recorded() {
    db 'SELECT (SELECT count(*) FROM contact), (SELECT count(*) FROM thread), (SELECT count(*) FROM message)'
}

# Nothing was sent to the platform, and nothing was stored since `before=$(recorded)`.
assert_untouched() {
    assert_nothing_sent
    assert_equal "$(recorded)" "$before"
}

# The answer is 200; the platform received exactly UPSTREAM; its answer is the data; the message is stored
# as it was sent, with a contact and a thread of its line: assert_sends PATH OUR-MEMBERS UPSTREAM-MEMBERS
assert_sends() {
    local type wamid
    send "$1" "{$who,$2}"
    assert_success
    assert_conventions
    wamid=$(gojq -r '.data.messages[0].id' "$body")
    assert_body_is "{\"success\":true,\"data\":{\"messaging_product\":\"whatsapp\",\"contacts\":[{\"input\":\"$to\",\"wa_id\":\"$to\"}],\"messages\":[{\"id\":\"$wamid\"}]}}"
    assert_sent "$up$3}"
    assert_sent_to "$LINE/messages"
    type=$(sent | gojq -r .type)
    assert_equal "$(db "SELECT m.direction, m.source, m.type, m.status, c.phone, c.bsuid IS NULL, a.id,
        l.phone_number_id, CAST(m.body AS TEXT) FROM message m JOIN thread t ON t.id = m.thread_id
        JOIN contact c ON c.id = t.contact_id JOIN line l ON l.id = m.line_id
        JOIN account a ON a.id = c.account_id WHERE m.wamid = '$wamid'")" \
        "out|api|$type|accepted|$to|1|$ACCOUNT|$LINE|$up$3}"
}

# Generates test bodies from a table of fields. FULL is a body with every field; each line of standard
# input is `PATH TYPE required|optional`, PATH as sections.0.title. Each field is left out, given each wrong
# type, and empty: variants FULL <FIELDS
variants() {
    jq -nRr --argjson full "$1" '
        def wrong: {string: [null, true, 5, ["x"], {a: 1}], object: [null, false, 5, "x", []],
            array: [null, true, 5, "x", {a: 1}], scalar: [null, true, ["x"], {a: 1}]};
        def place: map(if type == "number" then "[\(.)]" else ".\(.)" end) | join("") | ltrimstr(".");
        def row($status; $issues): "\($status)\t\($issues)\t\(tojson)";
        ($full | row(200; "-")),
        (inputs | split(" ") | . as [$dotted, $type, $need]
            | ($dotted | split(".") | map(tonumber? // .)) as $path | ($path | place) as $place
            | ($full | delpaths([$path])
                | if $need == "required" then row(400; "\($place):required") else row(200; "-") end),
            (wrong[$type][] | . as $value | $full | setpath($path; $value)
                | row(400; "\($place):invalid_type")),
            (select($type == "string" or $type == "scalar") | $full | setpath($path; "")
                | row(400; "\($place):empty")))'
}

# Sends all variants; only those answered 200 may have reached the platform and the database.
check_fields() { # PATH FULL <FIELDS
    local before sent
    forget_sent
    before=$(db 'SELECT count(*) FROM message')
    { cat && printf 'phoneNumberId string required\n'; } | variants "$2" | sort -u >"$BATS_TEST_TMPDIR/table"
    {
        cat "$BATS_TEST_TMPDIR/table"
        jq -r --argjson full "$2" -n '$full | del(.to) | "400\tto:one_of\t\(tojson)",
            (.recipient = "US.13491208655302741918" | "200\t-\t\(tojson)"),
            (.to = null | "400\tto:invalid_type\t\(tojson)"), (.to = "" | "400\tto:empty\t\(tojson)"),
            (.to = 15551234567 | "400\tto:invalid_type\t\(tojson)"),
            (.recipient = {} | "400\trecipient:invalid_type\t\(tojson)"),
            (.recipient = "" | "400\trecipient:empty\t\(tojson)"),
            ($full | (.contextMessageWamid = "wamid.x=" | "200\t-\t\(tojson)"),
            (.contextMessageWamid = "" | "400\tcontextMessageWamid:empty\t\(tojson)"),
            (.contextMessageWamid = null | "400\tcontextMessageWamid:invalid_type\t\(tojson)"),
            (.unknown = {a: [1, null]} | "200\t-\t\(tojson)"))'
    } >"$BATS_TEST_TMPDIR/all"
    check_bodies POST "/v2/messages/send/$1" --as "$TOKEN" <"$BATS_TEST_TMPDIR/all"
    sent=$(grep -c ^200 "$BATS_TEST_TMPDIR/all")
    assert_equal "$(sent_count path=messages)" "$sent"
    assert_equal "$(db 'SELECT count(*) FROM message')" $((before + sent))
}

# --- 4.3: the routes, each with the bytes sent to the platform ---

# bats test_tags=long
@test "send/text (spec 4.3)" {
    assert_sends text '"text":"Hello"' ',"type":"text","text":{"body":"Hello"}'
    assert_sends text '"text":" \t"' ',"type":"text","text":{"body":" \t"}'
    check_fields text "{$who,\"text\":\"x\"}" <<<'text string required'
}

# bats test_tags=long
@test "send/media: image, video, audio, document (spec 4.3)" {
    local type
    for type in image video document; do
        assert_sends media "\"media\":{\"type\":\"$type\",\"mediaId\":\"7001\"}" ",\"type\":\"$type\",\"$type\":{\"id\":\"7001\"}"
    done
    assert_sends media '"media":{"caption":"A b","mediaId":"7001","type":"image"}' ',"type":"image","image":{"id":"7001","caption":"A b"}'
    assert_sends media '"media":{"type":"video","mediaId":"7001","caption":"A b"}' ',"type":"video","video":{"id":"7001","caption":"A b"}'
    check_fields media "{$who,\"media\":{\"type\":\"document\",\"mediaId\":\"7001\",\"caption\":\"c\",\"filename\":\"f\"}}" <<'END'
media object required
media.type string required
media.caption string optional
media.filename string optional
END
    check_bodies POST /v2/messages/send/media --as "$TOKEN" < <(
        for type in Image sticker text file 'image ' template contacts location; do
            printf '400\tmedia.type:invalid_value\t{%s,"media":{"type":"%s","mediaId":"7001"}}\n' "$who" "$type"
        done
    )
}

# bats test_tags=direct,long
@test "send/media: exactly one of mediaId and link; the platform gets the link unchanged" {
    local link='"link":"https:\/\/example.com\/a%20b?c=1&d=\u0065#f"' long url type
    for type in image video document; do
        assert_sends media "\"media\":{$link,\"caption\":\"A\",\"type\":\"$type\"}" \
            ",\"type\":\"$type\",\"$type\":{$link,\"caption\":\"A\"}"
    done
    assert_sends media "\"media\":{\"type\":\"audio\",$link}" ",\"type\":\"audio\",\"audio\":{$link}"
    assert_sends '' '"media":{"type":"video","link":"HTTP://[::1]:8080"}' \
        ',"type":"video","video":{"link":"HTTP://[::1]:8080"}'
    forget_sent
    long=https://example.com/$(printf 'a%.0s' {1..2029})
    {
        for url in example.com /a ftp://example.com/a //example.com/a https:// http:///a data:,a \
            https://user@example.com/ https://u:p@example.com/ 'https://example.com/a b' \
            https://exämple.com/ https://example.com/ä https://example.com:0/ "$long" \
            'https://example.com/%2'; do
            printf '400\tmedia.link:invalid_value\t{%s,"media":{"type":"image","link":"%s"}}\n' \
                "$who" "$url"
        done
        cat <<END
400	media.mediaId:one_of	{$who,"media":{"type":"image"}}
400	media.mediaId:one_of	{$who,"media":{"type":"image","id":"7001"}}
400	media.link:one_of	{$who,"media":{"type":"image","mediaId":"7001",$link}}
400	media.link:one_of	{$who,"media":{"type":"image",$link,"mediaId":"7001"}}
400	media.link:empty	{$who,"media":{"type":"image","link":""}}
400	media.link:invalid_type	{$who,"media":{"type":"image","link":null}}
400	media.link:invalid_type,media.link:one_of	{$who,"media":{"type":"image","link":5,"mediaId":"7001"}}
400	media.mediaId:empty	{$who,"media":{"type":"image","mediaId":""}}
END
    } >"$BATS_TEST_TMPDIR/links"
    check_bodies POST /v2/messages/send/media --as "$TOKEN" <"$BATS_TEST_TMPDIR/links"
    send media "{$who,\"media\":{\"type\":\"image\",\"mediaId\":\"7001\",$link}}"
    assert_issue media.link 'must be left out: send only mediaId or link'
    assert_nothing_sent
}

# bats test_tags=direct
@test "send/media: caption is not sent for audio, filename only for documents (spec 4.3)" {
    assert_sends media '"media":{"type":"audio","mediaId":"7001","caption":"A","filename":"f.ogg"}' ',"type":"audio","audio":{"id":"7001"}'
    assert_sends media '"media":{"type":"image","mediaId":"7001","filename":"f.png"}' ',"type":"image","image":{"id":"7001"}'
    assert_sends media '"media":{"type":"document","mediaId":"7001","caption":"A","filename":"f.pdf"}' ',"type":"document","document":{"id":"7001","filename":"f.pdf","caption":"A"}'
}

# bats test_tags=direct,long
@test "send/sticker: exactly one of mediaId and link" {
    assert_sends sticker '"sticker":{"mediaId":"7001"}' ',"type":"sticker","sticker":{"id":"7001"}'
    assert_sends sticker '"sticker":{"link":"https://example.com/a.webp","caption":"c"}' \
        ',"type":"sticker","sticker":{"link":"https://example.com/a.webp"}'
    check_fields sticker "{$who,\"sticker\":{\"mediaId\":\"7001\"}}" <<<'sticker object required'
    forget_sent
    check_bodies POST /v2/messages/send/sticker --as "$TOKEN" <<END
400	sticker.mediaId:one_of	{$who,"sticker":{}}
400	sticker.mediaId:empty	{$who,"sticker":{"mediaId":""}}
400	sticker.link:one_of	{$who,"sticker":{"mediaId":"7001","link":"https://example.com/a"}}
400	sticker.link:invalid_value	{$who,"sticker":{"link":"example.com/a"}}
END
    assert_nothing_sent
}

# bats test_tags=direct
@test "send/location: latitude and longitude are strings or numbers and are sent unchanged (spec 4.3)" {
    assert_sends location '"location":{"latitude":"37.44216251868683","longitude":"-122.1615"}' ',"type":"location","location":{"latitude":"37.44216251868683","longitude":"-122.1615"}'
    assert_sends location '"location":{"address":"A 1","name":"N","longitude":-122.10,"latitude":3.70E+1}' ',"type":"location","location":{"latitude":3.70E+1,"longitude":-122.10,"name":"N","address":"A 1"}'
    assert_sends location '"location":{"latitude":0,"longitude":-0}' ',"type":"location","location":{"latitude":0,"longitude":-0}'
    check_fields location "{$who,\"location\":{\"latitude\":1.5,\"longitude\":\"2\",\"name\":\"n\",\"address\":\"a\"}}" <<'END'
location object required
location.latitude scalar required
location.longitude scalar required
location.name string optional
location.address string optional
END
}

# bats test_tags=direct,long
@test "send/contacts: the platform gets the declared members under its own names, in their order" {
    local all='{"name":{"formattedName":"A B","firstName":"A","lastName":"B","middleName":"M","suffix":"S","prefix":"P"},"phones":[{"phone":"+1","type":"Home","waId":"1"},{"phone":"+2"}],"emails":[{"email":"a@b","type":"Work"}],"urls":[{"url":"https://b","type":"Company"}],"addresses":[{"street":"1","city":"C","state":"S","zip":"Z","country":"N","countryCode":"us","type":"Home"}],"org":{"company":"C","department":"D","title":"T"},"birthday":"1999-01-23"}'
    assert_sends contacts '"contacts":[{"x":1,"name":{"formattedName":"A\u00e9"}},{"phones":[],"name":{"lastName":"L","formattedName":"B","x":1},"birthday":"2000-12-31"}]' \
        ',"type":"contacts","contacts":[{"name":{"formatted_name":"A\u00e9"}},{"name":{"formatted_name":"B","last_name":"L"},"phones":[],"birthday":"2000-12-31"}]'
    assert_sends contacts "\"contacts\":[$all]" ",\"type\":\"contacts\",\"contacts\":[$(sed \
        's/formattedName/formatted_name/; s/firstName/first_name/; s/lastName/last_name/; s/middleName/middle_name/; s/waId/wa_id/; s/countryCode/country_code/' <<<"$all")]"
    check_fields contacts "{$who,\"contacts\":[{\"name\":{\"formattedName\":\"a\"}},$all]}" <<'END'
contacts array required
contacts.0 object optional
contacts.1.name object required
contacts.1.name.formattedName string required
contacts.1.name.prefix string optional
contacts.1.phones array optional
contacts.1.phones.0 object optional
contacts.1.phones.0.waId string optional
contacts.1.emails.0.email string optional
contacts.1.urls.0.url string optional
contacts.1.addresses.0.countryCode string optional
contacts.1.org object optional
contacts.1.org.title string optional
contacts.1.birthday string optional
END
    check_bodies POST /v2/messages/send/contacts --as "$TOKEN" <<END
400	contacts:too_few	{$who,"contacts":[]}
200	-	{$who,"contacts":$(items 257 '{"name":{"formattedName":"#"}}')}
400	contacts:too_many	{$who,"contacts":$(items 258 '{"name":{"formattedName":"#"}}')}
END
}

# bats test_tags=direct
@test "send/reaction: an empty emoji removes the reaction; contextMessageWamid is no field of it" {
    local id='"messageId":"wamid.x="' context='"contextMessageWamid":"wamid.y="'
    local upstream=',"type":"reaction","reaction":{"message_id":"wamid.x=","emoji":'
    assert_sends reaction "$id,\"emoji\":\"\\ud83d\\ude00\"" "$upstream\"\\ud83d\\ude00\"}"
    assert_sends reaction "\"emoji\":\"\",$id" "$upstream\"\"}"
    assert_sends '' "$id,\"emoji\":\"\"" "$upstream\"\"}"
    assert_sends reaction "$id,\"emoji\":\"x\",$context" "$upstream\"x\"}"
    assert_equal "$(db "SELECT count(*) FROM message WHERE context_wamid = 'wamid.y='")" 0
    forget_sent
    check_bodies POST /v2/messages/send/reaction --as "$TOKEN" <<END
400	messageId:required	{$who,"emoji":"x"}
400	messageId:empty	{$who,"messageId":"","emoji":"x"}
400	messageId:invalid_type	{$who,"messageId":5,"emoji":"x"}
400	emoji:required	{$who,$id}
400	emoji:invalid_type	{$who,$id,"emoji":null}
400	to:one_of	{"phoneNumberId":"$LINE",$id,"emoji":""}
400	phoneNumberId:required	{"to":"$to",$id,"emoji":""}
END
    send reaction "{$who,$id,\"emoji\":\"x\",$context}" -H 'Prefer: handling=strict'
    assert_error 400 VALIDATION_ERROR 'contextMessageWamid is not a field of this request'
    assert_nothing_sent
}

# bats test_tags=direct,long
@test "send/interactive/catalog-message (spec 4.3)" {
    assert_sends interactive/catalog-message '"bodyText":"B"' ',"type":"interactive","interactive":{"type":"catalog_message","body":{"text":"B"},"action":{"name":"catalog_message"}}'
    assert_sends interactive/catalog-message '"thumbnailProductRetailerId":"t","footerText":"F","bodyText":"B"' ',"type":"interactive","interactive":{"type":"catalog_message","body":{"text":"B"},"footer":{"text":"F"},"action":{"name":"catalog_message","parameters":{"thumbnail_product_retailer_id":"t"}}}'
    check_fields interactive/catalog-message "{$who,\"bodyText\":\"b\",\"footerText\":\"f\",\"thumbnailProductRetailerId\":\"t\"}" <<'END'
bodyText string required
footerText string optional
thumbnailProductRetailerId string optional
END
}

# bats test_tags=direct,long
@test "send/interactive/product (spec 4.3)" {
    assert_sends interactive/product '"catalogId":"c","productRetailerId":"p"' ',"type":"interactive","interactive":{"type":"product","action":{"catalog_id":"c","product_retailer_id":"p"}}'
    assert_sends interactive/product '"footerText":"F","bodyText":"B","productRetailerId":"p","catalogId":"c"' ',"type":"interactive","interactive":{"type":"product","body":{"text":"B"},"footer":{"text":"F"},"action":{"catalog_id":"c","product_retailer_id":"p"}}'
    check_fields interactive/product "{$who,\"catalogId\":\"c\",\"productRetailerId\":\"p\",\"bodyText\":\"b\",\"footerText\":\"f\"}" <<'END'
catalogId string required
productRetailerId string required
bodyText string optional
footerText string optional
END
}

# bats test_tags=direct,long
@test "send/interactive/product-list (spec 4.3)" {
    assert_sends interactive/product-list '"catalogId":"c","headerText":"H","bodyText":"B","sections":[{"title":"T","product_items":[{"product_retailer_id":"p"}]}]' ',"type":"interactive","interactive":{"type":"product_list","header":{"type":"text","text":"H"},"body":{"text":"B"},"action":{"catalog_id":"c","sections":[{"title":"T","product_items":[{"product_retailer_id":"p"}]}]}}'
    assert_sends interactive/product-list '"sections":[{"product_items":[{"product_retailer_id":"p"},{"x":1,"product_retailer_id":"q"}],"title":"T"},{"title":"U","product_items":[{"product_retailer_id":"r"}]}],"footerText":"F","bodyText":"B","headerText":"H","catalogId":"c"' ',"type":"interactive","interactive":{"type":"product_list","header":{"type":"text","text":"H"},"body":{"text":"B"},"footer":{"text":"F"},"action":{"catalog_id":"c","sections":[{"title":"T","product_items":[{"product_retailer_id":"p"},{"product_retailer_id":"q"}]},{"title":"U","product_items":[{"product_retailer_id":"r"}]}]}}'
    check_fields interactive/product-list "{$who,\"catalogId\":\"c\",\"headerText\":\"h\",\"bodyText\":\"b\",\"footerText\":\"f\",\"sections\":[{\"title\":\"t\",\"product_items\":[{\"product_retailer_id\":\"p\"}]},{\"title\":\"u\",\"product_items\":[{\"product_retailer_id\":\"q\"},{\"product_retailer_id\":\"r\"}]}]}" <<'END'
catalogId string required
headerText string required
bodyText string required
footerText string optional
sections array required
sections.0 object optional
sections.1 object optional
sections.1.title string required
sections.1.product_items array required
sections.1.product_items.0 object optional
sections.1.product_items.1 object optional
sections.1.product_items.1.product_retailer_id string required
END
}

# bats test_tags=direct
@test "send/interactive/product-carousel (spec 4.3)" {
    assert_sends interactive/product-carousel '"bodyText":"B","cards":[{"catalogId":"c","productRetailerId":"p"},{"productRetailerId":"q","catalogId":"c","x":1}],"footerText":"F","headerText":"H"' ',"type":"interactive","interactive":{"type":"carousel","body":{"text":"B"},"action":{"cards":[{"card_index":0,"type":"product","action":{"product_retailer_id":"p","catalog_id":"c"}},{"card_index":1,"type":"product","action":{"product_retailer_id":"q","catalog_id":"c"}}]}}'
    check_fields interactive/product-carousel "{$who,\"bodyText\":\"b\",\"cards\":[{\"catalogId\":\"c\",\"productRetailerId\":\"p\"},{\"catalogId\":\"c\",\"productRetailerId\":\"q\"},{\"catalogId\":\"c\",\"productRetailerId\":\"r\"}]}" <<'END'
bodyText string required
cards array required
cards.0 object optional
cards.2 object optional
cards.2.catalogId string required
cards.2.productRetailerId string required
END
}

# bats test_tags=direct,long
@test "send/interactive/button: sent as reply buttons (spec 4.3)" {
    assert_sends interactive/button '"bodyText":"B","buttons":[{"id":"i","title":"T"}]' ',"type":"interactive","interactive":{"type":"button","body":{"text":"B"},"action":{"buttons":[{"type":"reply","reply":{"id":"i","title":"T"}}]}}'
    assert_sends interactive/button '"buttons":[{"title":"T","id":"i"},{"id":"j","title":"U"},{"id":"k","title":"V"}],"bodyText":"B"' ',"type":"interactive","interactive":{"type":"button","body":{"text":"B"},"action":{"buttons":[{"type":"reply","reply":{"id":"i","title":"T"}},{"type":"reply","reply":{"id":"j","title":"U"}},{"type":"reply","reply":{"id":"k","title":"V"}}]}}'
    assert_sends interactive/button '"footerText":"F","buttons":[{"id":"i","title":"T"}],"bodyText":"B","headerText":"H"' ',"type":"interactive","interactive":{"type":"button","header":{"type":"text","text":"H"},"body":{"text":"B"},"footer":{"text":"F"},"action":{"buttons":[{"type":"reply","reply":{"id":"i","title":"T"}}]}}'
    assert_sends '' '"footerText":"F","buttons":[{"id":"i","title":"T"}],"bodyText":"B","headerText":"H"' ',"type":"interactive","interactive":{"type":"button","header":{"type":"text","text":"H"},"body":{"text":"B"},"footer":{"text":"F"},"action":{"buttons":[{"type":"reply","reply":{"id":"i","title":"T"}}]}}'
    send interactive/button "{$who,\"bodyText\":\"b\",\"headerText\":\"h\",\"footerText\":\"f\",\"buttons\":[{\"id\":\"i\",\"title\":\"t\"}]}" -H 'Prefer: handling=strict'
    assert_success
    check_fields interactive/button "{$who,\"bodyText\":\"b\",\"headerText\":\"h\",\"footerText\":\"f\",\"buttons\":[{\"id\":\"i\",\"title\":\"t\"},{\"id\":\"j\",\"title\":\"u\"}]}" <<'END'
bodyText string required
buttons array required
buttons.0 object optional
buttons.1.id string required
buttons.1.title string required
headerText string optional
footerText string optional
END
}

# bats test_tags=direct,long
@test "send/interactive/list (spec 4.3)" {
    assert_sends interactive/list '"bodyText":"B","buttonText":"Go","sections":[{"title":"T","rows":[{"id":"i","title":"R"}]}]' ',"type":"interactive","interactive":{"type":"list","body":{"text":"B"},"action":{"button":"Go","sections":[{"title":"T","rows":[{"id":"i","title":"R"}]}]}}'
    assert_sends interactive/list '"sections":[{"rows":[{"description":"D","title":"R","id":"i"},{"id":"j","title":"S"}],"title":"T"},{"title":"U","rows":[{"id":"k","title":"V"}]}],"footerText":"F","headerText":"H","buttonText":"Go","bodyText":"B"' ',"type":"interactive","interactive":{"type":"list","header":{"type":"text","text":"H"},"body":{"text":"B"},"footer":{"text":"F"},"action":{"button":"Go","sections":[{"title":"T","rows":[{"id":"i","title":"R","description":"D"},{"id":"j","title":"S"}]},{"title":"U","rows":[{"id":"k","title":"V"}]}]}}'
    check_fields interactive/list "{$who,\"bodyText\":\"b\",\"buttonText\":\"g\",\"headerText\":\"h\",\"footerText\":\"f\",\"sections\":[{\"title\":\"t\",\"rows\":[{\"id\":\"i\",\"title\":\"r\"}]},{\"title\":\"u\",\"rows\":[{\"id\":\"j\",\"title\":\"s\",\"description\":\"d\"},{\"id\":\"k\",\"title\":\"v\"}]}]}" <<'END'
bodyText string required
buttonText string required
headerText string optional
footerText string optional
sections array required
sections.0 object optional
sections.1.title string required
sections.1.rows array required
sections.1.rows.0 object optional
sections.1.rows.0.id string required
sections.1.rows.0.title string required
sections.1.rows.0.description string optional
END
}

# bats test_tags=direct,long
@test "send/interactive/cta-url: a button that opens a URL" {
    assert_sends interactive/cta-url '"url":"https:\/\/example.com","buttonText":"Go","bodyText":"B"' \
        ',"type":"interactive","interactive":{"type":"cta_url","body":{"text":"B"},"action":{"name":"cta_url","parameters":{"display_text":"Go","url":"https:\/\/example.com"}}}'
    assert_sends interactive/cta-url '"bodyText":"B","buttonText":"Go","url":"http://x/?a=1","footerText":"F","headerText":"H"' \
        ',"type":"interactive","interactive":{"type":"cta_url","header":{"type":"text","text":"H"},"body":{"text":"B"},"footer":{"text":"F"},"action":{"name":"cta_url","parameters":{"display_text":"Go","url":"http://x/?a=1"}}}'
    check_fields interactive/cta-url "{$who,\"bodyText\":\"b\",\"buttonText\":\"g\",\"url\":\"https://x/\",\"headerText\":\"h\",\"footerText\":\"f\"}" <<'END'
bodyText string required
buttonText string required
url string required
headerText string optional
footerText string optional
END
    forget_sent
    check_bodies POST /v2/messages/send/interactive/cta-url --as "$TOKEN" <<END
400	url:invalid_value	{$who,"bodyText":"b","buttonText":"g","url":"example.com"}
400	url:invalid_value	{$who,"bodyText":"b","buttonText":"g","url":"tel:5551234"}
400	url:invalid_value	{$who,"bodyText":"b","buttonText":"g","url":"https://u:p@example.com/"}
END
    assert_nothing_sent
}

# bats test_tags=direct,long
@test "send/interactive/flow: opens a flow of the platform; its token and its data are sent unchanged" {
    local flow=',"type":"interactive","interactive":{"type":"flow","body":{"text":"B"},"action":{"name":"flow","parameters":{"flow_message_version":"3","flow_id":"7002","flow_cta":"Go"'
    assert_sends interactive/flow '"flowId":"7002","buttonText":"Go","bodyText":"B"' "$flow}}}"
    assert_sends interactive/flow '"bodyText":"B","buttonText":"Go","flowId":"7002","flowScreen":"S"' \
        "$flow,\"flow_action_payload\":{\"screen\":\"S\"}}}}"
    assert_sends interactive/flow '"flowToken":"t \u0041","flowMode":"published","flowAction":"data_exchange","bodyText":"B","buttonText":"Go","flowId":"7002"' \
        "$flow,\"flow_token\":\"t \\u0041\",\"mode\":\"published\",\"flow_action\":\"data_exchange\"}}}"
    assert_sends interactive/flow '"headerText":"H","footerText":"F","bodyText":"B","buttonText":"Go","flowId":"7002","flowAction":"navigate","flowData":{ "n":9007199254740993,"x":[1e400]},"flowScreen":"S"' \
        "${flow/'"body":{"text":"B"}'/'"header":{"type":"text","text":"H"},"body":{"text":"B"},"footer":{"text":"F"}'},\"flow_action\":\"navigate\",\"flow_action_payload\":{\"screen\":\"S\",\"data\":{ \"n\":9007199254740993,\"x\":[1e400]}}}}}"
    check_fields interactive/flow "{$who,\"bodyText\":\"b\",\"buttonText\":\"g\",\"flowId\":\"7002\",\"headerText\":\"h\",\"footerText\":\"f\",\"flowToken\":\"t\",\"flowMode\":\"published\",\"flowAction\":\"navigate\",\"flowScreen\":\"S\",\"flowData\":{\"a\":1}}" <<'END'
bodyText string required
buttonText string required
flowId string required
headerText string optional
footerText string optional
flowToken string optional
flowMode string optional
flowAction string optional
flowScreen string optional
flowData object optional
END
    forget_sent
    check_bodies POST /v2/messages/send/interactive/flow --as "$TOKEN" <<END
400	flowMode:invalid_value	{$who,"bodyText":"b","buttonText":"g","flowId":"7002","flowMode":"Draft"}
400	flowAction:invalid_value	{$who,"bodyText":"b","buttonText":"g","flowId":"7002","flowAction":"open"}
END
    assert_nothing_sent
    send interactive/flow "{$who,\"bodyText\":\"b\",\"buttonText\":\"g\",\"flowId\":\"7999\"}"
    assert_error 400 VALIDATION_ERROR 'Parameter value is not valid'
}

# bats test_tags=direct,long
@test "send/interactive/location-request: asks for a location; locationRequest is for the dispatcher alone" {
    local upstream=',"type":"interactive","interactive":{"type":"location_request_message","body":{"text":"B"},"action":{"name":"send_location"}}'
    assert_sends interactive/location-request '"bodyText":"B"' "$upstream"
    assert_sends interactive/location-request '"footerText":"F","bodyText":"B","locationRequest":true' "$upstream"
    assert_sends '' '"footerText":"F","bodyText":"B","locationRequest":true' "$upstream"
    check_fields interactive/location-request "{$who,\"bodyText\":\"b\"}" <<<'bodyText string required'
    forget_sent
    check_bodies POST /v2/messages/send/interactive/location-request --as "$TOKEN" <<END
400	locationRequest:invalid_type	{$who,"bodyText":"b","locationRequest":"true"}
END
    check_bodies POST /v2/messages/send --as "$TOKEN" <<END
400	bodyText:empty	{$who,"bodyText":"","locationRequest":true}
END
    assert_nothing_sent
}

# bats test_tags=direct
@test "send/interactive/address: asks for an address, with values, saved addresses and errors" {
    assert_sends interactive/address '"country":"IN","bodyText":"B"' \
        ',"type":"interactive","interactive":{"type":"address_message","body":{"text":"B"},"action":{"name":"address_message","parameters":{"country":"IN"}}}'
    assert_sends interactive/address '"savedAddresses":[{"x":1,"value":{"city":"M\u0075mbai"},"id":"a"},{"id":"b","value":{}}],"validationErrors":{"in_pin_code":"no"},"values":{ "name":"N","in_pin_code":"666666"},"footerText":"F","headerText":"H","country":"IN","bodyText":"B"' \
        ',"type":"interactive","interactive":{"type":"address_message","header":{"type":"text","text":"H"},"body":{"text":"B"},"footer":{"text":"F"},"action":{"name":"address_message","parameters":{"country":"IN","values":{ "name":"N","in_pin_code":"666666"},"validation_errors":{"in_pin_code":"no"},"saved_addresses":[{"id":"a","value":{"city":"M\u0075mbai"}},{"id":"b","value":{}}]}}}'
    check_fields interactive/address "{$who,\"bodyText\":\"b\",\"country\":\"IN\",\"headerText\":\"h\",\"footerText\":\"f\",\"values\":{},\"validationErrors\":{},\"savedAddresses\":[{\"id\":\"i\",\"value\":{}}]}" <<'END'
bodyText string required
country string required
headerText string optional
footerText string optional
values object optional
validationErrors object optional
savedAddresses array optional
savedAddresses.0 object optional
savedAddresses.0.id string required
savedAddresses.0.value object required
END
}

# bats test_tags=direct,long
@test "send/interactive/media-carousel: cards of media, each with a URL or with reply buttons" {
    local card='{"media":{"type":"image","link":"https://x/"},"url":"https://y/","buttonText":"Go"}'
    local replies='{"media":{"type":"image","link":"https://x/"},"buttons":[{"id":"i","title":"T"}]}'
    local change
    assert_sends interactive/media-carousel "\"mediaCards\":[$card,{\"buttonText\":\"Up\",\"url\":\"http://z\",\"bodyText\":\"C\",\"media\":{\"mediaId\":\"7001\",\"type\":\"video\",\"caption\":\"c\"},\"x\":1}],\"footerText\":\"F\",\"bodyText\":\"B\"" \
        ',"type":"interactive","interactive":{"type":"carousel","body":{"text":"B"},"action":{"cards":[{"card_index":0,"type":"cta_url","header":{"type":"image","image":{"link":"https://x/"}},"action":{"name":"cta_url","parameters":{"display_text":"Go","url":"https://y/"}}},{"card_index":1,"type":"cta_url","header":{"type":"video","video":{"id":"7001"}},"body":{"text":"C"},"action":{"name":"cta_url","parameters":{"display_text":"Up","url":"http://z"}}}]}}'
    assert_sends interactive/media-carousel "\"bodyText\":\"B\",\"mediaCards\":[$replies,$replies]" \
        ",\"type\":\"interactive\",\"interactive\":{\"type\":\"carousel\",\"body\":{\"text\":\"B\"},\"action\":{\"cards\":$(items 2 '{"card_index":#,"type":"cta_url","header":{"type":"image","image":{"link":"https://x/"}},"action":{"buttons":[{"type":"quick_reply","quick_reply":{"id":"i","title":"T"}}]}}')}}"
    check_fields interactive/media-carousel "{$who,\"bodyText\":\"b\",\"mediaCards\":[$card,$card,${card/'"url"'/'"bodyText":"c","url"'}]}" <<'END'
bodyText string required
mediaCards array required
mediaCards.0 object optional
mediaCards.2.media object required
mediaCards.2.media.type string required
mediaCards.2.bodyText string optional
END
    check_bodies POST /v2/messages/send/interactive/media-carousel --as "$TOKEN" <<END
400	mediaCards:too_few	{$who,"bodyText":"b","mediaCards":[$card]}
200	-	{$who,"bodyText":"b","mediaCards":$(items 10 "$card")}
400	mediaCards:too_many	{$who,"bodyText":"b","mediaCards":$(items 11 "$card")}
END
    forget_sent
    while IFS=$'\t' read -r change issues; do
        printf '400\t%s\t{%s,"bodyText":"b","mediaCards":[%s,%s]}\n' "$issues" "$who" "$card" \
            "$(jq -c "$change" <<<"$card")"
    done >"$BATS_TEST_TMPDIR/cards" <<'END'
del(.url)	mediaCards[1].url:one_of
del(.buttonText)	mediaCards[1].buttonText:one_of
del(.url, .buttonText)	mediaCards[1].url:one_of,mediaCards[1].buttonText:one_of
.buttons = [{id: "i", title: "t"}]	mediaCards[1].buttons:one_of,mediaCards[1].buttons:one_of
del(.url, .buttonText) | .buttons = []	mediaCards[1].buttons:too_few
del(.url, .buttonText) | .buttons = [{id: "i"}]	mediaCards[1].buttons[0].title:required
.url = "example.com"	mediaCards[1].url:invalid_value
.media.type = "document"	mediaCards[1].media.type:invalid_value
del(.media.link)	mediaCards[1].media.mediaId:one_of
.media.mediaId = "7001"	mediaCards[1].media.link:one_of
.media.link = "x"	mediaCards[1].media.link:invalid_value
END
    check_bodies POST /v2/messages/send/interactive/media-carousel --as "$TOKEN" \
        <"$BATS_TEST_TMPDIR/cards"
    assert_nothing_sent
    # the platform enforces its own rules
    send interactive/media-carousel "{$who,\"bodyText\":\"b\",\"mediaCards\":[$card,$replies]}"
    assert_error 400 VALIDATION_ERROR 'Parameter value is not valid'
}

# --- read receipts ---

# The answer is 200; the platform received exactly UPSTREAM, and its answer is the data:
assert_marks() { # OUR-MEMBERS UPSTREAM
    api POST /v2/messages/read -d "{\"phoneNumberId\":\"$LINE\",$1}" "${@:3}"
    assert_success
    assert_conventions
    assert_body_is '{"success":true,"data":{"success":true}}'
    assert_sent "$2"
    assert_sent_to "$LINE/messages"
}

@test "read: marks a message as read, with a typing indicator if asked, and nothing is recorded" {
    local before id='"messageId":"wamid.HBg\/+\u0041=="'
    local read='{"messaging_product":"whatsapp","status":"read","message_id":"wamid.HBg\/+\u0041=="'
    before=$(recorded)
    assert_marks "$id" "$read}"
    assert_marks "$id,\"typing\":false" "$read}"
    assert_marks "\"typing\":true,$id" "$read,\"typing_indicator\":{\"type\":\"text\"}}"
    assert_marks "$id,\"to\":5,\"recipient\":5" "$read}"
    assert_equal "$(recorded)" "$before"
}

# bats test_tags=direct
@test "read: wrong fields are issues, and the platform's refusal is passed on" {
    local line="\"phoneNumberId\":\"$LINE\"" before
    before=$(recorded)
    check_bodies POST /v2/messages/read --as "$TOKEN" <<END
400	phoneNumberId:required	{"messageId":"wamid.x="}
400	messageId:required	{$line}
400	messageId:empty	{$line,"messageId":""}
400	messageId:invalid_type	{$line,"messageId":5}
400	typing:invalid_type	{$line,"messageId":"wamid.x=","typing":"true"}
400	typing:invalid_type	{$line,"messageId":"wamid.x=","typing":null}
END
    api POST /v2/messages/read -d "{$line,\"messageId\":\"wamid.x=\",\"to\":\"1\"}" \
        -H 'Prefer: handling=strict'
    assert_error 400 VALIDATION_ERROR 'to is not a field of this request'
    assert_nothing_sent
    api POST /v2/messages/read -d "{$line,\"messageId\":\"mid.x\"}"
    assert_error 400 VALIDATION_ERROR message_id
    assert_json .details.error.code 100
    fault '{"match":{"path":"messages"},"kind":"reset"}'
    api POST /v2/messages/read -d "{$line,\"messageId\":\"wamid.x=\"}"
    assert_error 502 INTERNAL_ERROR 'whether it did what was asked is not known'
    assert_equal "$(recorded)" "$before"
}

# bats test_tags=direct
@test "read: a message of a blocked contact is 403, and the platform is not called (spec 4.3)" {
    local wamid
    send text "{$who,\"text\":\"x\"}"
    wamid=$(gojq -r '.data.messages[0].id' "$body")
    forget_sent
    switchboard contact block "$LINE" "+$to"
    api POST /v2/messages/read -d "{\"phoneNumberId\":\"$LINE\",\"messageId\":\"$wamid\"}"
    assert_error 403 FORBIDDEN 'The contact is blocked on this line'
    assert_nothing_sent
    switchboard contact unblock "$LINE" "+$to"
    assert_marks "\"messageId\":\"$wamid\"" \
        "{\"messaging_product\":\"whatsapp\",\"status\":\"read\",\"message_id\":\"$wamid\"}"
}

# bats test_tags=direct
@test "read: an Idempotency-Key has no effect" {
    local read='{"messaging_product":"whatsapp","status":"read","message_id":"wamid.x="}'
    assert_marks '"messageId":"wamid.x="' "$read" -H 'Idempotency-Key: read-1'
    assert_marks '"messageId":"wamid.x="' "$read" -H 'Idempotency-Key: read-1'
    refute_header Idempotent-Replayed
    assert_equal "$(sent_count)" 2
}

# --- 4.3, 8: numbers of items ---

# An array of COUNT copies of TEXT: items COUNT TEXT
items() {
    local number text=''
    for ((number = 0; number < $1; number++)); do
        text+=,${2//#/$number}
    done
    printf '[%s]' "${text#,}"
}

# bats test_tags=direct
@test "1 to 3 buttons, at least 2 cards, 1 section, 1 product, 1 row (spec 8)" {
    local button='{"id":"#","title":"t#"}' card='{"catalogId":"c","productRetailerId":"p#"}' count
    local row='{"id":"#","title":"t"}' product='{"product_retailer_id":"#"}'
    check_bodies POST /v2/messages/send/interactive/button --as "$TOKEN" <<END
400	buttons:too_few	{$who,"bodyText":"b","buttons":[]}
200	-	{$who,"bodyText":"b","buttons":$(items 1 "$button")}
200	-	{$who,"bodyText":"b","buttons":$(items 3 "$button")}
400	buttons:too_many	{$who,"bodyText":"b","buttons":$(items 4 "$button")}
400	buttons:too_many	{$who,"bodyText":"b","buttons":$(items 100 "$button")}
END
    check_bodies POST /v2/messages/send/interactive/product-carousel --as "$TOKEN" <<END
400	cards:too_few	{$who,"bodyText":"b","cards":[]}
400	cards:too_few	{$who,"bodyText":"b","cards":$(items 1 "$card")}
200	-	{$who,"bodyText":"b","cards":$(items 2 "$card")}
200	-	{$who,"bodyText":"b","cards":$(items 10 "$card")}
END
    check_bodies POST /v2/messages/send/interactive/product-list --as "$TOKEN" <<END
400	sections:too_few	{$who,"catalogId":"c","headerText":"h","bodyText":"b","sections":[]}
400	sections[0].product_items:too_few	{$who,"catalogId":"c","headerText":"h","bodyText":"b","sections":[{"title":"t","product_items":[]}]}
200	-	{$who,"catalogId":"c","headerText":"h","bodyText":"b","sections":[{"title":"t","product_items":$(items 30 "$product")}]}
END
    check_bodies POST /v2/messages/send/interactive/list --as "$TOKEN" <<END
400	sections:too_few	{$who,"bodyText":"b","buttonText":"g","sections":[]}
400	sections[1].rows:too_few	{$who,"bodyText":"b","buttonText":"g","sections":[{"title":"t","rows":$(items 1 "$row")},{"title":"u","rows":[]}]}
200	-	{$who,"bodyText":"b","buttonText":"g","sections":[{"title":"t","rows":$(items 10 "$row")}]}
END
    # the platform enforces its own limits
    send interactive/list "{$who,\"bodyText\":\"b\",\"buttonText\":\"g\",\"sections\":[{\"title\":\"t\",\"rows\":$(items 11 "$row")}]}"
    assert_error 400 VALIDATION_ERROR
    assert_that '.details.error.code | type == "number"'
}

# bats test_tags=direct
@test "a schema failure lists every issue, each with path, code and message (spec 4.3)" {
    local before
    before=$(recorded)
    send interactive/list "{\"phoneNumberId\":\"$LINE\",\"buttonText\":5,\"headerText\":\"\",\"sections\":[{\"title\":\"\",\"rows\":[]},7,{\"rows\":[{\"id\":\"i\",\"title\":null},{}]}]}"
    assert_error 400 VALIDATION_ERROR '(and 10 more: see details)'
    assert_that '[.details[] | keys] | unique == [["code","message","path"]]'
    assert_error 400 VALIDATION_ERROR 'to must be sent, or recipient instead (and 10 more: see details).'
    assert_json '[.details[] | "\(.path):\(.code)"]' '["to:one_of","bodyText:required","buttonText:invalid_type","headerText:empty","sections[0].title:empty","sections[0].rows:too_few","sections[1]:invalid_type","sections[2].title:required","sections[2].rows[0].title:invalid_type","sections[2].rows[1].id:required","sections[2].rows[1].title:required"]'
    assert_issue bodyText 'is required: send a string'
    assert_issue buttonText 'must be a string, not number'
    assert_issue 'sections[0].rows' 'must hold at least 1 item, not 0'
    assert_untouched
}

# bats test_tags=direct,long
@test "a body with a million errors is 400 with a bounded list of issues" {
    local before
    before=$(recorded)
    {
        printf '{%s,"bodyText":"b","cards":[0' "$who"
        head -c 1800000 /dev/zero | sed 's/\x00\x00/,0/g'
        printf ']}'
    } >"$BATS_TEST_TMPDIR/flood"
    send interactive/product-carousel "@$BATS_TEST_TMPDIR/flood"
    assert_error 400 VALIDATION_ERROR '(and 900000 more: see details)'
    assert_that '.details | length == 1000'
    assert_untouched
}

# --- 4.3: the smart dispatcher ---

# Bodies for the dispatcher, one of each kind; the names are those of the routes.
media_card='{"media":{"type":"image","link":"https://x/"},"url":"https://y/","buttonText":"Go"}'
shape() {
    case $1 in
    text) printf '"text":"T"' ;;
    media) printf '"media":{"type":"image","mediaId":"7001"}' ;;
    location) printf '"location":{"latitude":1,"longitude":2}' ;;
    product) printf '"bodyText":"B","catalogId":"c","productRetailerId":"p"' ;;
    cards) printf '"bodyText":"B","cards":[{"catalogId":"c","productRetailerId":"p"},{"catalogId":"c","productRetailerId":"q"}]' ;;
    products) printf '"bodyText":"B","catalogId":"c","headerText":"H","sections":[{"title":"T","product_items":[{"product_retailer_id":"p"}],"rows":[{"id":"i","title":"R"}]}]' ;;
    buttons) printf '"bodyText":"B","buttons":[{"id":"i","title":"T"}]' ;;
    list) printf '"bodyText":"B","buttonText":"Go","sections":[{"title":"T","rows":[{"id":"i","title":"R"}]}]' ;;
    thumbnail) printf '"bodyText":"B","thumbnailProductRetailerId":"t"' ;;
    footer) printf '"bodyText":"B","footerText":"F"' ;;
    url) printf '"bodyText":"B","buttonText":"Go","url":"https://example.com/"' ;;
    flow) printf '"bodyText":"B","buttonText":"Go","flowId":"7002"' ;;
    where) printf '"bodyText":"B","locationRequest":true' ;;
    address) printf '"bodyText":"B","country":"IN"' ;;
    panels) printf '"bodyText":"B","mediaCards":[%s,%s]' "$media_card" "$media_card" ;;
    reaction) printf '"messageId":"wamid.x=","emoji":""' ;;
    sticker) printf '"sticker":{"mediaId":"7001"}' ;;
    contacts) printf '"contacts":[{"name":{"formattedName":"A"}}]' ;;
    esac
}

# bats test_tags=direct
@test "send: each condition selects its kind of send, with the same bytes upstream (spec 4.3)" {
    local name path
    while read -r name path; do
        send "$path" "{$who,$(shape "$name")}"
        assert_success
        sent >"$BATS_TEST_TMPDIR/wanted"
        send '' "{$who,$(shape "$name")}"
        assert_success
        assert_conventions
        sent >"$BATS_TEST_TMPDIR/found"
        cmp "$BATS_TEST_TMPDIR/wanted" "$BATS_TEST_TMPDIR/found" || fail "send and send/$path differ"
    done <<'END'
text text
media media
location location
product interactive/product
cards interactive/product-carousel
products interactive/product-list
thumbnail interactive/catalog-message
footer interactive/catalog-message
buttons interactive/button
list interactive/list
url interactive/cta-url
flow interactive/flow
where interactive/location-request
address interactive/address
panels interactive/media-carousel
reaction reaction
sticker sticker
contacts contacts
END
}

# bats test_tags=direct,long
@test "send: the first condition of the table wins, and of the interactive kinds the catalog message is the last" {
    local order=(text media location product cards products buttons list url flow where address panels thumbnail
        reaction sticker contacts) i j number=0
    local -A types=([text]=text [media]=image [location]=location [product]=product [cards]=carousel
        [products]=product_list [buttons]=button [list]=list [thumbnail]=catalog_message
        [reaction]=reaction [sticker]=sticker [url]=cta_url [flow]=flow [contacts]=contacts
        [where]=location_request_message [address]=address_message
        [panels]=carousel)
    new_batch
    for ((i = 0; i < ${#order[@]}; i++)); do
        for ((j = i + 1; j < ${#order[@]}; j++)); do
            number=$((number + 1))
            printf '{%s,%s,%s,"footerText":"F"}' "$who" "$(shape "${order[j]}")" \
                "$(shape "${order[i]}")" >"$batch/$number.in"
            printf '%s\n' "${types[${order[i]}]}" >>"$batch/expected"
        done
    done
    send_bodies POST /v2/messages/send --as "$TOKEN"
    assert_equal "$(batch_lines status | sort | uniq -c | xargs)" "$number 200"
    sandbox GET 'requests?path=/messages' |
        gojq -r '.[].body | fromjson | .interactive.type // .type' >"$batch/found"
    diff "$batch/expected" "$batch/found"
}

# bats test_tags=direct
@test "send: the condition alone selects the kind, and errors inside are issues with their path (spec 4.3)" {
    check_bodies POST /v2/messages/send --as "$TOKEN" <<END
400	text:empty	{$who,"text":"","media":{"type":"image","mediaId":"7001"}}
400	media.type:required,media.mediaId:one_of	{$who,"media":{},"location":{"latitude":1,"longitude":2}}
400	location.latitude:required,location.longitude:required	{$who,"location":{}}
400	catalogId:invalid_type,productRetailerId:invalid_type	{$who,"bodyText":"B","catalogId":5,"productRetailerId":null}
400	bodyText:empty	{$who,"bodyText":"","catalogId":"c","productRetailerId":"p"}
400	cards:too_few	{$who,"bodyText":"B","cards":[]}
400	headerText:required,sections:too_few	{$who,"bodyText":"B","catalogId":"c","sections":[]}
400	buttons:too_few	{$who,"bodyText":"B","buttons":[]}
400	sections:too_few	{$who,"bodyText":"B","buttonText":"g","sections":[]}
400	buttonText:invalid_type	{$who,"bodyText":"B","buttonText":1,"sections":[{"title":"t","rows":[{"id":"i","title":"r"}]}]}
400	footerText:invalid_type	{$who,"bodyText":"B","footerText":1}
400	thumbnailProductRetailerId:empty	{$who,"bodyText":"B","thumbnailProductRetailerId":""}
400	to:one_of	{"phoneNumberId":"$LINE","text":"x"}
400	to:one_of,text:empty	{"phoneNumberId":"$LINE","text":""}
END
    assert_nothing_sent
}

# bats test_tags=direct,long
@test "send: no condition matches: 400 with the message Unsupported message payload. and all kinds (spec 4.3)" {
    local text before
    before=$(recorded)
    for text in '' ',"text":5' ',"text":null' ',"text":["x"]' ',"media":"7001"' ',"media":[]' ',"location":"1,2"' \
        ',"bodyText":"B"' ',"bodyText":"B","locationRequest":false' ',"bodyText":5,"catalogId":"c","productRetailerId":"p"' \
        ',"catalogId":"c","productRetailerId":"p"' ',"bodyText":"B","catalogId":"c"' \
        ',"bodyText":"B","productRetailerId":"p"' ',"bodyText":"B","cards":{}' ',"bodyText":"B","buttons":{}' \
        ',"bodyText":"B","sections":[]' ',"bodyText":"B","buttonText":"g"' ',"footerText":"F"' \
        ',"bodyText":"B","catalogId":"c","sections":{}' ',"bodyText":"B","buttonText":"g","sections":"x"' \
        ',"Text":"x"' ',"templateName":"hello"'; do
        send '' "{$who$text}"
        assert_status 400
        assert_error 400 VALIDATION_ERROR
        assert_text .message 'Unsupported message payload.'
        assert_that '.details | length == 18'
    done
    assert_json .details '[{"kind":"text","members":{"text":"string"}},{"kind":"media","members":{"media":"object"}},{"kind":"location","members":{"location":"object"}},{"kind":"interactive/product","members":{"bodyText":"string","catalogId":"any","productRetailerId":"any"}},{"kind":"interactive/product-carousel","members":{"bodyText":"string","cards":"array"}},{"kind":"interactive/product-list","members":{"bodyText":"string","catalogId":"any","sections":"array"}},{"kind":"interactive/button","members":{"bodyText":"string","buttons":"array"}},{"kind":"interactive/list","members":{"bodyText":"string","buttonText":"any","sections":"array"}},{"kind":"interactive/cta-url","members":{"bodyText":"string","buttonText":"any","url":"any"}},{"kind":"interactive/flow","members":{"bodyText":"string","flowId":"any"}},{"kind":"interactive/location-request","members":{"bodyText":"string","locationRequest":"true"}},{"kind":"interactive/address","members":{"bodyText":"string","country":"any"}},{"kind":"interactive/media-carousel","members":{"bodyText":"string","mediaCards":"array"}},{"kind":"interactive/catalog-message","members":{"bodyText":"string","thumbnailProductRetailerId":"any"}},{"kind":"interactive/catalog-message","members":{"bodyText":"string","footerText":"any"}},{"kind":"reaction","members":{"messageId":"string","emoji":"string"}},{"kind":"sticker","members":{"sticker":"object"}},{"kind":"contacts","members":{"contacts":"array"}}]'
    send '' "{\"phoneNumberId\":\"$LINE\"}"
    assert_text .message 'Unsupported message payload.'
    assert_untouched
}

# --- Prefer: handling=strict ---

strictly=(-H 'Prefer: handling=strict')

@test "handling=strict makes every unknown member an issue with its path; without it they are ignored (RFC 7240)" {
    local text="{$who,\"bodyText\":\"b\",\"buttonText\":\"g\",\"context\":{\"message_id\":\"w\"},\"sections\":[{\"title\":\"t\",\"x.y\":1,\"rows\":[{\"id\":\"i\",\"title\":\"r\"},{\"id\":\"\",\"title\":\"r\",\"a\\u0000b\":{\"z\":1}}]}]}" before
    before=$(recorded)
    send interactive/list "$text" "${strictly[@]}"
    assert_error 400 VALIDATION_ERROR '(and 3 more: see details)'
    assert_header Preference-Applied handling=strict
    assert_conventions
    assert_json .details '[{"path":"sections[0].rows[1].id","code":"empty","message":"must not be empty"},{"path":"sections[0].rows[1].a\\u0000b","code":"unknown_field","message":"is not a field of this request"},{"path":"sections[0].x.y","code":"unknown_field","message":"is not a field of this request"},{"path":"context","code":"unknown_field","message":"is not a field of this request"}]'
    send interactive/list "$text"
    assert_error 400 VALIDATION_ERROR 'sections[0].rows[1].id must not be empty.'
    refute_header Preference-Applied
    assert_untouched
    text=${text/'"id":""'/'"id":"j"'}
    send interactive/list "$text" "${strictly[@]}"
    assert_error 400 VALIDATION_ERROR 'is not a field of this request'
    assert_untouched
    send interactive/list "$text"
    assert_success
    refute_header Preference-Applied
}

@test "handling=strict adds Preference-Applied to every answer after the check of the fields, and changes nothing else" {
    local key="key-$RANDOM$RANDOM"
    send text "{$who,\"text\":\"x\",\"contextMessageWamid\":\"wamid.w=\"}" "${strictly[@]}" -H "Idempotency-Key: $key"
    assert_success
    assert_header Preference-Applied handling=strict
    cp "$body" "$BATS_TEST_TMPDIR/first"
    send text "{$who,\"text\":\"x\",\"contextMessageWamid\":\"wamid.w=\"}" "${strictly[@]}" -H "Idempotency-Key: $key"
    assert_header Idempotent-Replayed true
    assert_header Preference-Applied handling=strict
    assert_body_is "@$BATS_TEST_TMPDIR/first"
    answer_with 400 '{"error":{"message":"no","code":4}}'
    send text "{$who,\"text\":\"x\"}" "${strictly[@]}"
    assert_error 400 VALIDATION_ERROR no
    assert_header Preference-Applied handling=strict
    send text "{$who,\"text\":\"x\"}" -H 'Prefer: depth-noroot; a="b, c", return=minimal' -H 'Prefer: HANDLING = "Strict" ; q=1'
    assert_success
    assert_header Preference-Applied handling=strict
    send text "{$who,\"text\":\"x\",\"y\":1}" -H 'Prefer: handling=lenient' "${strictly[@]}"
    assert_success
    refute_header Preference-Applied
    send text '{' "${strictly[@]}"
    assert_error 400 VALIDATION_ERROR 'not valid JSON'
    refute_header Preference-Applied
}

@test "handling=strict at the dispatcher accepts only the fields of the selected kind" {
    send '' "{$who,\"text\":\"x\"}" "${strictly[@]}"
    assert_success
    assert_header Preference-Applied handling=strict
    send '' "{$who,\"text\":\"x\",\"footerText\":\"f\",\"media\":{\"type\":\"image\"}}" "${strictly[@]}"
    assert_error 400 VALIDATION_ERROR
    assert_header Preference-Applied handling=strict
    assert_json '[.details[] | "\(.path):\(.code)"]' '["footerText:unknown_field","media:unknown_field"]'
    send '' "{$who,\"media\":{\"type\":\"image\",\"mediaId\":\"7001\",\"url\":\"u\"}}" "${strictly[@]}"
    assert_json '[.details[] | "\(.path):\(.code)"]' '["media.url:unknown_field"]'
    send '' "{$who,\"context\":{}}" "${strictly[@]}"
    assert_error 400 VALIDATION_ERROR 'Unsupported message payload.'
    assert_equal "$(sent_count)" 1
}

# --- 2.3: to and recipient ---

# bats test_tags=direct
@test "to: all characters but digits are removed, 5 to 20 digits must remain (spec 2.3)" {
    local form digits
    for form in '+1 (650) 555-1234' '1.650.555.1234' 'tel:+1-650-555-1234' '١1650555٢1234' '1\u0036505551234' '1650\u0000\n5551234'; do
        send text "{\"phoneNumberId\":\"$LINE\",\"to\":\"$form\",\"text\":\"x\"}"
        assert_success
        assert_sent '{"messaging_product":"whatsapp","recipient_type":"individual","to":"16505551234","type":"text","text":{"body":"x"}}'
    done
    assert_equal "$(db "SELECT count(*) FROM contact WHERE phone = '16505551234'")" 1
    fault '{"times":0,"status":200,"body":"{\"messages\":[{\"id\":\"wamid.of-nobody\"}]}"}'
    check_bodies POST /v2/messages/send/text --as "$TOKEN" <<END
400	to:invalid_value	{"phoneNumberId":"$LINE","to":"1234","text":"x"}
200	-	{"phoneNumberId":"$LINE","to":"12345","text":"x"}
200	-	{"phoneNumberId":"$LINE","to":"12345678901234567890","text":"x"}
400	to:invalid_value	{"phoneNumberId":"$LINE","to":"123456789012345678901","text":"x"}
400	to:invalid_value	{"phoneNumberId":"$LINE","to":"+","text":"x"}
400	to:invalid_value	{"phoneNumberId":"$LINE","to":"somebody","text":"x"}
400	to:invalid_value	{"phoneNumberId":"$LINE","to":"٠١٢٣٤٥٦٧٨٩","text":"x"}
END
}

@test "to: a number in another form is sent as its digits, and the platform decides (spec 2.3)" {
    local form digits
    while IFS='|' read -r form digits; do
        answer_with 200 '{"messages":[{"id":"wamid.digits"}]}'
        send text "{\"phoneNumberId\":\"$LINE\",\"to\":\"$form\",\"text\":\"x\"}"
        assert_success
        assert_sent "{\"messaging_product\":\"whatsapp\",\"recipient_type\":\"individual\",\"to\":\"$digits\",\"type\":\"text\",\"text\":{\"body\":\"x\"}}"
    done <<'END'
0015551234567|0015551234567
089 1234567|0891234567
+49 (0)89 1234567|490891234567
+1 555 123 4567 ext. 5|155512345675
END
}

# bats test_tags=direct,long
@test "a BSUID in to, in upper or lower case, is 400: the platform would lose the message (spec 2.3)" {
    local bsuid before
    before=$(recorded)
    for bsuid in US.13491208655302741918 US.ENT.13491208655302741918 ' US.13491208655302741918 ' \
        us.13491208655302741918 uS.13491208655302 Us.ENT.13491208655302 us.ent.13491208655302 US.Ent.13491208655302; do
        send text "{\"phoneNumberId\":\"$LINE\",\"to\":\"$bsuid\",\"text\":\"x\"}"
        assert_error 400 VALIDATION_ERROR
        assert_issue to 'send it as recipient'
    done
    assert_untouched
}

# bats test_tags=direct
@test "recipient: a BSUID is sent byte for byte, and its contact has no phone (spec 2.3)" {
    local bsuid wamid
    for bsuid in US.13491208655302741918 PE.aBcXyZ09 GB.ENT.aB1 "BR.$(printf 'x%.0s' {1..128})"; do
        send text "{\"phoneNumberId\":\"$LINE\",\"recipient\":\"$bsuid\",\"text\":\"x\"}"
        assert_success
        wamid=$(gojq -r '.data.messages[0].id' "$body")
        assert_body_is "{\"success\":true,\"data\":{\"messaging_product\":\"whatsapp\",\"contacts\":[{\"input\":\"$bsuid\",\"user_id\":\"$bsuid\"}],\"messages\":[{\"id\":\"$wamid\"}]}}"
        assert_sent "{\"messaging_product\":\"whatsapp\",\"recipient_type\":\"individual\",\"recipient\":\"$bsuid\",\"type\":\"text\",\"text\":{\"body\":\"x\"}}"
        assert_equal "$(db "SELECT c.phone IS NULL, c.bsuid FROM message m JOIN thread t ON t.id = m.thread_id
            JOIN contact c ON c.id = t.contact_id WHERE m.wamid = '$wamid'")" "1|$bsuid"
    done
    check_bodies POST /v2/messages/send/text --as "$TOKEN" < <(
        for bsuid in us.1 USA.1 US 'US.' US1 US.ENT. US.1.2 'US.a-b' ' US.1' 'US.1 ' 15551234567 US.é 'US.1\u0000' \
            "US.$(printf 'x%.0s' {1..129})"; do
            printf '400\trecipient:invalid_value\t{"phoneNumberId":"%s","recipient":"%s","text":"x"}\n' "$LINE" "$bsuid"
        done
    )
}

# bats test_tags=direct
@test "to and recipient: both are forwarded, and the contact is that of the phone, which the platform prefers (spec 2.3)" {
    local wamid
    send text "{$who,\"recipient\":\"US.77\",\"text\":\"x\"}"
    assert_success
    assert_sent "$up,\"recipient\":\"US.77\",\"type\":\"text\",\"text\":{\"body\":\"x\"}}"
    assert_that ".data.contacts == [{\"input\":\"$to\",\"wa_id\":\"$to\"}]"
    wamid=$(gojq -r '.data.messages[0].id' "$body")
    assert_equal "$(db "SELECT c.phone, c.bsuid IS NULL FROM message m JOIN thread t ON t.id = m.thread_id
        JOIN contact c ON c.id = t.contact_id WHERE m.wamid = '$wamid'")" "$to|1"
    check_bodies POST /v2/messages/send/text --as "$TOKEN" <<END
400	recipient:invalid_value	{$who,"recipient":"nobody","text":"x"}
400	to:invalid_value	{"phoneNumberId":"$LINE","to":"1","recipient":"US.1","text":"x"}
400	to:invalid_value,recipient:invalid_value	{"phoneNumberId":"$LINE","to":"1","recipient":"1","text":"x"}
END
}

# bats test_tags=direct
@test "contextMessageWamid makes it a reply (spec 4.3)" {
    local id='wamid.HBgL\/+A=='
    send text "{$who,\"contextMessageWamid\":\"$id\",\"text\":\"x\"}"
    assert_success
    assert_sent "$up,\"context\":{\"message_id\":\"$id\"},\"type\":\"text\",\"text\":{\"body\":\"x\"}}"
    assert_equal "$(db "SELECT context_wamid FROM message WHERE wamid = '$(gojq -r '.data.messages[0].id' "$body")'")" 'wamid.HBgL/+A=='
    send text "{\"phoneNumberId\":\"$LINE\",\"recipient\":\"US.5\",\"contextMessageWamid\":\"$id\",\"text\":\"x\"}"
    assert_sent "{\"messaging_product\":\"whatsapp\",\"recipient_type\":\"individual\",\"recipient\":\"US.5\",\"context\":{\"message_id\":\"$id\"},\"type\":\"text\",\"text\":{\"body\":\"x\"}}"
}

# --- 1, 3: contacts, threads and messages ---

# bats test_tags=direct
@test "every send upserts contact and thread: one of each per recipient and line (spec 1, 3)" {
    local line=$LINE before thread
    send text "{$who,\"text\":\"one\"}"
    thread=$(db "SELECT t.id FROM thread t JOIN contact c ON c.id = t.contact_id WHERE c.phone = '$to'")
    before=$(db "SELECT updated_at FROM contact WHERE phone = '$to'")
    sleep 0.01
    send location "{$who,$(shape location)}"
    assert_equal "$(db "SELECT t.id FROM thread t JOIN contact c ON c.id = t.contact_id WHERE c.phone = '$to'")" "$thread"
    assert_equal "$(db "SELECT count(*), min(m.type), max(m.type) FROM message m WHERE thread_id = '$thread'")" '2|location|text'
    assert_equal "$(db "SELECT min(c.updated_at) > $before, min(t.last_message_at) = max(m.timestamp), min(t.created_at) < min(t.last_message_at)
        FROM contact c JOIN thread t ON t.contact_id = c.id JOIN message m ON m.thread_id = t.id WHERE c.phone = '$to'")" '1|1|1'
    make_line ''
    send text "{\"phoneNumberId\":\"$LINE\",\"to\":\"$to\",\"text\":\"x\"}"
    assert_success
    assert_equal "$(db "SELECT count(DISTINCT c.id), count(DISTINCT t.id), count(*) FROM contact c JOIN thread t ON t.contact_id = c.id
        JOIN message m ON m.thread_id = t.id WHERE c.phone = '$to'")" '1|2|3'
    LINE=$line
}

# bats test_tags=direct
@test "the same phone is a separate contact in another business account (spec 1)" {
    send text "{$who,\"text\":\"x\"}"
    make_account ''
    make_line ''
    send text "{\"phoneNumberId\":\"$LINE\",\"to\":\"$to\",\"text\":\"x\"}"
    assert_success
    assert_equal "$(sandbox GET requests/last | gojq -r .headers.authorization)" "Bearer $PLATFORM_TOKEN"
    assert_equal "$(db "SELECT count(*), count(DISTINCT account_id) FROM contact WHERE phone = '$to'")" '2|2'
}

# bats test_tags=direct
@test "both spellings of a phone that the platform normalizes belong to one contact (spec 2.3)" {
    local sent_to=5511$((90000000 + RANDOM)) known_as
    known_as=55119${sent_to#5511}
    sandbox POST numbers "{\"number\":\"$sent_to\",\"waId\":\"$known_as\"}" >/dev/null
    for to in "$sent_to" "$known_as" "+$sent_to"; do
        send text "{\"phoneNumberId\":\"$LINE\",\"to\":\"$to\",\"text\":\"x\"}"
        assert_success
        assert_text '.data.contacts[0].wa_id' "$known_as"
    done
    assert_equal "$(db "SELECT count(*), min(phone) FROM contact WHERE phone IN ('$sent_to', '$known_as')")" "1|$known_as"
    assert_equal "$(db "SELECT count(DISTINCT t.id), count(*) FROM thread t JOIN contact c ON c.id = t.contact_id
        JOIN message m ON m.thread_id = t.id WHERE c.phone = '$known_as'")" '1|3'
}

@test "64 parallel sends to one new contact: 64 answers, one contact, one thread, 64 messages (spec 1)" {
    request_many 64 POST /v2/messages/send/text -d "{$who,\"text\":\"x\"}" --as "$TOKEN"
    assert_equal "$(statuses)" '64 200'
    assert_equal "$(cat "$many"/*/body | gojq -r '.data.messages[0].id' | sort -u | wc -l)" 64
    assert_equal "$(db "SELECT count(DISTINCT c.id), count(DISTINCT t.id), count(DISTINCT m.wamid), count(*) FROM contact c
        JOIN thread t ON t.contact_id = c.id JOIN message m ON m.thread_id = t.id WHERE c.phone = '$to'")" '1|1|64|64'
    assert_equal "$(sent_count)" 64
}

@test "a send that the platform accepted is 200 even if it cannot be stored, and this is logged" {
    local wamid before
    before=$(recorded)
    refuse_rows message
    send text "{$who,\"text\":\"x\"}"
    accept_rows message
    assert_success
    wamid=$(gojq -r '.data.messages[0].id' "$body")
    assert_equal "$(recorded)" "$before" # no part of the record either
    grep -F "\"level\":\"warn\"" "$LOG" | grep -F "request $(header X-Request-Id): $wamid was accepted but not recorded" |
        grep -F 'made to fail' | grep -F 'it waits in pending_dir'
    send text "{$who,\"text\":\"x\"}"
    assert_success
    assert_equal "$(db "SELECT count(*) FROM contact WHERE phone = '$to'")" 1
}

@test "if the database is locked for longer than 5 s, the record is kept, and the send is answered" {
    hold_database
    send text "{$who,\"text\":\"x\"}"
    assert_success
    grep -F "request $(header X-Request-Id): $(gojq -r '.data.messages[0].id' "$body") was accepted but not recorded" "$LOG" |
        grep -F 'lock'
    release_database
}

@test "a send that waits for the platform does not block a checkpoint that truncates the write-ahead log" {
    only_on_sqlite 'it is about the write-ahead log of SQLite'
    db "UPDATE user SET email = email" # so that the write-ahead log is not empty
    begin_held send text "{$who,\"text\":\"x\"}"
    assert_equal "$(db 'PRAGMA wal_checkpoint(TRUNCATE)')" '0|0|0'
    [[ ! -e $BATS_TEST_TMPDIR/held/status ]] || fail 'the platform answered too early'
    end_held 200
}

# --- 5.6: phoneNumberId ---

# bats test_tags=long
@test "a missing phoneNumberId is 400 as the only issue, before all other fields (spec 5.6)" {
    local path
    for path in text media location '' interactive/list; do
        check_bodies POST "/v2/messages/send${path:+/$path}" --as "$TOKEN" <<'END'
400	phoneNumberId:required	{}
400	phoneNumberId:required	{"to":"1","text":5}
400	phoneNumberId:required	{"phonenumberid":"1","PhoneNumberId":"1"}
400	phoneNumberId:invalid_type	{"phoneNumberId":null}
400	phoneNumberId:invalid_type	{"phoneNumberId":106540352242922,"to":"1"}
400	phoneNumberId:invalid_type	{"phoneNumberId":["1"]}
400	phoneNumberId:empty	{"phoneNumberId":"","text":5}
END
    done
    assert_nothing_sent
}

# bats test_tags=direct,long
@test "a phoneNumberId of another user is 403 FORBIDDEN (spec 5.6)" {
    local before id mine=$LINE
    make_user OTHER_
    make_line ''
    switchboard line archive "$LINE"
    before=$(recorded)
    for id in "$OTHER_LINE" "$LINE" 1 "$WABA" "$ACCOUNT" "$(db "SELECT id FROM line WHERE phone_number_id = '$mine'")" \
        "$mine " " $mine" "$mine\\u0000" "+$mine" "$mine/../1" "' OR 1=1 --"; do
        send text "{\"phoneNumberId\":\"$id\",\"to\":\"$to\",\"text\":\"x\"}"
        assert_error 403 FORBIDDEN phoneNumberId
        send '' "{\"phoneNumberId\":\"$id\"}"
        assert_error 403 FORBIDDEN phoneNumberId
    done
    assert_untouched
    LINE=$mine
}

# bats test_tags=direct
@test "a line of any linked business account is accepted and uses that account's token (spec 5.6)" {
    local first=$PLATFORM_TOKEN
    make_account ''
    make_line ''
    [[ $PLATFORM_TOKEN != "$first" ]]
    send text "{\"phoneNumberId\":\"$LINE\",\"to\":\"$to\",\"text\":\"x\"}"
    assert_success
    assert_sent_to "$LINE/messages"
    sandbox GET requests/last | gojq -e ".headers.authorization == \"Bearer $PLATFORM_TOKEN\"
        and .headers.\"content-type\" == \"application/json\" and (.headers.\"user-agent\" | startswith(\"switchboard/\"))
        and .method == \"POST\" and .query == \"\" and (.path | startswith(\"/v26.0/\"))"
    ! sandbox GET requests/last | grep -F "$TOKEN" || fail 'the API token was sent upstream'
    switchboard account token "$ACCOUNT" </dev/null
    send text "{\"phoneNumberId\":\"$LINE\",\"to\":\"$to\",\"text\":\"x\"}"
    assert_error 404 NOT_FOUND 'platform access token'
    assert_equal "$(sent_count)" 1
}

# --- 3: blocked contacts ---

@test "a blocked contact is 403 FORBIDDEN, and the platform is not called (spec 3, 4.3)" {
    local before
    switchboard contact block "$LINE" "+$to"
    before=$(recorded)
    send text "{\"phoneNumberId\":\"$LINE\",\"to\":\"+${to:0:1} (${to:1})\",\"text\":\"x\"}"
    assert_error 403 FORBIDDEN 'blocked on this line'
    assert_untouched
    switchboard contact unblock "$LINE" "$to"
    send text "{$who,\"text\":\"x\"}"
    assert_success
}

# bats test_tags=direct
@test "of a phone and a BSUID, a block of either one is 403 (spec 2.3, 3)" {
    local before
    switchboard contact block "$LINE" US.666
    before=$(recorded)
    send text "{\"phoneNumberId\":\"$LINE\",\"recipient\":\"US.666\",\"text\":\"x\"}"
    assert_error 403 FORBIDDEN 'blocked on this line'
    send text "{$who,\"recipient\":\"US.666\",\"text\":\"x\"}"
    assert_error 403 FORBIDDEN 'blocked on this line'
    assert_untouched
    send text "{\"phoneNumberId\":\"$LINE\",\"recipient\":\"US.6666\",\"text\":\"x\"}"
    assert_success
    switchboard contact block "$LINE" "$to"
    send text "{$who,\"recipient\":\"US.6666\",\"text\":\"x\"}"
    assert_error 403 FORBIDDEN 'blocked on this line'
}

# bats test_tags=direct
@test "a contact blocked under another spelling of its phone is 403 (spec 2.3, 3)" {
    sandbox POST numbers "{\"number\":\"$to\",\"waId\":\"9$to\"}" >/dev/null
    send text "{$who,\"text\":\"x\"}"
    assert_success
    switchboard contact block "$LINE" "9$to"
    send text "{$who,\"text\":\"x\"}"
    assert_error 403 FORBIDDEN 'blocked on this line'
    switchboard contact unblock "$LINE" "$to"
    send text "{\"phoneNumberId\":\"$LINE\",\"to\":\"9$to\",\"text\":\"x\"}"
    assert_success
    assert_equal "$(sent_count)" 2
}

# bats test_tags=direct
@test "a contact blocked on one line is not blocked on another (spec 3)" {
    local blocked=$LINE
    make_line ''
    switchboard contact block "$blocked" "$to"
    send text "{\"phoneNumberId\":\"$blocked\",\"to\":\"$to\",\"text\":\"x\"}"
    assert_error 403 FORBIDDEN
    send text "{\"phoneNumberId\":\"$LINE\",\"to\":\"$to\",\"text\":\"x\"}"
    assert_success
}

# --- 5: tokens and plans; me.bats tests them in full ---

@test "tokens and plans are checked anew for every request (spec 5)" {
    local text='"text":"x"' token
    make_user
    new_recipient
    switchboard plan set "$EMAIL" Basic
    send text "{$who,$text}"
    assert_error 403 DEVELOPER_PLAN_REQUIRED
    switchboard plan set "$EMAIL" Premium --ends 2020-01-01
    send text "{$who,$text}"
    assert_error 403 PLAN_EXPIRED
    switchboard plan set "$EMAIL" Enterprise
    send text "{$who,$text}"
    assert_success
    token=$TOKEN
    TOKEN=$(switchboard token regenerate "$EMAIL")
    request POST /v2/messages/send/text -d "{$who,$text}" --as "$token"
    assert_error 401 UNAUTHORIZED
    send text "{$who,$text}"
    assert_success
    switchboard user delete "$EMAIL"
    send text "{$who,$text}"
    assert_error 401 UNAUTHORIZED
    assert_equal "$(sent_count)" 2
}

# bats test_tags=long
@test "the checks come in their order: path, method, token, plan, size, type, JSON, line, fields, block (spec 5)" {
    local large=$BATS_TEST_TMPDIR/large plain='Content-Type: text/plain' before
    make_user
    new_recipient
    switchboard contact block "$LINE" "$to"
    before=$(recorded)
    head -c 2097153 /dev/zero >"$large"
    request POST /v2/messages/send/nothing -d "@$large" -H "$plain"
    assert_error 404 NOT_FOUND 'no such route'
    request PUT /v2/messages/send/text -d "@$large" -H "$plain"
    assert_error 404 NOT_FOUND 'method'
    request POST /v2/messages/send/text -d "@$large" -H "$plain"
    assert_error 401 UNAUTHORIZED
    switchboard plan set "$EMAIL" Basic --ends 2020-01-01
    send text "@$large" -H "$plain"
    assert_error 403 PLAN_EXPIRED
    switchboard plan set "$EMAIL" Basic
    send text "@$large" -H "$plain"
    assert_error 403 DEVELOPER_PLAN_REQUIRED
    switchboard plan set "$EMAIL" Premium
    send text "@$large" -H "$plain"
    assert_error 413 VALIDATION_ERROR
    send text '{' -H "$plain"
    assert_error 415 VALIDATION_ERROR
    send text '{"phoneNumberId":"1",'
    assert_error 400 VALIDATION_ERROR 'not valid JSON'
    send text '{"text":5}'
    assert_that '.details | length == 1 and .[0].path == "phoneNumberId"'
    send text '{"phoneNumberId":"1","text":5}'
    assert_error 403 FORBIDDEN phoneNumberId
    send text "{$who,\"text\":5}"
    assert_error 400 VALIDATION_ERROR
    assert_issue text
    send text "{$who,\"text\":\"x\"}"
    assert_error 403 FORBIDDEN blocked
    assert_untouched
}

# --- 8: size, media type, JSON ---

# Writes a body of send/text, padded with spaces to $1 bytes, to a file.
padded() {
    local text="{$who,\"text\":\"x\"}"
    printf "%*s%s" $(($1 - ${#text})) '' "$text" >"$BATS_TEST_TMPDIR/padded"
}

@test "a JSON body of 2,097,152 bytes is accepted, one byte more is 413 (spec 8)" {
    local before chunked
    for chunked in '' 'Transfer-Encoding: chunked'; do
        padded 2097152
        send text "@$BATS_TEST_TMPDIR/padded" ${chunked:+-H "$chunked"}
        assert_success
        assert_sent "$up,\"type\":\"text\",\"text\":{\"body\":\"x\"}}"
        before=$(recorded)
        forget_sent
        padded 2097153
        send text "@$BATS_TEST_TMPDIR/padded" ${chunked:+-H "$chunked"}
        assert_error 413 VALIDATION_ERROR 2097152
        assert_conventions
        assert_untouched
    done
}

@test "a text of nearly 2 MB is sent unchanged (spec 8)" {
    local n text
    n=$((2097152 - $(printf '{%s,"text":""}' "$who" | wc -c)))
    text=$(head -c "$n" /dev/zero | tr "\0" y)
    fault '{"status":200,"body":"{\"messages\":[{\"id\":\"wamid.long\"}]}"}'
    printf '{%s,"text":"%s"}' "$who" "$text" >"$BATS_TEST_TMPDIR/long"
    send text "@$BATS_TEST_TMPDIR/long"
    assert_body_is '{"success":true,"data":{"messages":[{"id":"wamid.long"}]}}'
    printf '%s,"type":"text","text":{"body":"%s"}}' "$up" "$text" >"$BATS_TEST_TMPDIR/wanted"
    sent | cmp - "$BATS_TEST_TMPDIR/wanted"
    assert_equal "$(db "SELECT length(body) FROM message WHERE wamid = 'wamid.long'")" "$(stat -c %s "$BATS_TEST_TMPDIR/wanted")"
}

@test "application/json and any +json type are accepted, with parameters; any other media type is 415" {
    local type before
    for type in application/json 'application/json; charset=utf-8' 'APPLICATION/Json;charset="utf-8"' \
        application/vnd.api+json 'application/problem+JSON ; a=b' text/x+json; do
        send text "{$who,\"text\":\"x\"}" -H "Content-Type: $type"
        assert_success
    done
    before=$(recorded)
    forget_sent
    for type in text/plain application/x-www-form-urlencoded multipart/form-data application/jsonx application/json5 \
        application/xml text/json json '*/*' application/json,text/plain; do
        send text "{$who,\"text\":\"x\"}" -H "Content-Type: $type"
        assert_error 415 VALIDATION_ERROR 'Content-Type: application/json'
        assert_conventions
    done
    send text "{$who,\"text\":\"x\"}" -H 'Content-Type:'
    assert_error 415 VALIDATION_ERROR 'Content-Type: application/json'
    assert_untouched
}

@test "a Content-Encoding is 415" {
    local encoding before
    before=$(recorded)
    for encoding in gzip br deflate zstd 'gzip, identity' x; do
        send text "{$who,\"text\":\"x\"}" -H "Content-Encoding: $encoding"
        assert_error 415 VALIDATION_ERROR Content-Encoding
    done
    assert_untouched
    send text "{$who,\"text\":\"x\"}" -H 'Content-Encoding: identity'
    assert_success
}

@test "a chunked body is accepted" {
    send text "{$who,\"text\":\"chunked\"}" -H 'Transfer-Encoding: chunked'
    assert_success
    assert_sent "$up,\"type\":\"text\",\"text\":{\"body\":\"chunked\"}}"
}

# bats test_tags=direct
@test "JSON broken at any byte is 400 with line and column; nothing is sent or stored" {
    local before text n i first number=0
    text="{$who,\"text\":\"a\\u00e9\\n\\\"\",\"x\":[1.5e+3 , -0,{}],"
    first=${#text}
    text+=$'\n "y":{ "z" : [] }}'
    n=${#text}
    send text "$text"
    assert_success
    before=$(recorded)
    forget_sent
    new_batch
    for ((i = 0; i < n; i++)); do # cut at that byte, and that byte replaced by an invalid one
        printf '%s' "${text:0:i}" >"$batch/$((number + 1)).in"
        printf '%s\x01%s' "${text:0:i}" "${text:i+1}" >"$batch/$((number + 2)).in"
        if ((i <= first)); then
            printf '400 VALIDATION_ERROR line 1, column %s.\n' $((i + 1)) $((i + 1))
        else
            printf '400 VALIDATION_ERROR line 2, column %s.\n' $((i - first)) $((i - first))
        fi
        number=$((number + 2))
    done >"$batch/expected"
    send_bodies POST /v2/messages/send/text --as "$TOKEN"
    paste -d ' ' <(batch_lines status) <(batch_lines out | gojq -r '.error + " " + (.message | capture("(?<at>line .*)").at)') >"$batch/found"
    diff "$batch/expected" "$batch/found"
    assert_untouched
}

# Bodies that hold a JSON text as an unknown member, which is parsed like all others: one for each line of
# standard input, with printf's escapes.
member_bodies() {
    local text number=0
    new_batch
    while IFS= read -r text; do
        number=$((number + 1))
        { printf '{%s,"text":"x","y":' "$who"; printf '%b' "$text"; printf '}'; } >"$batch/$number.in"
    done
}

# bats test_tags=direct
@test "every valid JSON text is accepted (RFC 8259)" {
    local line texts=$BATS_TEST_TMPDIR/texts
    while IFS= read -r line; do
        printf '%s\n' "$line" " $line" "[$line]" "[ $line ,$line\\t]" "{\"a\":$line}" "\\r\\n{ \"\" : $line }\\r"
    done >"$texts" <<'END'
null
true
false
0
-0
1
-1
10
1.5
-0.0
0.0000000000000000000000000000001
1e1
1E+1
1e-01
0e0
0E+999999
1e400
-1e-400
12345678901234567890123456789012345678901234567890
1.000000000000000000000000000000000000000000000001
""
"a"
"\\\\\\"\\/\\b\\f\\n\\r\\t"
"\\u0041\\u00e9\\u20aC"
"\\ud83d\\ude00"
"\\ud83d"
"\\ude00\\ud83d"
"\\uFFFF\\ufffe\\u0000"
"\x7f"
"\xc2\x80\xdf\xbf\xe0\xa0\x80\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"
"\xe2\x80\xa8\xe2\x80\xa9\xef\xbb\xbf"
"/*"
"//"
[]
[[],[[]],{}]
{}
{"a":{"a":{"a":[]}}}
{"a":1,"a":2}
{"\\u0000":1,"\\ud800":2}
{"__proto__":{"x":1},"constructor":[]}
END
    member_bodies <"$texts"
    send_bodies POST /v2/messages/send/text --as "$TOKEN"
    assert_equal "$(batch_lines status | sort | uniq -c | sed 's/^ *//')" "$(wc -l <"$texts") 200"
    assert_sent "$up,\"type\":\"text\",\"text\":{\"body\":\"x\"}}"
}

# bats test_tags=direct
@test "every invalid JSON text is 400 (RFC 8259)" {
    local line before texts=$BATS_TEST_TMPDIR/texts
    before=$(recorded)
    while IFS= read -r line; do
        printf '%s\n' "$line" "[$line]" "[1,$line]" "{\"a\":$line}"
    done >"$texts" <<'END'
nul
nULL
True
truE
falsy
undefined
NaN
-NaN
Infinity
-Infinity
inf
+1
+0
01
-01
00
-
--1
1-
- 1
1.
-1.
.5
-.5
1.e1
1e
1e+
1E-
1eE2
1e1.5
1.2.3
0x1
0X1F
1_000
1 000
1a
1\xef\xbc\x91
\xef\xbc\x91
'a'
`a`
a
"
"a
a"
"a" "b"
"\\"
"\\a"
"\\x41"
"\\u"
"\\u12"
"\\u12G4"
"\\U0041"
"\\ud83d\\u"
"\\'"
"\\0"
"\\ "
"a\tb"
"a\nb"
"a\0b"
"\x1f"
"\x80"
"\xff"
"\xc3"
"\xc0\xaf"
"\xe0\x80\xaf"
"\xf0\x80\x80\xaf"
"\xed\xa0\x80"
"\xed\xbf\xbf"
"\xf4\x90\x80\x80"
"\xf8\x88\x80\x80\x80"
"\xe2\x82"
"\xe2\x28\xa1"
[
]
[1
[1,
[1,]
[,1]
[,]
[1,,2]
[1;2]
[1 2]
[1:2]
[1]]
(1)
[1}
{
{]
{"a"
{"a":
{"a":1
{"a":1,
{"a":1,}
{,"a":1}
{,}
{"a":1,,"b":2}
{"a"}
{"a",1}
{"a" 1}
{"a"::1}
{"a":1:2}
{"a":1;"b":2}
{"a":1 "b":2}
{a:1}
{'a':1}
{1:1}
{null:1}
{[]:1}
{"a":1]
{"a":}
{:1}
{"a":/**/1}
{"a":1}//
1//x
/*x*/1
#1
\x0c1
\xc2\xa01
\xe2\x80\xa81
\xef\xbb\xbf1
\x00
1\x00
\x1e1
<null>
&quot;
@
,
:
;
\\
END
    member_bodies <"$texts"
    send_bodies POST /v2/messages/send/text --as "$TOKEN"
    if batch_lines status | grep -vn '^400$' >"$BATS_TEST_TMPDIR/taken"; then
        while IFS=: read -r line _; do
            sed -n "${line}p" "$texts"
        done <"$BATS_TEST_TMPDIR/taken" >&2
        fail 'these texts were not refused'
    fi
    assert_equal "$(batch_lines out | gojq -r .error | sort | uniq -c | sed 's/^ *//')" \
        "$(wc -l <"$texts") VALIDATION_ERROR"
    assert_untouched
}

# bats test_tags=direct,long
@test "JSON in another encoding than UTF-8, or with other bytes before or after it, is 400" {
    local encoding before bytes file=$BATS_TEST_TMPDIR/around
    before=$(recorded)
    for encoding in UTF-16LE UTF-16BE UTF-32LE UTF-32BE UTF-16 UTF-32 EBCDIC-US; do
        printf '{%s,"text":"coffee"}' "$who" | iconv -t "$encoding" >"$file"
        send text "@$file"
        assert_error 400 VALIDATION_ERROR 'not valid JSON'
    done
    for bytes in '\xef\xbb\xbf@' '\xfe\xff@' '@\xef\xbb\xbf' '@\x1a' '@\0' '\0@' '@{}' '@@' '@,' ")]}'@" 'x=@' \
        'callback(@)' '\x1e@' '@;' "'@'" '@]' '[@'; do
        printf '%b' "${bytes//@/"{$who,\"text\":\"x\"}"}" >"$file"
        send text "@$file"
        assert_error 400 VALIDATION_ERROR 'not valid JSON'
    done
    assert_untouched
}

# bats test_tags=direct,long
@test "a JSON value that is not an object is 400" {
    local text before
    before=$(recorded)
    for text in '' ' ' null true 5 '"text"' '[]' "[{$who,\"text\":\"x\"}]"; do
        send text "$text"
        assert_error 400 VALIDATION_ERROR 'The body'
    done
    for text in "{$who,\"text\":\"x\"}{}" "{$who,\"text\":\"x\"}x" "{$who,\"text\":'x'}" "{$who,text:\"x\"}" \
        "{$who,\"text\":\"x\",}" "{$who,\"text\":\"x\",\"n\":01}" "{$who,\"text\":\"x\",\"n\":NaN}" \
        "{$who,\"text\":\"x\"/**/}" $'{"text":"a\tb"}' 'text=x&to=1'; do
        send text "$text"
        assert_error 400 VALIDATION_ERROR 'not valid JSON'
    done
    printf '\xef\xbb\xbf{%s,"text":"x"}' "$who" >"$BATS_TEST_TMPDIR/bom"
    send text "@$BATS_TEST_TMPDIR/bom"
    assert_error 400 VALIDATION_ERROR 'line 1, column 1'
    printf '{%s,"text":"x"}' "$who" | iconv -t UTF-16 >"$BATS_TEST_TMPDIR/utf16"
    send text "@$BATS_TEST_TMPDIR/utf16"
    assert_error 400 VALIDATION_ERROR 'line 1, column 1'
    printf '{%s,"text":"caf\xe9"}' "$who" >"$BATS_TEST_TMPDIR/latin1"
    send text "@$BATS_TEST_TMPDIR/latin1"
    assert_error 400 VALIDATION_ERROR 'UTF-8'
    printf '{%s,"text":"x"}\0' "$who" >"$BATS_TEST_TMPDIR/nul"
    send text "@$BATS_TEST_TMPDIR/nul"
    assert_error 400 VALIDATION_ERROR 'not valid JSON'
    assert_untouched
}

# bats test_tags=direct,long
@test "deep nesting and very many values are 400, never a crash" {
    local before deep
    printf -v deep '[%.0s' {1..127}
    send text "{$who,\"text\":\"x\",\"deep\":$deep${deep//\[/]}}"
    assert_success
    before=$(recorded)
    forget_sent
    send text "{$who,\"text\":\"x\",\"deep\":[$deep${deep//\[/]}]}"
    assert_error 400 VALIDATION_ERROR 'nested deeper than 128'
    head -c 2000000 /dev/zero | tr '\0' '[' >"$BATS_TEST_TMPDIR/brackets"
    send text "@$BATS_TEST_TMPDIR/brackets"
    assert_error 400 VALIDATION_ERROR 'nested deeper than 128'
    yes '{"a":[{"":' | head -n 100000 | tr -d '\n' >"$BATS_TEST_TMPDIR/both"
    send text "@$BATS_TEST_TMPDIR/both"
    assert_error 400 VALIDATION_ERROR 'nested deeper than 128'
    { printf '{"a":[0'; head -c 2097142 /dev/zero | sed 's/\x00\x00/,0/g'; printf ']}'; } >"$BATS_TEST_TMPDIR/values"
    send text "@$BATS_TEST_TMPDIR/values"
    assert_error 400 VALIDATION_ERROR 'more than 1000000 values'
    assert_untouched
}

# bats test_tags=direct,long
@test "strings and numbers are sent byte for byte" {
    local text number
    fault '{"times":0,"status":200,"body":"{\"messages\":[{\"id\":\"wamid.bytes\"}]}"}'
    for text in 'a\u0000b' '\/\"\\\b\f\n\r\t' '😀 é' '\ud83d\ude00\u00E9' '\ud83d' '\udc00\ud800' '\u2028' \
        '<script>&amp;%00${x}$(y)`z`' '  '; do
        send text "{$who,\"text\":\"$text\"}"
        assert_status 200
        assert_sent "$up,\"type\":\"text\",\"text\":{\"body\":\"$text\"}}"
    done
    for number in 9007199254740993 1e400 -1E-400 0.10 1.0 -0 123456789012345678901234567890 '"1e400"' '"\u0031"'; do
        send location "{$who,\"location\":{\"latitude\":$number,\"longitude\": $number }}"
        assert_status 200
        assert_sent "$up,\"type\":\"location\",\"location\":{\"latitude\":$number,\"longitude\":$number}}"
    done
}

# bats test_tags=direct
@test "of duplicate member names the last one counts, at every depth" {
    make_user OTHER_
    send text "{\"to\":\"1\",\"phoneNumberId\":\"$OTHER_LINE\",$who,\"text\":5,\"text\":\"last\",\"te\\u0078t\":\"very last\"}"
    assert_success
    assert_sent "$up,\"type\":\"text\",\"text\":{\"body\":\"very last\"}}"
    send text "{$who,\"text\":\"x\",\"phoneNumberId\":\"$OTHER_LINE\"}"
    assert_error 403 FORBIDDEN phoneNumberId
    send text "{$who,\"text\":\"x\",\"text\":5}"
    assert_issue text
    assert_equal "$(sent_count)" 1
}

# --- 7: answers of the platform ---

@test "the platform's answer is the data, byte for byte (spec 2.4)" {
    local answer=$BATS_TEST_TMPDIR/platform-answer
    printf '{ "messaging_product" : "whatsapp",\n\t"contacts":[{"input":"x","wa_id":"%s","n":9007199254740993,"f":1e400,"u":"\\u0000\\/\\ud83d\xf0\x9f\x98\x80"}],\r\n"messages":[{"id":"wamid.pass\\u002dthrough","message_status":"accepted","id2":1.10}],"messages2":[],"a":1,"a":2 }' "$to" >"$answer"
    fault "{\"status\":200,\"bodyBase64\":\"$(base64 -w 0 "$answer")\"}"
    send text "{$who,\"text\":\"x\"}"
    assert_status 200
    { printf '{"success":true,"data":'; cat "$answer"; printf '}'; } >"$BATS_TEST_TMPDIR/wanted"
    assert_body_is "@$BATS_TEST_TMPDIR/wanted"
    assert_equal "$(db "SELECT count(*) FROM message WHERE wamid = 'wamid.pass-through'")" 1
}

# The platform answers STATUS with TEXT (or the bytes of @FILE) as its body: answer_with STATUS TEXT [HEADERS]
answer_with() {
    printf '%s' "$2" >"$BATS_TEST_TMPDIR/upstream-body"
    [[ $2 != @* ]] || cp "${2#@}" "$BATS_TEST_TMPDIR/upstream-body"
    printf '{"status":%d,"bodyBase64":"%s"%s}' "$1" "$(base64 -w 0 "$BATS_TEST_TMPDIR/upstream-body")" \
        "${3:+,\"headers\":$3}" >"$BATS_TEST_TMPDIR/fault"
    sandbox POST faults "@$BATS_TEST_TMPDIR/fault" >/dev/null
}

# bats test_tags=direct,long
@test "401, 403 and 404 keep their status, other 4xx are 400, details are the platform's bytes (spec 7)" {
    local upstream expected code payload before
    before=$(recorded)
    payload=$'{"error": {"message":"(#7) Fix \\"it\\" \\ud83d\\ude00","type":"OAuthException","code":7,"n":9007199254740993,\n"error_data":{"details":"\\/"} } }'
    while read -r upstream expected code; do
        forget_sent
        answer_with "$upstream" "$payload"
        send text "{$who,\"text\":\"x\"}"
        assert_error "$expected" "$code"
        assert_body_is "{\"success\":false,\"error\":\"$code\",\"message\":\"(#7) Fix \\\"it\\\" 😀\",\"details\":$payload}"
        assert_conventions
        if [[ $expected == 401 ]]; then
            assert_header WWW-Authenticate
        else
            refute_header WWW-Authenticate
        fi
        assert_equal "$(sent_count)" 1
    done <<'END'
400 400 VALIDATION_ERROR
401 401 UNAUTHORIZED
402 400 VALIDATION_ERROR
403 403 FORBIDDEN
404 404 NOT_FOUND
405 400 VALIDATION_ERROR
409 400 VALIDATION_ERROR
410 400 VALIDATION_ERROR
413 400 VALIDATION_ERROR
422 400 VALIDATION_ERROR
429 400 VALIDATION_ERROR
451 400 VALIDATION_ERROR
500 502 INTERNAL_ERROR
501 502 INTERNAL_ERROR
502 502 INTERNAL_ERROR
503 502 INTERNAL_ERROR
504 502 INTERNAL_ERROR
END
    assert_equal "$(recorded)" "$before"
}

# bats test_tags=direct,long
@test "the platform's errors are passed on: token, permission, parameter, rate, outage (spec 7)" {
    local code expected error
    while read -r code expected error; do
        fault "{\"code\":$code}"
        send text "{$who,\"text\":\"x\"}"
        assert_error "$expected" "$error"
        assert_json .details.error.code "$code"
        assert_that '.message as $message | .details.error.message | inside($message)'
    done <<'END'
190 401 UNAUTHORIZED
10 403 FORBIDDEN
200 403 FORBIDDEN
131031 403 FORBIDDEN
100 400 VALIDATION_ERROR
131030 400 VALIDATION_ERROR
131047 400 VALIDATION_ERROR
131056 400 VALIDATION_ERROR
130429 400 VALIDATION_ERROR
131062 400 VALIDATION_ERROR
132001 404 NOT_FOUND
131000 502 INTERNAL_ERROR
131016 502 INTERNAL_ERROR
2 502 INTERNAL_ERROR
END
    send media "{$who,\"media\":{\"type\":\"image\",\"mediaId\":\"of-nobody\"}}"
    assert_error 400 VALIDATION_ERROR 'not a valid whatsapp business account media attachment ID'
    assert_json .details.error.code 100
    send text "{$who,\"text\":\"$(printf 'x%.0s' {1..4097})\"}"
    assert_error 400 VALIDATION_ERROR
}

# bats test_tags=long
@test "the message of a frequent error is the platform's, followed by what to do" {
    local code part count=0
    while read -r code part; do
        answer_with 400 "{\"error\":{\"message\":\"(#$code) Words \\u00e9\",\"code\":$code}}"
        send text "{$who,\"text\":\"x\"}"
        assert_error 400 VALIDATION_ERROR "$part"
        gojq -e --arg words "(#$code) Words é. " '.message | startswith($words)' "$body" >/dev/null || fail_answer "$code"
        assert_body_is "{\"success\":false,\"error\":\"VALIDATION_ERROR\",\"message\":$(jq -c .message "$body"),\"details\":{\"error\":{\"message\":\"(#$code) Words \\u00e9\",\"code\":$code}}}"
        count=$((count + 1))
    done <<'END'
190 switchboard account token
80007 wait
130429 messages per second
131026 country code
131047 POST /v2/templates/send
131051 another one
132000 number of parameters
132001 language
132012 type or format
133010 register
END
    assert_equal "$count" 10
    # texts with a full stop, a code as a string, a text longer than any message, and codes without a hint
    answer_with 400 '{"error":{"message":"It is over.","code":"131047"}}'
    send text "{$who,\"text\":\"x\"}"
    assert_that '.message | startswith("It is over. More than 24 hours")'
    answer_with 400 "{\"error\":{\"message\":\"$(printf 'é%.0s' {1..2000})\",\"code\":131047}}"
    send text "{$who,\"text\":\"x\"}"
    assert_that '.message | startswith("éééé") and endswith("(POST /v2/templates/send).") and (contains("\ufffd") | not)'
    for code in 131048 1310470 131047.5 null; do
        answer_with 400 "{\"error\":{\"message\":\"Words\",\"code\":$code}}"
        send text "{$who,\"text\":\"x\"}"
        assert_text .message Words
    done
}

# bats test_tags=long
@test "an error of the platform without content has a message of ours and no details (spec 2.1)" {
    local answer said
    for answer in null '{}' '[]' '""' ' { } ' $'[\n]' $'\r\n' ' '; do
        for said in 400 500; do
            answer_with "$said" "$answer"
            send text "{$who,\"text\":\"x\"}"
            assert_error "$([[ $said == 400 ]] && echo 400 || echo 502)" "$([[ $said == 400 ]] && echo VALIDATION_ERROR || echo INTERNAL_ERROR)" "answered $said"
            assert_that 'has("details") | not'
        done
    done
    for answer in '{"error":{"message":"","code":4}}' '{"error":{"message":" \n","code":4}}' \
        '{"error":{"message":null}}' '{"error":{"message":5}}' '{"error":{}}' '{"error":"no"}' '[{}]' 0 false; do
        answer_with 400 "$answer"
        send text "{$who,\"text\":\"x\"}"
        assert_error 400 VALIDATION_ERROR 'The platform answered 400.'
        assert_body_is "{\"success\":false,\"error\":\"VALIDATION_ERROR\",\"message\":\"The platform answered 400.\",\"details\":$answer}"
    done
    answer_with 400 '{"error":{"message":"","code":131047}}'
    send text "{$who,\"text\":\"x\"}"
    assert_error 400 VALIDATION_ERROR 'template message'
}

# bats test_tags=direct
@test "an expired platform token is the platform's 401 (spec 7)" {
    sandbox POST tokens "{\"token\":\"$PLATFORM_TOKEN\",\"state\":\"expired\"}" >/dev/null
    send text "{$who,\"text\":\"x\"}"
    sandbox POST tokens "{\"token\":\"$PLATFORM_TOKEN\",\"state\":\"valid\"}" >/dev/null
    assert_error 401 UNAUTHORIZED
    assert_json .details.error.code 190
    ! grep -F "$PLATFORM_TOKEN" "$body" || fail_answer 'the answer contains the platform token'
}

@test "the platform's Retry-After is copied (spec 7)" {
    local status
    for status in 400 429 503; do
        answer_with "$status" '{"error":{"message":"slow down","code":4}}' '{"Retry-After":"120"}'
        send text "{$who,\"text\":\"x\"}"
        assert_header Retry-After 120
    done
    answer_with 400 '{"error":{"message":"no","code":4}}'
    send text "{$who,\"text\":\"x\"}"
    refute_header Retry-After
}

# bats test_tags=direct
@test "an error that is not JSON is given as a truncated string" {
    answer_with 502 '<html><body>Bad "Gateway"</body></html>'
    send text "{$who,\"text\":\"x\"}"
    assert_error 502 INTERNAL_ERROR 'answered 502'
    assert_text .details '<html><body>Bad "Gateway"</body></html>'
    answer_with 400 'plain text'
    send text "{$who,\"text\":\"x\"}"
    assert_error 400 VALIDATION_ERROR 'answered 400'
    assert_text .details 'plain text'
    { head -c 1023 /dev/zero | tr '\0' x; printf '\xf0\x9f\x98\x80'; head -c 100000 /dev/zero | tr '\0' y; } >"$BATS_TEST_TMPDIR/page"
    answer_with 404 "@$BATS_TEST_TMPDIR/page"
    send text "{$who,\"text\":\"x\"}"
    assert_error 404 NOT_FOUND
    assert_that '.details | type == "string" and length < 1100 and startswith("xxx") and (contains("\ufffd") | not)'
    head -c 3000 /dev/urandom >"$BATS_TEST_TMPDIR/noise"
    answer_with 400 "@$BATS_TEST_TMPDIR/noise"
    send text "{$who,\"text\":\"x\"}"
    assert_error 400 VALIDATION_ERROR
    assert_that '.details | type == "string"'
    answer_with 401 ''
    send text "{$who,\"text\":\"x\"}"
    assert_error 401 UNAUTHORIZED 'answered 401'
    assert_that 'has("details") | not'
}

# bats test_tags=direct
@test "a redirect is not followed" {
    answer_with 302 '' "{\"Location\":\"$SANDBOX/v26.0/$LINE/messages\"}"
    send text "{$who,\"text\":\"x\"}"
    assert_error 502 INTERNAL_ERROR
    assert_equal "$(sent_count)" 1
}

# bats test_tags=direct,long
@test "a 200 that is not a send result is 502: the outcome is unknown (spec 7)" {
    local answer before
    before=$(recorded)
    for answer in '{}' '[]' 'null' '"sent"' '{"messages":[]}' '{"messages":{"id":5}}' '{"messages":[{"id":""}]}' '{"success":true}'; do
        forget_sent
        answer_with 200 "$answer"
        send text "{$who,\"text\":\"x\"}"
        assert_error 502 INTERNAL_ERROR 'not known'
        case $answer in
        '{}' | '[]' | null) assert_that 'has("details") | not' ;;
        *) assert_json .details "$answer" ;;
        esac
        assert_equal "$(sent_count)" 1
    done
    answer_with 200 ''
    send text "{$who,\"text\":\"x\"}"
    assert_error 502 INTERNAL_ERROR 'not known'
    answer_with 200 '{"messages":[{"id":"wamid.x"}]'
    send text "{$who,\"text\":\"x\"}"
    assert_error 502 INTERNAL_ERROR 'not known'
    assert_text .details '{"messages":[{"id":"wamid.x"}]'
    fault '{"kind":"garbage"}'
    send text "{$who,\"text\":\"x\"}"
    assert_error 502 INTERNAL_ERROR 'not known'
    assert_equal "$(recorded)" "$before"
}

# bats test_tags=long
@test "transport failures are 502 INTERNAL_ERROR, and a send is never repeated (spec 7)" {
    local failure before
    before=$(recorded)
    for failure in '{"kind":"reset"}' '{"kind":"reset_before","bytes":10}' '{"kind":"truncate","bytes":20}' \
        '{"kind":"close_mid_body","bytes":20}' '{"kind":"huge","bytes":17000000}'; do
        forget_sent
        # first a successful one, so that a FastCGI process has an open connection to lose
        send text "{$who,\"text\":\"x\"}"
        assert_success
        before=$(recorded)
        fault "$failure"
        send text "{$who,\"text\":\"x\"}"
        assert_error 502 INTERNAL_ERROR 'is not known'
        assert_that 'has("details") | not'
        assert_conventions
        assert_equal "$(sent_count)" 2
        assert_equal "$(recorded)" "$before"
    done
    send text "{$who,\"text\":\"x\"}"
    assert_success
}

# bats test_tags=long
@test "a large answer of less than 16 MB, and a slow one, are passed on" {
    local large=$BATS_TEST_TMPDIR/large-answer
    { printf '{"messages":[{"id":"wamid.large"}],"x":"'; head -c 3000000 /dev/zero | tr '\0' z; printf '"}'; } >"$large"
    answer_with 200 "@$large"
    send text "{$who,\"text\":\"x\"}"
    assert_success
    { printf '{"success":true,"data":'; cat "$large"; printf '}'; } >"$BATS_TEST_TMPDIR/wanted"
    assert_body_is "@$BATS_TEST_TMPDIR/wanted"
    fault '{"kind":"drip","ms":5}'
    send text "{$who,\"text\":\"x\"}"
    assert_success
    fault '{"kind":"delay","ms":500}'
    send text "{$who,\"text\":\"x\"}"
    assert_success
}

# bats test_tags=direct
@test "a platform that cannot be reached is 502 INTERNAL_ERROR (spec 7)" {
    write_config 'graph_base_url = http://127.0.0.1:1'
    send text "{$who,\"text\":\"x\"}"
    assert_error 502 INTERNAL_ERROR 'could not be reached'
    write_config 'graph_base_url = http://nowhere.invalid'
    send text "{$who,\"text\":\"x\"}"
    assert_error 502 INTERNAL_ERROR 'could not be reached'
    write_config
    send text "{$who,\"text\":\"x\"}"
    assert_success
}

# bats test_tags=direct
@test "the configured Graph version is in the path upstream" {
    write_config 'graph_version = v25.0'
    send text "{$who,\"text\":\"x\"}"
    write_config
    assert_success
    assert_equal "$(sandbox GET requests/last | gojq -r .path)" "/v25.0/$LINE/messages"
}

# --- Idempotency-Key ---

@test "repeated with the same Idempotency-Key and body, a send goes out once and is answered the same" {
    local key="key-$RANDOM$RANDOM" first count
    send text "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $key"
    assert_success
    refute_header Idempotent-Replayed
    cp "$body" "$BATS_TEST_TMPDIR/first"
    first=$(sent)
    count=$(recorded)
    for key in "$key" "\"$key\"" "$key "; do
        send text "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $key"
        assert_status 200
        assert_header Idempotent-Replayed true
        assert_header Content-Type 'application/json; charset=utf-8'
        assert_conventions
        assert_body_is "@$BATS_TEST_TMPDIR/first"
    done
    assert_equal "$(sent_count)" 1
    assert_equal "$(recorded)" "$count"
    # only sends with a key carry the id by which a status identifies them
    [[ $first == "$up,\"type\":\"text\",\"text\":{\"body\":\"x\"},\"biz_opaque_callback_data\":\"req_"*'"}' ]] || fail "upstream: $first"
    send text "{$who,\"text\":\"x\"}"
    assert_sent "$up,\"type\":\"text\",\"text\":{\"body\":\"x\"}}"
}

# bats test_tags=direct,long
@test "an Idempotency-Key with another body or route is 422, and keys of different users are independent" {
    local key="key-$RANDOM$RANDOM"
    send text "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $key"
    assert_success
    send text "{$who,\"text\":\"y\"}" -H "Idempotency-Key: $key"
    assert_error 422 VALIDATION_ERROR 'another body'
    send '' "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $key"
    assert_error 422 VALIDATION_ERROR 'another route, POST /v2/messages/send/text'
    api POST /v2/templates/send -d "{$who,\"templateName\":\"hello\"}" -H "Idempotency-Key: $key"
    assert_error 422 VALIDATION_ERROR 'another route, POST /v2/messages/send/text'
    printf x >"$BATS_TEST_TMPDIR/file"
    api POST /v2/media/upload -d "@$BATS_TEST_TMPDIR/file" -H 'Content-Type: image/png' \
        -H "X-Phone-Number-Id: $LINE" -H "Idempotency-Key: $key"
    assert_error 422 VALIDATION_ERROR 'another route, POST /v2/messages/send/text'
    assert_equal "$(sent_count)" 1
    assert_equal "$(db "SELECT route, status FROM idempotency WHERE key = '$key'")" 'POST /v2/messages/send/text|200'
    # the same while the first request is running
    db "UPDATE idempotency SET status = NULL, answer = NULL WHERE key = '$key'"
    send '' "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $key"
    assert_error 422 VALIDATION_ERROR 'another route'
    send text "{$who,\"text\":\"y\"}" -H "Idempotency-Key: $key"
    assert_error 422 VALIDATION_ERROR 'another body'
    send text "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $key"
    assert_error 409 VALIDATION_ERROR 'still running'
    make_user
    new_recipient
    send text "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $key"
    assert_success
    refute_header Idempotent-Replayed
    assert_equal "$(sent_count)" 2
}

@test "bodies under one Idempotency-Key may differ in white space between their tokens and in nothing else" {
    local key="key-$RANDOM$RANDOM" text place="\"latitude\":1.50,\"longitude\":\"2\",\"name\":\"a \\\\\\\" { b\""
    send location "{$who,\"location\":{$place}}" -H "Idempotency-Key: $key"
    assert_success
    cp "$body" "$BATS_TEST_TMPDIR/first"
    for text in "{ $who,\"location\":{$place}}" "  {$who ,\"location\" : { $place } }  " \
        $'{\r\n\t'"${who//,/$',\n  '}"$',\n  "location": {\n'"    ${place//,/$',\n\t'}"$'\n  }\n}\n'; do
        send location "$text" -H "Idempotency-Key: $key"
        assert_status 200
        assert_header Idempotent-Replayed true
        assert_body_is "@$BATS_TEST_TMPDIR/first"
    done
    for text in "{$who,\"location\":{${place/1.50/1.5}}}" "{$who,\"location\":{${place/1.50/15e-1}}}" \
        "{$who,\"location\":{${place/a /a}}}" "{$who,\"location\":{${place/name/n\\u0061me}}}" \
        "{\"location\":{$place},$who}" "{$who,\"location\":{$place,\"address\":\"c\"}}" \
        "{$who,\"location\":{$place},\"unknown\":1}" "{$who,\"location\":{$place},\"location\":{$place}}"; do
        send location "$text" -H "Idempotency-Key: $key"
        assert_error 422 VALIDATION_ERROR 'another body'
    done
    assert_equal "$(sent_count)" 1
}

@test "a key from before an upgrade keeps its answer for the same bytes, and other bytes are not sent" {
    local key="key-$RANDOM$RANDOM" text="{ $who, \"text\" : \"x\" }" hash
    send text "$text" -H "Idempotency-Key: $key"
    assert_success
    cp "$body" "$BATS_TEST_TMPDIR/first"
    # schema version 1 kept the hash of a body's bytes
    hash=$(printf '%s' "$text" | sha256sum)
    db "UPDATE idempotency SET fingerprint = x'${hash%% *}' WHERE key = '$key'"
    send text "$text" -H "Idempotency-Key: $key"
    assert_header Idempotent-Replayed true
    assert_body_is "@$BATS_TEST_TMPDIR/first"
    send text "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $key"
    assert_error 422 VALIDATION_ERROR 'another body'
    assert_equal "$(sent_count)" 1
}

# bats test_tags=direct
@test "a send uses up its Idempotency-Key only when it may have reached the platform" {
    local key="key-$RANDOM$RANDOM"
    send text "{$who,\"text\":\"\"}" -H "Idempotency-Key: $key"
    assert_error 400 VALIDATION_ERROR
    switchboard contact block "$LINE" "$to"
    send text "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $key"
    assert_error 403 FORBIDDEN blocked
    switchboard contact unblock "$LINE" "$to"
    write_config 'graph_base_url = http://127.0.0.1:1'
    send text "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $key"
    assert_error 502 INTERNAL_ERROR
    write_config
    answer_with 400 '{"error":{"message":"no","code":100}}'
    send text "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $key"
    assert_error 400 VALIDATION_ERROR no
    cp "$body" "$BATS_TEST_TMPDIR/first"
    send text "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $key"
    assert_status 400
    assert_header Idempotent-Replayed true
    assert_body_is "@$BATS_TEST_TMPDIR/first"
    key+=x
    fault '{"kind":"reset"}'
    send text "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $key"
    assert_error 502 INTERNAL_ERROR
    send text "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $key"
    assert_error 502 INTERNAL_ERROR
    assert_header Idempotent-Replayed true
    assert_equal "$(sent_count)" 2
}

@test "a send whose first request is running is 409 with Retry-After, one of unknown outcome 409 without" {
    local key="key-$RANDOM$RANDOM"
    begin_held send text "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $key"
    send text "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $key"
    assert_error 409 VALIDATION_ERROR 'still running'
    assert_json .details '{"outcome":"running"}'
    assert_header Retry-After 1
    end_held 200
    send text "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $key"
    assert_status 200
    assert_header Idempotent-Replayed true
    db "UPDATE idempotency SET status = NULL, answer = NULL, created_at = created_at - 3600000 WHERE key = '$key'"
    send text "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $key"
    assert_error 409 VALIDATION_ERROR
    assert_json .details '{"outcome":"unknown"}'
    refute_header Retry-After
    # the state after the clock was set back
    db "UPDATE idempotency SET created_at = created_at + 2 * 3600000 WHERE key = '$key'"
    send text "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $key"
    assert_json .details '{"outcome":"unknown"}'
    db "UPDATE idempotency SET created_at = created_at - 86400000 - 2 * 3600000 WHERE key = '$key'"
    send text "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $key"
    assert_success
    refute_header Idempotent-Replayed
}

# Starts a send under $key and sends half of BODY; end_slowly sends the rest: begin_slowly BODY
begin_slowly() {
    local half=$((${#1} / 2))
    slow=$BATS_TEST_TMPDIR/slow.$key
    slow_rest=${1:half}
    mkdir "$slow"
    if [[ $TRANSPORT == direct ]]; then
        mkfifo "$slow/in"
        (
            answer_dir=$slow
            send text "@$slow/in" -H "Content-Length: ${#1}" -H "Idempotency-Key: $key"
        ) 3>&- &
        exec {slow_input}>"$slow/in"
    else
        exec {slow_input}<>"/dev/tcp/127.0.0.1/${BASE##*:}"
        printf 'POST /v2/messages/send/text HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-API-Token: %s\r\nIdempotency-Key: %s\r\nContent-Type: application/json\r\nContent-Length: %s\r\n\r\n' \
            "$TOKEN" "$key" "${#1}" >&"$slow_input"
    fi
    printf '%s' "${1:0:half}" >&"$slow_input"
}

# Writes the answer to $slow/answer.
end_slowly() {
    printf '%s' "$slow_rest" >&"$slow_input"
    [[ $TRANSPORT == direct ]] || timeout 100 cat <&"$slow_input" >"$slow/answer"
    exec {slow_input}>&-
    wait
}

now_ms() {
    date +%s%3N
}

# bats test_tags=long
@test "a request whose body arrives slowly does not turn a running request into one of unknown outcome" {
    local key="key-$RANDOM$RANDOM" arrived
    begin_slowly "{$who,\"text\":\"x\"}"
    sleep 2
    arrived=$(now_ms)
    end_slowly
    grep -q '"success":true' "$slow/answer" || fail "$(cat "$slow/answer")"
    # a gateway on a server reads the server's clock, to within half of a round trip
    (($(db "SELECT created_at FROM idempotency WHERE key = '$key'") >= arrived - 1000)) ||
        fail 'created_at is before the arrival of the body'
    # a duplicate whose body began to arrive more than 60 s before the first request started
    mv "$slow" "$slow.first"
    begin_slowly "{$who,\"text\":\"x\"}"
    sleep 2
    db "UPDATE idempotency SET status = NULL, answer = NULL, created_at = $(now_ms) + 59000 WHERE key = '$key'"
    end_slowly
    grep -q '"outcome":"running"' "$slow/answer" || fail "$(cat "$slow/answer")"
    assert_equal "$(sent_count)" 1
}

@test "64 concurrent sends with one Idempotency-Key reach the platform once" {
    local key="key-$RANDOM$RANDOM"
    request_many 64 POST /v2/messages/send/text -d "{$who,\"text\":\"x\"}" --as "$TOKEN" -H "Idempotency-Key: $key"
    [[ $(statuses) =~ ^([0-9]+)\ 200($|$'\n'[0-9]+\ 409$) ]] || fail "$(statuses)"
    assert_equal "$(grep -h '"success":true' "$many"/*/body | sort -u | wc -l)" 1
    assert_equal "$(sent_count)" 1
}

# Makes the outcome of the send under $key unknown: lose_answer
lose_answer() {
    db "UPDATE idempotency SET status = NULL, answer = NULL,
        created_at = created_at - 3600000 WHERE key = '$key'"
}

# The state after a process that died between the platform's answer and the record: lose_record
lose_record() {
    db "PRAGMA foreign_keys = ON; DELETE FROM message WHERE wamid = '$wamid'; DELETE FROM thread WHERE contact_id IN
        (SELECT id FROM contact WHERE phone = '$to'); DELETE FROM contact_term WHERE contact_id IN
        (SELECT id FROM contact WHERE phone = '$to'); DELETE FROM contact WHERE phone = '$to'"
}

# bats test_tags=direct
@test "a send of unknown outcome is answered with success once a status of its message arrives" {
    local key="key-$RANDOM$RANDOM" wamid sent tracking
    send text "{$who,\"text\":\"x\",\"contextMessageWamid\":\"wamid.before\"}" -H "Idempotency-Key: $key"
    assert_success
    cp "$body" "$BATS_TEST_TMPDIR/first"
    wamid=$(gojq -r '.data.messages[0].id' "$body")
    sent=$(sent)
    tracking=$(gojq -r .biz_opaque_callback_data <<<"$sent")
    lose_answer
    lose_record
    send text "{$who,\"text\":\"x\",\"contextMessageWamid\":\"wamid.before\"}" -H "Idempotency-Key: $key"
    assert_error 409 VALIDATION_ERROR
    assert_json .details '{"outcome":"unknown"}'
    take "$(payload "$(status_of "$wamid" sent "\"recipient_id\":\"$to\",\"biz_opaque_callback_data\":\"$tracking\"")")"
    assert_equal "$(db "SELECT m.source, m.status, c.phone FROM message m JOIN thread t ON t.id = m.thread_id
        JOIN contact c ON c.id = t.contact_id WHERE wamid = '$wamid'")" "status|sent|$to"
    send text "{$who,\"text\":\"y\"}" -H "Idempotency-Key: $key"
    assert_error 422 VALIDATION_ERROR 'another body'
    for _ in 1 2; do
        send text "{$who,\"text\":\"x\",\"contextMessageWamid\":\"wamid.before\"}" -H "Idempotency-Key: $key"
        assert_status 200
        assert_header Idempotent-Replayed true
        assert_body_is "@$BATS_TEST_TMPDIR/first"
    done
    assert_equal "$(sent_count path=/messages)" 1
    # the record equals that of an undisturbed send
    assert_equal "$(db "SELECT m.source, m.type, m.status, m.context_wamid, c.phone, CAST(m.body AS TEXT) FROM message m
        JOIN thread t ON t.id = m.thread_id JOIN contact c ON c.id = t.contact_id WHERE wamid = '$wamid'")" \
        "api|text|sent|wamid.before|$to|$sent"
    assert_equal "$(db "SELECT count(*) FROM contact WHERE phone = '$to'")" 1
}

# bats test_tags=direct
@test "an answer that a status settles has the platform's spelling of the phone in wa_id" {
    local key="key-$RANDOM$RANDOM" wamid tracking
    send text "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $key"
    wamid=$(gojq -r '.data.messages[0].id' "$body")
    tracking=$(sent | gojq -r .biz_opaque_callback_data)
    lose_answer
    lose_record
    take "$(payload "$(status_of "$wamid" delivered "\"recipient_id\":\"9$to\",\"biz_opaque_callback_data\":\"$tracking\"")")"
    send text "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $key"
    assert_body_is "{\"success\":true,\"data\":{\"messaging_product\":\"whatsapp\",\"contacts\":[{\"input\":\"$to\",\"wa_id\":\"9$to\"}],\"messages\":[{\"id\":\"$wamid\"}]}}"
    # both spellings belong to the one contact
    assert_equal "$(db "SELECT count(*) FROM contact WHERE phone IN ('$to', '9$to')")" 1
    assert_equal "$(db "SELECT count(*) FROM contact_alias WHERE identity = '$to'")" 1
}

# bats test_tags=direct
@test "a send of unknown outcome to a BSUID is answered as the platform would have answered it" {
    local key="key-$RANDOM$RANDOM" wamid tracking bsuid=US.$RANDOM$RANDOM
    who="\"phoneNumberId\":\"$LINE\",\"recipient\":\"$bsuid\""
    send text "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $key"
    cp "$body" "$BATS_TEST_TMPDIR/first"
    wamid=$(gojq -r '.data.messages[0].id' "$body")
    tracking=$(sent | gojq -r .biz_opaque_callback_data)
    lose_answer
    take "$(payload "$(status_of "$wamid" delivered "\"recipient_user_id\":\"$bsuid\",\"biz_opaque_callback_data\":\"$tracking\"")")"
    send text "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $key"
    assert_header Idempotent-Replayed true
    assert_body_is "@$BATS_TEST_TMPDIR/first"
}

# bats test_tags=direct
@test "a status that proves success replaces a stored 502 and never a stored success" {
    local key="key-$RANDOM$RANDOM" wamid tracking
    send text "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $key"
    cp "$body" "$BATS_TEST_TMPDIR/first"
    wamid=$(gojq -r '.data.messages[0].id' "$body")
    tracking=$(sent | gojq -r .biz_opaque_callback_data)
    # a status does not change the answer of a send that succeeded
    take "$(payload "$(status_of wamid.other sent "\"recipient_id\":\"$to\",\"biz_opaque_callback_data\":\"$tracking\"")")"
    send text "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $key"
    assert_body_is "@$BATS_TEST_TMPDIR/first"
    key+=2
    fault '{"kind":"truncate"}'
    send text "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $key"
    assert_error 502 INTERNAL_ERROR
    tracking=$(sent | gojq -r .biz_opaque_callback_data)
    send text "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $key"
    assert_error 502 INTERNAL_ERROR
    # a status of another user's line is no proof
    (
        make_user STRANGER_
        WABA=$STRANGER_WABA LINE=$STRANGER_LINE
        take "$(payload "$(status_of wamid.strange sent "\"recipient_id\":\"$to\",\"biz_opaque_callback_data\":\"$tracking\"")")"
    )
    send text "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $key"
    assert_error 502 INTERNAL_ERROR
    take "$(payload "$(status_of wamid.told failed "\"recipient_id\":\"$to\",\"biz_opaque_callback_data\":\"$tracking\"")")"
    for _ in 1 2; do
        send text "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $key"
        assert_success
        assert_header Idempotent-Replayed true
        assert_text '.data.messages[0].id' wamid.told
    done
    assert_equal "$(db "SELECT source, status, CAST(body AS TEXT) LIKE '%$tracking%' FROM message WHERE wamid = 'wamid.told'")" 'api|failed|1'
}

# bats test_tags=direct
@test "an Idempotency-Key is 1 to 255 visible ASCII characters" {
    local key
    for key in '""' 'a b' '"a b"' "$(printf 'k%.0s' {1..256})" $'caf\xc3\xa9'; do
        send text "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $key"
        assert_error 400 VALIDATION_ERROR 'Idempotency-Key'
    done
    assert_nothing_sent
    send text "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $(printf 'k%.0s' {1..255})"
    assert_success
}

# --- transport ---

# bats test_tags=long
@test "other paths below /v2/messages are 404, with a token or without (spec 7)" {
    local path
    assert_no_other_paths /v2/messages/send/text
    for path in /v2/messages/send/ /v2/messages/send/unknown /v2/messages/send/interactive \
        /v2/messages/send/interactive/ /v2/messages/send/interactive/buttons /v2/messages/send/text/x \
        /v2/messages/send/Text /v2/messages/text '/v2/messages/send/te%20xt' '/v2/messages/send%3Ftext'; do
        api POST "$path" -d "{$who,\"text\":\"x\"}"
        assert_error 404 NOT_FOUND 'no such route'
        request POST "$path" -d "{$who,\"text\":\"x\"}"
        assert_error 404 NOT_FOUND 'no such route'
    done
    assert_nothing_sent
}

@test "a query is ignored" {
    api POST '/v2/messages/send/text?--help+-x' -d "{$who,\"text\":\"x\"}"
    assert_success
    api POST '/v2/messages/send/text?text=y&%zz' -d "{$who,\"text\":\"x\"}"
    assert_success
    assert_sent "$up,\"type\":\"text\",\"text\":{\"body\":\"x\"}}"
}

@test "X-Request-Id is taken from the request when it is harmless, else generated" {
    assert_request_ids POST /v2/messages/send/text -d "{$who,\"text\":\"x\"}" --as "$TOKEN"
    send text '{' -H 'X-Request-Id: of-a-failure'
    assert_header X-Request-Id of-a-failure
}

# The message ends with the request id, which is also in the header of the answer and in the log.
assert_names_request() {
    local id
    id=$(header X-Request-Id)
    gojq -e --arg last " (X-Request-Id: $id)" '.message | endswith($last)' "$body" >/dev/null ||
        fail_answer "expected the message to contain $id"
    log_of_request | gojq -e '.status >= 500 and (.error | contains("X-Request-Id") | not)'
}

@test "the message of a 5xx of ours contains the request id, a message of the platform is unchanged" {
    local key="key-$RANDOM$RANDOM" first
    mv "$STACK/secret.key" "$STACK/secret.away"
    send text "{$who,\"text\":\"x\"}" -H 'X-Request-Id: of-the-client'
    mv "$STACK/secret.away" "$STACK/secret.key"
    assert_error 500 INTERNAL_ERROR '(X-Request-Id: of-the-client)'
    assert_names_request
    fault '{"kind":"reset"}'
    send text "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $key"
    assert_error 502 INTERNAL_ERROR
    assert_names_request
    first=$(header X-Request-Id)
    send text "{$who,\"text\":\"x\"}" -H "Idempotency-Key: $key"
    assert_error 502 INTERNAL_ERROR "(X-Request-Id: $first)" # the log of that request has the cause
    answer_with 503 '{"error":{"message":"Service temporarily unavailable","code":2}}'
    send text "{$who,\"text\":\"x\"}"
    assert_status 502
    assert_text .message 'Service temporarily unavailable'
    send text '{'
    assert_status 400
    assert_that '.message | contains("X-Request-Id") | not'
}

# bats test_tags=direct
@test "Retry-After is set when nothing was sent and the request may be repeated" {
    write_config 'graph_base_url = http://127.0.0.1:1'
    send text "{$who,\"text\":\"x\"}"
    write_config
    assert_error 502 INTERNAL_ERROR
    assert_header Retry-After 5
    fault '{"kind":"reset"}'
    send text "{$who,\"text\":\"x\"}"
    assert_error 502 INTERNAL_ERROR
    refute_header Retry-After # it may have been sent
}

@test "the log contains user, line, route, status and cause, and no token, recipient or text" {
    local text="a-secret-text-$RANDOM" line user
    line=$(db "SELECT id FROM line WHERE phone_number_id = '$LINE'")
    user=$(db "SELECT user_id FROM account WHERE id = '$ACCOUNT'")
    send text "{$who,\"text\":\"$text\"}"
    assert_success
    log_of_request | gojq -e --arg user "$user" --arg line "$line" '.user == $user and .line == $line
        and .route == "/v2/messages/send/text" and .method == "POST" and .status == 200
        and .upstream_calls == 1 and .upstream_status == 200 and (.upstream_ms | type) == "number"
        and .bytes_in > 50 and .bytes_out > 50 and (has("error") | not)'
    answer_with 400 '{"error":{"message":"the reason","code":100}}'
    send text "{$who,\"text\":\"$text\"}"
    log_of_request | gojq -e '.status == 400 and .error == "the reason" and .upstream_status == 400'
    fault '{"kind":"reset"}'
    send text "{$who,\"text\":\"$text\"}"
    log_of_request | gojq -e '.status == 502 and .upstream_status == 0'
    send text "{$who,\"text\":5,\"$text\":1}"
    log_of_request | gojq -e '.status == 400 and .upstream_calls == null'
    send text "{$who,\"text\":\"$text}"
    assert_error 400 VALIDATION_ERROR
    assert_not_logged "$text" "$to" "$TOKEN" "$PLATFORM_TOKEN" test-app-secret "$(cut -d ' ' -f 2 "$STACK/secret.key")"
}

# Apache does not get that far: apache.bats.
# bats test_tags=direct
@test "a body shorter than its Content-Length is 400, and nothing is sent" {
    local before
    [[ $TRANSPORT == direct ]] || skip 'the web server does not pass it on'
    before=$(recorded)
    send text "{$who,\"text\":\"x\"}" -H 'Content-Length: 500'
    assert_error 400 VALIDATION_ERROR 'of the 500 bytes'
    assert_untouched
}

@test "a key file that is missing is 500 INTERNAL_ERROR, and nothing is sent" {
    mv "$STACK/secret.key" "$STACK/secret.away"
    send text "{$who,\"text\":\"x\"}"
    mv "$STACK/secret.away" "$STACK/secret.key"
    assert_error 500 INTERNAL_ERROR keys
    assert_nothing_sent
    send text "{$who,\"text\":\"x\"}"
    assert_success
}

@test "a platform that never answers is 502 after 30 seconds (spec 7)" {
    eventually test -e "$BATS_FILE_TMPDIR/hang/done"
    read -r status <"$BATS_FILE_TMPDIR/hang/done"
    headers=$BATS_FILE_TMPDIR/hang/headers body=$BATS_FILE_TMPDIR/hang/body
    assert_error 502 INTERNAL_ERROR 'is not known'
    assert_upstream_ms 30000
}
