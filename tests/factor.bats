#!/usr/bin/env bats
# The second factor of members (doc/api/factor.md, spec 5.8)
# shellcheck disable=SC2153,SC2154  # make_user and the helpers set variables
load helpers/all
load helpers/conventions
load helpers/session
load helpers/factor
load helpers/members

setup_file() {
    start_stack
    make_user
    set_password ''
}

setup() {
    db 'DELETE FROM login_failure; DELETE FROM pending_login; DELETE FROM session;
        DELETE FROM recovery_code; DELETE FROM factor; UPDATE user SET requires_factor = 0'
    make_session ''
}

# The second step with the code after CODE, in two groups; for in_time.
give_next_code() {
    end_login "{\"code\":\"$(totp_of "$SECRET" $((STEP + 1)) | sed 's/.../& /')\"}"
    ((status == 200))
}

# The second steps of the logins of `cookies` at the same time with CODE; for in_time. Prints
# nothing; sets STATUSES.
give_code_often() {
    local i many=$BATS_TEST_TMPDIR/many
    for i in "${!cookies[@]}"; do
        mkdir -p "$many/$i"
        (
            answer_dir=$many/$i
            as_pending "${cookies[i]}"
            request POST /v2/factor/login -d "{\"code\":\"$CODE\"}" "${pending[@]}"
            printf '%s\n' "$status" >"$answer_dir/status"
        ) 3>&- &
    done
    wait
    STATUSES=$(cat "$many"/*/status | sort | xargs)
    [[ $STATUSES == *200* ]]
}

session_count() {
    db 'SELECT count(*) FROM session'
}

# bats test_tags=long
@test "a factor is asked for once it is confirmed, and the login then has two steps" {
    local other=$SESSION
    make_session ''
    request GET /v2/factor --session "$SESSION"
    assert_json .data '{"isSet":false,"isRequired":false,"createdAt":null,"recoveryCodes":0}'
    begin_factor "$SESSION"
    assert_success
    assert_conventions
    [[ $SECRET =~ ^[A-Z2-7]{32}$ ]]
    assert_text .data.uri \
        "otpauth://totp/Switchboard:${EMAIL/@/%40}?secret=$SECRET&issuer=Switchboard"
    request POST /v2/session -d "{\"email\":\"$EMAIL\",\"password\":\"$PASSWORD\"}"
    assert_that '.data.factor == {isSet: false, isRequired: false}'
    have_factor "$SESSION"
    assert_success
    assert_conventions
    ((${#CODES[@]} == 10))
    [[ ${CODES[0]} =~ ^([A-Z2-7]{6}-){3}[A-Z2-7]{6}$ ]]
    assert_equal "$(session_count)" 1 # the others have ended
    request GET /v2/session --session "$other"
    assert_status 401
    begin_login
    assert_json .data '{"needs":"factor"}'
    assert_conventions
    assert_header Set-Cookie \
        "__Host-switchboard-login=$PENDING; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=300"
    forget_steps
    in_time give_code
    assert_json .data '{"loggedIn":true}'
    assert_conventions
    [[ $(header Set-Cookie) =~ ^__Host-switchboard=([0-9a-f]{64})\; ]]
    keep_secret session "${BASH_REMATCH[1]}"
    request GET /v2/session --session "${BASH_REMATCH[1]}"
    assert_that '.data.factor.isSet'
    assert_equal "$(db 'SELECT count(*) FROM pending_login')" 0
    assert_equal 0 "$(db "SELECT count(*) FROM factor
        WHERE hex(secret) LIKE '%' || hex('$SECRET') || '%'")"
    assert_equal "$(db "SELECT action FROM trail WHERE action LIKE 'factor.%'
        OR action LIKE 'session.%' ORDER BY id DESC LIMIT 2")" \
        $'session.create\nsession.begin'
}

@test "the cookie of a login that waits is no session on any route" {
    have_factor "$SESSION"
    begin_login
    as_pending "$PENDING"
    request GET /v2/session "${pending[@]}"
    assert_status 401
    request GET /v2/session --session "$PENDING"
    assert_status 401
    request GET /v2/threads --session "$PENDING"
    assert_status 401
    request DELETE /v2/factor --session "$PENDING"
    assert_status 401
    request POST /v2/factor/login -d '{"code":"000000"}' \
        -H "Cookie: __Host-switchboard-login=$PENDING"
    assert_error 401 UNAUTHORIZED 'has ended'
    request POST /v2/factor/login -d "{\"code\":\"$(totp_of "$SECRET" "$(present_step)")\"}" \
        --session "$SESSION"
    assert_error 401 UNAUTHORIZED 'has ended'
    assert_equal "$(session_count)" 1
}

@test "each code counts once, with its neighbours, and not after a later one" {
    have_factor "$SESSION"
    begin_login
    end_login "{\"code\":\"$(totp_of "$SECRET" "$USED")\"}" # that of the set-up
    assert_error 401 UNAUTHORIZED 'used already'
    forget_steps
    in_time give_next_code
    assert_success
    begin_login
    end_login "{\"code\":\"$CODE\"}" # older than the used one
    assert_error 401 UNAUTHORIZED
    end_login "{\"code\":\"$(totp_of "$SECRET" $((STEP + 500)))\"}"
    assert_error 401 UNAUTHORIZED
    end_login "{\"code\":\"$(totp_of "$SECRET" $((STEP - 4)))\"}"
    assert_error 401 UNAUTHORIZED
    end_login '{"recoveryCode":"'"${CODES[0],,}"'"}'
    assert_success
}

@test "of logins at the same time with one code exactly one passes" {
    local i cookies=()
    have_factor "$SESSION"
    for i in 1 2 3 4; do
        begin_login
        cookies+=("$PENDING")
    done
    forget_steps
    in_time give_code_often
    assert_equal "$STATUSES" '200 401 401 401'
    assert_equal "$(session_count)" 2
}

@test "a recovery code counts once, also at the same time, and new ones replace the others" {
    local i
    have_factor "$SESSION"
    begin_login
    as_pending "$PENDING"
    request_many 8 POST /v2/factor/login -d "{\"recoveryCode\":\"${CODES[0]}\"}" "${pending[@]}"
    assert_equal "$(grep -l '^200$' "$many"/*/status | wc -l)" 1
    assert_equal "$(session_count)" 2
    db 'DELETE FROM login_failure'
    begin_login
    end_login "{\"recoveryCode\":\"${CODES[0]}\"}"
    assert_error 401 UNAUTHORIZED
    request GET /v2/factor --session "$SESSION"
    assert_json .data.recoveryCodes 9
    request POST /v2/factor/codes -d '{}' --session "$SESSION"
    assert_success
    assert_conventions
    end_login "{\"recoveryCode\":\"${CODES[1]}\"}"
    assert_error 401 UNAUTHORIZED
    request GET /v2/factor --session "$SESSION"
    assert_json .data.recoveryCodes 10
    ! database_dump | grep -F -e "${CODES[2]}" -e "$SECRET" || fail 'the database holds a code'
}

