# shellcheck shell=bash disable=SC2016,SC2034,SC2154
# A person with all that the database can hold, for erasure and export: `load helpers/person` after
# helpers/inbox.

A=16467043595 OTHER=16467043590 USER_ID=US.13491208655302741918
WORDS='Quetzalcoatl lives here'
NOW=$(date +%s)

# The id of a message with the phone in it, as the platform makes it: wamid_of PHONE NUMBER
wamid_of() {
    printf 'wamid.%s' "$(printf '\034\030\013%s\025\002\000\022\030\024%020d' "$1" "$2" | base64 -w0)"
}

user_id() {
    db "SELECT user_id FROM account WHERE id = '$ACCOUNT'"
}

adds_note() { # THREAD TEXT
    api POST "/v2/threads/$1/notes" -d "{\"text\":\"$2\"}"
    assert_success
}

# A person with all that the database can hold, and another one whose number differs in one digit.
make_person() {
    local user
    make_user
    user=$(user_id)
    make_webhook
    db "UPDATE webhook SET event_types = 'message.received lead.created message.status contact.erased' WHERE user_id = '$user'"
    db "INSERT INTO webhook (id, user_id, kind, url, code, fields, splits_messages, created_at, updated_at)
        SELECT 'whk_all' || id, user_id, 'forward', 'http://127.0.0.1:9/all', code, '*', 0, 1, 1
        FROM webhook WHERE user_id = '$user'"
    first=$(payload "$(change messages "\"contacts\":[$(card $A $USER_ID '"profile":{"name":"Xochitl Erased"}')],
        \"messages\":[{\"from\":\"$A\",\"from_user_id\":\"$USER_ID\",\"id\":\"$(wamid_of $A 1)\",\"timestamp\":\"$NOW\",
        \"type\":\"text\",\"text\":{\"body\":\"$WORDS\"}}]")")
    system=$(payload "$(change user_preferences "\"user_preferences\":[{\"wa_id\":\"$A\",\"detail\":\"x\",
        \"category\":\"marketing_messages\",\"value\":\"stop\",\"timestamp\":$NOW}]")")
    contact='' && take "$first"
    take "$system"
    take "$(payload "$(account_change unknown_field "{\"about\":\"$(wamid_of $A 1)\"}")")"
    writes "$(wamid_of $OTHER 1)" $OTHER "$NOW" 'Hello from another' Stays
    contact=$(contact_of $A)
    api POST /v2/messages/send/text -H 'Idempotency-Key: key-of-a-send' \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"$A\",\"text\":\"$WORDS too\"}"
    assert_success
    sent=$(value '.data.messages[0].id')
    late=$(payload "$(status_of "$(wamid_of $A 1)" read "\"recipient_id\":\"$A\"")")
    take "$(payload "$(status_of "$sent" delivered "\"recipient_id\":\"$A\"")")"
    db "INSERT INTO flow_token (account_id, token, flow_id) VALUES ('$ACCOUNT', 'for-$A', '1')"
    adds_note "$(thread_of $A)" "$WORDS, says a note"
    adds_note "$(thread_of $OTHER)" "A friend of +$A"
    adds_note "$(thread_of $OTHER)" "A friend of $OTHER"
    db 'DELETE FROM webhook_refusal'
    db "INSERT INTO webhook_refusal (id, hash, reason, size, count, first_at, last_at, body)
        SELECT 'ref_' || p.id, p.hash, 'x', 1, 1, 1, 1, p.body FROM platform_post p"
}
