#!/usr/bin/env bats
# Threads, their messages, and one message by its wamid (doc/api/threads.md)
# shellcheck disable=SC2016,SC2153,SC2154  # $ is of jq; make_user sets variables
load helpers/all
load helpers/conventions
load helpers/webhook
load helpers/inbox
load helpers/members
load helpers/pages
load helpers/session

A=15550100001 B=15550100002 C=15550100003

@test "GET /v2/threads lists threads, latest message first, with line, contact and last message" {
    make_user
    writes wamid.a1 "$A" 1780000000 first Ann
    writes wamid.b1 "$B" 1780000200 second Bob
    writes wamid.a2 "$A" 1780000100 third Ann
    api GET /v2/threads
    assert_success
    assert_conventions
    assert_json '[.data.items[].contact.name]' '["Bob","Ann"]'
    assert_json .data.paging '{"cursors":{"after":null}}'
    assert_json .data.items[1].line \
        "$(db "SELECT json_object('id', id, 'phoneNumberId', phone_number_id, 'phoneNumber', phone_number, 'name', name, 'archivedAt', NULL)
            FROM line WHERE phone_number_id = '$LINE'")"
    assert_that ".data.items[1] | .id == \"$(thread_of "$A")\" and .unread == 2 and .isBlocked == false
        and .formerIds == [] and .lastMessageAt == \"2026-05-28T20:28:20.000Z\"
        and .windowEndsAt == \"2026-05-29T20:28:20.000Z\" and .lastMessage.wamid == \"wamid.a2\""
    assert_json .data.items[1].lastMessage.body "$(text wamid.a2 "$A" 1780000100 third)"
}

@test "a thread says since when its line is archived" {
    make_user
    writes wamid.archived "$A" 1780000000 first Ann
    make_line ''
    writes wamid.kept "$B" 1780000100 second Bob
    switchboard line archive "$LINE"
    api GET /v2/threads
    assert_that '.data.items | map(.line.archivedAt) | (.[0] | test("^20..-")) and .[1] == null'
}

@test "a thread without a message of the contact has windowEndsAt null" {
    make_user
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"+$A\",\"text\":\"Hi\"}"
    assert_success
    api GET "/v2/threads/$(thread_of "$A")"
    assert_success
    assert_that '.data | .windowEndsAt == null and .unread == 0 and .lastMessage.direction == "out"
        and .lastMessage.source == "api" and .lastMessage.body.text.body == "Hi"'
}