@test "wrong codes block the second step as wrong passwords do, and not the password or a known browser" {
    local i
    have_factor "$SESSION"
    db "DELETE FROM trail"
    begin_login
    for i in 1 2 3 4 5; do
        end_login '{"code":"000000"}'
        assert_error 401 UNAUTHORIZED
    done
    begin_login
    assert_json .data '{"needs":"factor"}'
    end_login "{\"recoveryCode\":\"${CODES[0]}\"}"
    assert_error 429 RATE_LIMITED
    [[ $(header Retry-After) =~ ^[1-9][0-9]?$ ]]
    assert_equal 0 "$(db 'SELECT failures FROM pending_login')" # it was not looked at
    db "INSERT INTO login_device SELECT id, $(hash_of known-browser), 9999999999999
        FROM member WHERE email = '$EMAIL'"
    as_pending "$PENDING"
    pending[1]="Cookie: __Host-switchboard-login=$PENDING; __Host-switchboard-device=known-browser"
    request POST /v2/factor/login -d "{\"recoveryCode\":\"${CODES[0]}\"}" "${pending[@]}"
    assert_success
    assert_equal 5 "$(db "SELECT count(*) FROM trail
        WHERE action = 'session.refused' AND actor = 'unknown'")"
}

@test "the fifth wrong code ends the login that waits, from whatever browsers the codes came" {
    local i
    have_factor "$SESSION"
    begin_login
    for i in 1 2 3 4; do
        end_login '{"code":"000000"}'
        assert_error 401 UNAUTHORIZED 'code is wrong'
        assert_equal "$(db 'SELECT failures FROM pending_login')" "$i"
        db 'DELETE FROM login_failure'
    done
    kept=$PENDING
    begin_login
    end_login '{"recoveryCode":"AAAA"}' # another login counts its own
    assert_error 401 UNAUTHORIZED 'code is wrong'
    PENDING=$kept
    db "INSERT INTO login_device SELECT id, $(hash_of fifth-browser), 9999999999999
        FROM member WHERE email = '$EMAIL'"
    as_pending "$PENDING"
    pending[1]="Cookie: __Host-switchboard-login=$PENDING; __Host-switchboard-device=fifth-browser"
    request POST /v2/factor/login -d '{"recoveryCode":"AAAA"}' "${pending[@]}"
    assert_error 401 UNAUTHORIZED 'begin it again'
    assert_json .details '{"required":"login"}'
    assert_equal "$(db 'SELECT failures FROM pending_login')" 1 # of the other login
    request POST /v2/factor/login -d "{\"recoveryCode\":\"${CODES[0]}\"}" "${pending[@]}"
    assert_error 401 UNAUTHORIZED 'begin it again'
    begin_login
    end_login "{\"recoveryCode\":\"${CODES[0]}\"}"
    assert_success
}

