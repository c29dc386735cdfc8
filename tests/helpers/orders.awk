# Prints payloads whose messages arrive in random orders, one payload per line. Variables: seed;
# contacts, rounds: how many; line, waba; first: with four digits, the number of a contact. Some
# rounds have several updates of a contact, and some none.
function text() { return "\"type\":\"text\",\"text\":{\"body\":\"x\"}" }
function change(field, value) {
    return "{\"field\":\"" field "\",\"value\":{\"messaging_product\":\"whatsapp\"," \
        "\"metadata\":{\"display_phone_number\":\"15550100001\",\"phone_number_id\":\"" line \
        "\"}," value "}}"
}
function ids(from, id, at) {
    return "\"from\":\"" from "\",\"id\":\"" id "\",\"timestamp\":\"" at "\","
}
function incoming(phone, id, at, content) {
    return change("messages", "\"contacts\":[{\"profile\":{\"name\":\"Ann\"},\"wa_id\":\"" phone \
        "\"}],\"messages\":[{" ids(phone, id, at) content "}]")
}
function outgoing(phone, id, at) {
    return "{" ids("15550100001", id, at) "\"to\":\"" phone "\"," text()
}
function echo(phone, id, at) {
    return change("smb_message_echoes", "\"message_echoes\":[" outgoing(phone, id, at) "}]")
}
function status(phone, id, state, at) {
    return change("messages", "\"statuses\":[{\"id\":\"" id "\",\"status\":\"" state \
        "\",\"timestamp\":\"" at "\",\"recipient_id\":\"" phone "\"}]")
}
function old(phone, id, at, is_out) {
    return change("history", "\"history\":[{\"metadata\":{\"phase\":0,\"chunk_order\":1," \
        "\"progress\":50},\"threads\":[{\"id\":\"" phone "\",\"messages\":[" \
        (is_out ? outgoing(phone, id, at) : "{" ids(phone, id, at) text()) \
        ",\"history_context\":{\"status\":\"READ\"}}]}]}]")
}
function some_time() { return 1780000000 + int(40 * rand()) }

# The updates of a contact, in a random order.
function updates(phone, list,    n, i, j, w, one) {
    w = "wamid." phone "."
    list[1] = incoming(phone, w "i1", 1780000010, text())
    list[2] = incoming(phone, w "i2", some_time(), text())
    list[3] = echo(phone, w "e1", some_time())
    list[4] = status(phone, w "e" int(1 + 2 * rand()), rand() < 0.5 ? "failed" : "delivered", \
        1780000040)
    list[5] = rand() < 0.5 ? echo(phone, w "e2", some_time()) : \
        incoming(phone, w "r1", 1780000039, \
            "\"type\":\"reaction\",\"reaction\":{\"message_id\":\"" w "i1\",\"emoji\":\"x\"}")
    list[6] = old(phone, w (rand() < 0.5 ? "i3" : "h1"), some_time(), rand() < 0.3)
    list[7] = incoming(phone, w "i3", some_time(), text())
    list[8] = status(phone, w "e1", rand() < 0.7 ? "failed" : "read", 1780000041)
    n = 8
    for (i = n; i > 1; i--) {
        j = int(1 + i * rand()); one = list[i]; list[i] = list[j]; list[j] = one
    }
    return n
}

BEGIN {
    srand(seed)
    for (c = 0; c < contacts; c++) {
        n = updates(first sprintf("%04d", c), list)
        for (i = 1; i <= n; i++) {
            round = int((i - 1) * rounds / n)
            if (rand() < 0.2 && round < rounds - 1)
                round++
            parts[round] = parts[round] (parts[round] ? "," : "") list[i]
        }
    }
    for (round = 0; round < rounds; round++)
        printf "{\"object\":\"whatsapp_business_account\",\"entry\":[{\"id\":\"%s\"," \
            "\"changes\":[%s]}]}\n", waba, parts[round]
}