@test "the pages of the list have every thread once, in order" {
    local i wanted=''
    make_user
    for i in 1 2 3 4 5 6 7; do
        writes "wamid.p$i" "1555020000$i" $((1780000000 + i / 3))
    done
    wanted=$(db "SELECT id FROM thread WHERE user_id = (SELECT user_id FROM account WHERE id = '$ACCOUNT')
        ORDER BY last_message_at DESC, id DESC")
    assert_equal "$(all_rows '/v2/threads?limit=2' .id)" "$wanted"
    assert_equal "$(all_rows '/v2/threads?limit=7' .id)" "$wanted"
    assert_equal "$(all_rows '/v2/threads?limit=100&unread=true' .id)" "$wanted"
}

@test "lineId, unread and q select threads" {
    local first second
    make_user
    first=$LINE
    writes wamid.s1 "$A" 1780000000 x 'Zoë Müller'
    make_line '' && second=$LINE
    writes wamid.s2 "$A" 1780000001 x 'Zoë Müller'
    writes wamid.s3 "$B" 1780000002 x 'Bob Muller'
    LINE=$first
    api GET "/v2/threads?lineId=$(db "SELECT id FROM line WHERE phone_number_id = '$second'")"
    assert_json '[.data.items[].lastMessage.wamid]' '["wamid.s3","wamid.s2"]'
    api GET '/v2/threads?q=zoe+mull'
    assert_json '[.data.items[].lastMessage.wamid] | sort' '["wamid.s1","wamid.s2"]'
    api GET '/v2/threads?q=MULLER&limit=1'
    assert_that '.data.paging.cursors.after != null'
    assert_equal "$(all_rows '/v2/threads?q=MULLER&limit=1' .lastMessage.wamid | sort | xargs)" \
        'wamid.s1 wamid.s2 wamid.s3'
    api GET '/v2/threads?q=%2B1+(555)+010-0002'
    assert_json '[.data.items[].lastMessage.wamid]' '["wamid.s3"]'
    api POST "/v2/threads/$(thread_of "$A")/read" -d '{}'
    assert_success
    api GET '/v2/threads?unread=true&q=zoe'
    assert_json '[.data.items[].lastMessage.wamid]' '["wamid.s2"]'
    api GET "/v2/threads?unread=true&lineId=$(db "SELECT id FROM line WHERE phone_number_id = '$first'")"
    assert_json .data.items '[]'
    api GET '/v2/threads?q=%F0%9F%8C%B8'
    assert_json .data.items '[]'
}

# bats test_tags=long
@test "assignee selects the threads of a member, the own ones or those of none, also with other conditions" {
    local i thread
    make_user
    has_member Ana agent
    has_member Ben agent
    for i in 1 2 3 4 5 6; do
        writes "wamid.o$i" "1555010070$i" $((1780000000 + i)) x "Person$i Smith"
        thread=$(thread_of "1555010070$i")
        case $i in
        1 | 2 | 3) db "UPDATE thread SET assignee_id = '$ANA_ID' WHERE id = '$thread'" ;;
        4) db "UPDATE thread SET assignee_id = '$BEN_ID' WHERE id = '$thread'" ;;
        esac
    done
    api POST "/v2/threads/$(thread_of 15550100702)/read" -d '{}'
    api POST "/v2/threads/$(thread_of 15550100703)/done" -d '{"change":1000}'
    found() { # QUERY WAMID...
        request GET "/v2/threads?$1" --session "$ANA_SESSION"
        assert_success
        assert_equal "$(value '[.data.items[].lastMessage.wamid | sub("wamid.o"; "")] | join(" ")')" "$2"
    }
    found assignee=me '3 2 1'
    found "assignee=$ANA_ID" '3 2 1'
    found "assignee=$BEN_ID" 4
    found assignee=none '6 5'
    found assignee=mbr_none ''
    found 'assignee=me&unread=true' '3 1'
    found 'assignee=none&unread=true' '6 5'
    found 'assignee=me&waiting=true' '1 2'
    found 'assignee=none&waiting=true' '5 6'
    found 'assignee=me&failed=true' ''
    found 'assignee=me&q=person2' 2
    found 'assignee=none&q=person2' ''
    found "assignee=me&lineId=$(db "SELECT id FROM line WHERE phone_number_id = '$LINE'")" '3 2 1'
    assert_equal "$(all_rows '/v2/threads?assignee=none&limit=1' .lastMessage.wamid | xargs)" 'wamid.o6 wamid.o5'
    assert_equal "$(all_rows "/v2/threads?assignee=$ANA_ID&limit=2" .lastMessage.wamid | xargs)" \
        'wamid.o3 wamid.o2 wamid.o1'
    api GET '/v2/threads?assignee=me'
    assert_error 400 VALIDATION_ERROR assignee
    request GET '/v2/threads?assignee=other' --session "$ANA_SESSION"
    assert_error 400 VALIDATION_ERROR assignee
}

# bats test_tags=long
@test "the messages of a thread are newest first, and both cursors lead through all of them" {
    local i thread cursor
    make_user
    for i in 1 2 3 4 5 6 7; do
        writes "wamid.m$i" "$A" $((1780000000 + i / 2))
    done
    thread=$(thread_of "$A")
    api GET "/v2/threads/$thread/messages?limit=3"
    assert_json '[.data.items[].wamid]' '["wamid.m7","wamid.m6","wamid.m5"]'
    cursor=$(value .data.paging.cursors.after)
    api GET "/v2/threads/$thread/messages?limit=3&before=$(value .data.paging.cursors.before)"
    assert_json '[.data.items[].wamid]' '["wamid.m4","wamid.m3","wamid.m2"]'
    api GET "/v2/threads/$thread/messages?limit=3&before=$(value .data.paging.cursors.before)"
    assert_json '[.data.items[].wamid]' '["wamid.m1"]'
    assert_json .data.paging.cursors.before null
    writes wamid.m8 "$A" 1780000009
    writes wamid.m9 "$A" 1780000010
    api GET "/v2/threads/$thread/messages?limit=1&after=$cursor"
    assert_json '[.data.items[].wamid]' '["wamid.m8"]'
    api GET "/v2/threads/$thread/messages?limit=5&after=$(value .data.paging.cursors.after)"
    assert_json '[.data.items[].wamid]' '["wamid.m9"]'
    api GET "/v2/threads/$thread/messages?after=$(value .data.paging.cursors.after)"
    assert_json .data.items '[]'
}