@test "a login that waits ends after 5 minutes, with a new password, and with the factor" {
    have_factor "$SESSION"
    begin_login
    db 'UPDATE pending_login SET expires_at = expires_at - 300000'
    end_login "{\"recoveryCode\":\"${CODES[0]}\"}"
    assert_error 401 UNAUTHORIZED 'has ended'
    begin_login
    set_password ''
    end_login "{\"recoveryCode\":\"${CODES[0]}\"}"
    assert_error 401 UNAUTHORIZED 'has ended'
    make_session ''
    begin_login
    request DELETE /v2/factor --session "$SESSION"
    assert_json .data '{"removed":true}'
    assert_conventions
    end_login "{\"recoveryCode\":\"${CODES[0]}\"}"
    assert_error 401 UNAUTHORIZED 'has ended'
    request DELETE /v2/factor --session "$SESSION"
    assert_error 404 NOT_FOUND
    request POST /v2/session -d "{\"email\":\"$EMAIL\",\"password\":\"$PASSWORD\"}"
    assert_that '.data.factor.isSet | not'
}

@test "a member who is removed between the two steps has no login, factor or code any more" {
    has_member Ana agent
    set_password ANA_
    make_session ANA_
    have_factor "$SESSION"
    begin_login "$ANA_EMAIL"
    switchboard member remove "$EMAIL" "$ANA_EMAIL"
    end_login "{\"recoveryCode\":\"${CODES[0]}\"}"
    assert_error 401 UNAUTHORIZED 'has ended'
    assert_equal "$(db "SELECT (SELECT count(*) FROM factor), (SELECT count(*) FROM recovery_code),
        (SELECT count(*) FROM pending_login)")" '0|0|0'
}

@test "a code of a clock that was ahead blocks earlier ones, and recovery codes go on" {
    have_factor "$SESSION"
    db "UPDATE factor SET last_step = $(present_step) + 120; DELETE FROM login_failure"
    begin_login
    end_login "{\"code\":\"$(totp_of "$SECRET" $(($(present_step) + 1)))\"}"
    assert_error 401 UNAUTHORIZED
    end_login "{\"recoveryCode\":\"${CODES[3]}\"}"
    assert_success
}