@test "changedAfter lists new messages and messages with new statuses, in the order of their changes" {
    local thread seen
    make_user
    writes wamid.c1 "$A" 1780000000
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"+$A\",\"text\":\"Hi\"}"
    local sent
    sent=$(value '.data.messages[0].id')
    thread=$(thread_of "$A")
    api GET "/v2/threads/$thread"
    seen=$(value .data.change)
    api GET "/v2/threads/$thread/messages?changedAfter=$seen"
    assert_json .data.items '[]'
    writes wamid.c2 "$A" 1780000010
    take "$(payload "$(status_of "$sent" delivered "\"recipient_id\":\"$A\"")")"
    api GET "/v2/threads/$thread/messages?changedAfter=$seen&limit=1"
    assert_json '[.data.items[].wamid]' '["wamid.c2"]'
    api GET "/v2/threads/$thread/messages?changedAfter=$seen&after=$(value .data.paging.cursors.after)"
    assert_json '[.data.items[] | .wamid, .status]' "[\"$sent\",\"delivered\"]"
    assert_json .data.paging.cursors.after null
    assert_that ".data.items[0].change > $seen"
}

@test "GET /v2/messages/:wamid has the message, its statuses by time and the platform's error" {
    local sent id
    make_user
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"+$A\",\"text\":\"Hi\"}"
    sent=$(value '.data.messages[0].id')
    id=$(db "SELECT id FROM message WHERE wamid = '$sent'")
    take "$(payload "$(status_of "$sent" sent "\"recipient_id\":\"$A\"")")"
    take "$(payload "$(status_of "$sent" failed "\"recipient_id\":\"$A\",\"errors\":[{\"code\":131026,\"title\":\"Undeliverable\"}]")")"
    api GET "/v2/messages/${sent//\//_}"
    assert_success
    assert_conventions
    assert_that ".data | .id == \"$id\" and .status == \"failed\" and (.statuses | map(.status) | sort) == [\"failed\",\"sent\"]"
    assert_json .data.error '[{"code":131026,"title":"Undeliverable"}]'
    assert_that ".data.statuses[0] | .recipient == \"$A\" and .timestamp == \"2026-05-28T20:28:20.000Z\" and (.body.id == \"$sent\")"
    api GET "/v2/messages/$id"
    assert_that ".data.wamid == \"$sent\""
}

@test "in a wamid of a path, _ stands for / and - for +" {
    make_user
    writes 'wamid.HBg+a/b==' "$A" 1780000000
    api GET '/v2/messages/wamid.HBg-a_b=='
    assert_success
    assert_json .data.wamid '"wamid.HBg+a/b=="'
    api GET '/v2/messages/wamid.HBg%2Ba_b%3D%3D'
    assert_json .data.wamid '"wamid.HBg+a/b=="'
}

@test "a message of another user is 404 by its id too" {
    make_user OTHER_
    make_user
    writes wamid.private "$A" 1780000000
    request GET "/v2/messages/$(db "SELECT id FROM message WHERE wamid = 'wamid.private'")" --as "$OTHER_TOKEN"
    assert_error 404 NOT_FOUND
}

@test "the threads of another user's line are 404, and are not found" {
    local line
    make_user OTHER_
    make_user
    writes wamid.f1 "$A" 1780000000
    line=$(db "SELECT id FROM line WHERE phone_number_id = '$LINE'")
    api GET "/v2/threads?lineId=$line"
    assert_success
    request GET "/v2/threads?lineId=$line" --as "$OTHER_TOKEN"
    assert_error 404 NOT_FOUND
    request GET '/v2/threads?q=ann' --as "$OTHER_TOKEN"
    assert_json .data.items '[]'
}

# bats test_tags=long
@test "what is no cursor of the list is 400" {
    local thread threads messages found changed place foreign empty
    foreign=$(printf 'threads\n1\n\377' | base64 | tr -d =) # no UTF-8
    empty=$(printf 'threads\n1\n\n' | base64 | tr -d =)     # a last part without text
    make_user
    writes wamid.k1 "$A" 1780000000
    writes wamid.k2 "$A" 1780000001
    writes wamid.k3 "$B" 1780000002
    thread=$(thread_of "$A")
    api GET '/v2/threads?limit=1' && threads=$(value .data.paging.cursors.after)
    api GET '/v2/threads?limit=1&q=ann' && found=$(value .data.paging.cursors.after)
    api GET "/v2/threads/$thread/messages?limit=1" && messages=$(value .data.paging.cursors.before)
    api GET "/v2/threads/$thread/messages?limit=1&changedAfter=0" && changed=$(value .data.paging.cursors.after)
    for place in "/v2/threads?after="{x,'%00',====,AAAA,"$found","$messages","${threads}A","${threads:1}","$foreign","$empty"} \
        "/v2/threads?q=ann&after="{"$threads",x} "/v2/threads/$thread/messages?"{before,after}={x,"$threads","$changed"} \
        "/v2/threads/$thread/messages?changedAfter=0&"{after="$messages",before="$messages"}; do
        api GET "$place"
        assert_error 400 VALIDATION_ERROR
        assert_conventions
    done
    # the account of a search's cursor must be the caller's
    make_user
    api GET "/v2/threads?q=ann&after=$found"
    assert_error 400 VALIDATION_ERROR
    assert_json '[.details[] | .path, .code]' '["after","invalid_value"]'
}

@test "texts and names of any characters come through as JSON strings" {
    local long markup='<img src=x onerror=alert(1)>&"' rtl=$'\u202eevil\u202c \u200f'
    make_user
    printf -v long '%4096s' ''
    long=${long// /é}
    writes wamid.t1 "$A" 1779999998 "$markup$rtl" "$rtl$markup"
    writes wamid.t2 "$A" 1779999999 "$long"
    take "$(payload "$(inbound wamid.t3 "$A" '' '"type":"text","text":{"body":"a\u0000b\/ 9007199254740993"}' \
        "$(card "$A" '' "\"profile\":{\"name\":$(jq -cn --arg n "$rtl$markup" '$n')}")")")"
    api GET "/v2/threads/$(thread_of "$A")/messages"
    assert_success
    assert_equal "$(value '.data.items[] | select(.wamid == "wamid.t1").body.text.body')" "$markup$rtl"
    assert_equal "$(value '.data.items[] | select(.wamid == "wamid.t2").body.text.body')" "$long"
    grep -qF '"body":"a\u0000b\/ 9007199254740993"' "$body" || fail_answer 'expected the bytes of the platform'
    api GET "/v2/threads/$(thread_of "$A")"
    assert_equal "$(value .data.contact.name)" "$rtl$markup"
    grep -qF '\u202e' "$body" || grep -qF $'\u202e' "$body"
}

@test "a thread whose contact is merged into another one is found by its former id" {
    local old new
    make_user
    take "$(payload "$(inbound wamid.g1 "$P1" '')")"
    take "$(payload "$(change messages "\"messages\":[$(message wamid.g2 '' "$B1")]")")"
    old=$(db "SELECT t.id FROM thread t JOIN message m ON m.thread_id = t.id WHERE m.wamid = 'wamid.g2'")
    new=$(db "SELECT t.id FROM thread t JOIN message m ON m.thread_id = t.id WHERE m.wamid = 'wamid.g1'")
    [[ $old != "$new" ]]
    take "$(payload "$(inbound wamid.g3 "$P1" "$B1")")"
    api GET "/v2/threads/$old"
    assert_success
    assert_that ".data | .id == \"$new\" and .formerIds == [\"$old\"] and .unread == 3"
    api GET "/v2/threads/$old/messages"
    assert_json '[.data.items[].wamid] | sort' '["wamid.g1","wamid.g2","wamid.g3"]'
    assert_json '[.data.items[].threadId] | unique' "[\"$new\"]"
    api GET /v2/threads
    assert_json '[.data.items[].id]' "[\"$new\"]"
}

@test "incoming messages are unread; reactions, echoes and the history of the app are not" {
    make_user
    writes wamid.u1 "$A" 1780000000
    writes wamid.u1 "$A" 1780000000
    take "$(payload "$(inbound wamid.u2 "$A" '' '"type":"reaction","reaction":{"message_id":"wamid.u1","emoji":"x"}')")"
    take "$(payload "$(change smb_message_echoes "\"message_echoes\":[{\"from\":\"$LINE\",\"to\":\"$A\",\"id\":\"wamid.u3\",\"timestamp\":\"1780000003\",\"type\":\"text\",\"text\":{\"body\":\"me\"}}]")")"
    take "$(payload "$(change history "\"history\":[{\"threads\":[{\"id\":\"$C\",\"messages\":[{\"from\":\"$C\",\"id\":\"wamid.u4\",\"timestamp\":\"1770000000\",\"type\":\"text\",\"text\":{\"body\":\"old\"},\"history_context\":{\"status\":\"READ\"}}]}]}]")")"
    api GET "/v2/threads/$(thread_of "$A")"
    assert_json .data.unread 1
    api GET "/v2/threads/$(thread_of "$C")"
    assert_that '.data | .unread == 0 and .lastMessage.source == "history" and .windowEndsAt != null'
}