@test "what changes the factor needs a fresh login, and a set factor is not replaced" {
    local first
    begin_factor "$SESSION"
    first=$SECRET
    begin_factor "$SESSION"
    [[ $SECRET != "$first" ]]
    request POST /v2/factor/confirm --session "$SESSION" \
        -d "{\"code\":\"$(totp_of "$first" "$(present_step)")\"}"
    assert_error 403 FORBIDDEN 'code is wrong'
    have_factor "$SESSION"
    request POST /v2/factor -d '{}' --session "$SESSION"
    assert_error 409 VALIDATION_ERROR
    request POST /v2/factor/confirm -d '{"code":"1"}' --session "$SESSION"
    assert_error 409 VALIDATION_ERROR
    make_session '' 700
    for route in 'POST /v2/factor' 'DELETE /v2/factor' 'POST /v2/factor/codes' \
        'POST /v2/factor/confirm'; do
        request "${route% *}" "${route#* }" -d '{"code":"1"}' --session "$SESSION"
        assert_error 403 FORBIDDEN 'older than 10 minutes'
    done
}

@test "a link is the first step only" {
    have_factor "$SESSION"
    link=$(switchboard user login-link "$EMAIL" --url http://localhost:8080)
    request POST /v2/session -d "{\"link\":\"${link##*/}\"}"
    assert_json .data '{"needs":"factor"}'
    PENDING=$(header Set-Cookie)
    PENDING=${PENDING#*=} PENDING=${PENDING%%;*}
    end_login "{\"recoveryCode\":\"${CODES[0]}\"}"
    assert_success
    assert_equal "$(db 'SELECT max(is_by_link) FROM session')" 1
}

@test "a workspace that requires a factor lets a member without one only set it up" {
    has_member Ben agent
    make_session ''
    request PATCH /v2/workspace -d '{"requiresFactor":true}' --session "$SESSION"
    assert_error 409 VALIDATION_ERROR 'own second factor'
    have_factor "$SESSION"
    OWNER_SESSION=$SESSION
    make_session BEN_
    BEN_SESSION=$SESSION
    request PATCH /v2/workspace -d '{"requiresFactor":true}' --session "$BEN_SESSION"
    assert_error 403 FORBIDDEN
    SESSION=$OWNER_SESSION
    request PATCH /v2/workspace -d '{"requiresFactor":true}' --session "$SESSION"
    assert_json .data '{"requiresFactor":true}'
    assert_conventions
    request GET /v2/threads --session "$BEN_SESSION"
    assert_error 403 FORBIDDEN 'second factor'
    assert_json .details '{"required":"factor"}'
    request GET /v2/overview --session "$BEN_SESSION"
    assert_error 403 FORBIDDEN 'second factor'
    request GET /v2/session --session "$BEN_SESSION"
    assert_that '.data.factor == {isSet: false, isRequired: true}'
    assert_json .data.member.scopes '["self"]'
    request GET /v2/threads --session "$SESSION"
    assert_success
    api GET /v2/threads
    assert_success
    have_factor "$BEN_SESSION"
    request GET /v2/threads --session "$BEN_SESSION"
    assert_success
}

@test "an owner removes the factor of a member with a lower role, whose sessions end" {
    local owner=$SESSION
    has_member Ana agent
    has_member Adi admin
    set_password ANA_
    make_session ANA_
    ANA_SESSION=$SESSION
    request DELETE "/v2/members/$ANA_ID/factor" --session "$owner"
    assert_error 404 NOT_FOUND 'no second factor'
    have_factor "$ANA_SESSION"
    request GET /v2/members --session "$owner"
    assert_that '[.data.items[] | select(.hasFactor).id] == ["'"$ANA_ID"'"]'
    request GET /v2/members --session "$ANA_SESSION"
    assert_that '[.data.items[] | select(has("hasFactor")).id] == ["'"$ANA_ID"'"]'
    begin_login "$ANA_EMAIL"
    request DELETE "/v2/members/$ANA_ID/factor" --session "$ADI_SESSION"
    assert_error 403 FORBIDDEN 'the scope owner'
    request DELETE "/v2/members/mbr_none/factor" --session "$owner"
    assert_error 404 NOT_FOUND 'no member'
    request DELETE "/v2/members/$ANA_ID/factor" --session "$owner"
    assert_json .data '{"removed":true}'
    assert_conventions
    assert_equal "$(db "SELECT actor_name || ' ' || object_id FROM trail
        WHERE action = 'member.factor-reset'")" "$(db "SELECT name FROM member
        WHERE email = '$EMAIL'") $ANA_ID"
    end_login "{\"recoveryCode\":\"${CODES[0]}\"}"
    assert_error 401 UNAUTHORIZED 'has ended'
    request GET /v2/session --session "$ANA_SESSION"
    assert_status 401
    assert_equal "$(db "SELECT (SELECT count(*) FROM factor), (SELECT count(*) FROM recovery_code),
        (SELECT count(*) FROM pending_login)")" '0|0|0'
    request POST /v2/session -d "{\"email\":\"$ANA_EMAIL\",\"password\":\"$PASSWORD\"}"
    assert_that '.data.factor.isSet | not'
    assert_equal "$(session_count)" 3 # of the owner, Adi, and Ana again
}

@test "the factor of another owner, of a member elsewhere and in an old login stays" {
    local owner=$SESSION
    has_member Ona owner
    have_factor "$ONA_SESSION"
    request DELETE "/v2/members/$ONA_ID/factor" --session "$owner"
    assert_error 403 FORBIDDEN 'above'
    request DELETE "/v2/members/$(db "SELECT id FROM member WHERE email = '$EMAIL'")/factor" \
        --session "$owner"
    assert_error 403 FORBIDDEN 'above' # the own one: DELETE /v2/factor
    switchboard member role "$EMAIL" "$ONA_EMAIL" --role agent
    make_user OTHER_
    switchboard member add "$OTHER_EMAIL" "$ONA_EMAIL" --role agent >/dev/null
    request DELETE "/v2/members/$ONA_ID/factor" --session "$owner"
    assert_error 403 FORBIDDEN 'other workspaces'
    switchboard member remove "$OTHER_EMAIL" "$ONA_EMAIL"
    make_session '' 700
    request DELETE "/v2/members/$ONA_ID/factor" --session "$SESSION"
    assert_error 403 FORBIDDEN 'older than 10 minutes'
    assert_equal "$(db 'SELECT count(*) FROM factor')" 1
    request DELETE "/v2/members/$ONA_ID/factor" --session "$owner"
    assert_success
}

@test "switchboard member factor-reset removes the factor and ends the sessions" {
    local id
    have_factor "$SESSION"
    run switchboard member factor-reset "$EMAIL" "$EMAIL"
    assert_equal "$status $output" "0 removed the second factor of $EMAIL"
    assert_equal "$(session_count)" 0
    run switchboard member factor-reset "$EMAIL" "$EMAIL"
    assert_equal "$status" 1
    [[ $output == *'has no second factor'* ]]
    id=$(db "SELECT id FROM member WHERE email = '$EMAIL'")
    assert_equal member.factor-reset "$(db "SELECT action FROM trail
        WHERE object_id = '$id' ORDER BY id DESC LIMIT 1")"
}

@test "switchboard member factor-require requires a factor at once, and factor-optional ends that" {
    run switchboard member factor-require "$EMAIL"
    assert_equal "$status $output" "0 each member of $EMAIL needs a second factor"
    request GET /v2/threads --session "$SESSION"
    assert_error 403 FORBIDDEN 'second factor'
    request GET /v2/factor --session "$SESSION"
    assert_json .data.isRequired true
    run switchboard member factor-require "$EMAIL" --json # twice
    assert_equal "$status $output" "0 {\"email\":\"$EMAIL\",\"requiresFactor\":true}"
    run switchboard member factor-optional "$EMAIL"
    assert_equal "$status $output" "0 members of $EMAIL need no second factor"
    request GET /v2/threads --session "$SESSION"
    assert_success
    assert_equal "$(db "SELECT action FROM trail WHERE action LIKE 'member.factor-%'
        ORDER BY id DESC LIMIT 3")" \
        $'member.factor-optional\nmember.factor-require\nmember.factor-require'
    run switchboard member factor-require none@example.org
    assert_equal "$status" 1
}

@test "a rotation of the keys seals the secret again, and the factor goes on" {
    have_factor "$SESSION"
    before=$(db 'SELECT hex(secret) FROM factor')
    rotate_keys
    [[ $(db 'SELECT hex(secret) FROM factor') != "$before" ]]
    begin_login
    forget_steps
    in_time give_code
    assert_success
}
