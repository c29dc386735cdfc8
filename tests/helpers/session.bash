# shellcheck shell=bash
# Sessions of the dashboard, written to the database as the login writes them, so that tests of many
# routes hash no password. `load helpers/session` after helpers/all.

: "${PASSWORD=correct horse battery}"

# Sets the password of the user of PREFIX: set_password PREFIX [PASSWORD]
set_password() {
    local email=$1EMAIL
    printf '%s\n' "${2-$PASSWORD}" | switchboard user password "${!email}" >/dev/null
}

# Prints the SHA-256 of a text as a blob literal of SQL: hash_of TEXT
hash_of() {
    local hash
    hash=$(printf '%s' "$1" | sha256sum)
    printf "x'%s'" "${hash%% *}"
}

# Inserts a session of the member whose email PREFIX has, in the first workspace, and sets SESSION,
# the value of its cookie, and SESSION_ID:
# make_session PREFIX [AGE-IN-SECONDS [IS-BY-LINK]]
make_session() {
    local email=$1EMAIL now
    now=$(($(date +%s) - ${2-0}))000
    SESSION=$(od -An -N32 -v -tx1 /dev/urandom | tr -d ' \n')
    SESSION_ID=ses_${SESSION:0:26}
    keep_secret session "$SESSION"
    db "INSERT INTO session SELECT '$SESSION_ID', m.id, ms.user_id, $(hash_of "$SESSION"), ${3-0},
        '127.0.0.1', 'test', $now, $now, $now, $now + 43200000
        FROM member m JOIN membership ms ON ms.member_id = m.id
        WHERE m.email = '${!email}' ORDER BY ms.created_at, ms.user_id LIMIT 1"
}

# Adds a member of the user of PREFIX: make_member PREFIX EMAIL ROLE
make_member() {
    local email=$1EMAIL
    switchboard member add "${!email}" "$2" --role "$3" >/dev/null
}

# Makes a session, and what the samples of the routes name: the session ses_sample, the scoped
# token tok_sample, the member mbr_sample with a second factor, the invitation inv_sample, and
# links: to log in, and of invitations of a new person and of the user.
have_session_samples() { # PREFIX
    local email=$1EMAIL now
    make_session "$1"
    now=$(date +%s)000
    db "DELETE FROM session WHERE id = 'ses_sample';
        DELETE FROM pending_login; DELETE FROM recovery_code; DELETE FROM factor;
        DELETE FROM membership WHERE member_id IN
            (SELECT id FROM member WHERE email IN ('sample@example.org', 'join@example.org'));
        DELETE FROM session WHERE member_id NOT IN (SELECT member_id FROM membership);
        DELETE FROM login_link WHERE member_id NOT IN (SELECT member_id FROM membership);
        DELETE FROM login_device WHERE member_id NOT IN (SELECT member_id FROM membership);
        DELETE FROM member WHERE id NOT IN (SELECT member_id FROM membership);
        DELETE FROM invitation;
        DELETE FROM scoped_token WHERE id = 'tok_sample';
        DELETE FROM login_link WHERE hash = $(hash_of sample-link)
            OR member_id IN (SELECT id FROM member WHERE email = '${!email}');
        INSERT INTO session SELECT 'ses_sample', member_id, user_id, $(hash_of "${SESSION}x"), 0,
            '127.0.0.1', 'test', $now, $now, $now, $now + 43200000 FROM session
            WHERE id = '$SESSION_ID';
        INSERT INTO member (id, email, name, created_at)
            VALUES ('mbr_sample', 'sample@example.org', 'Sample', $now);
        INSERT INTO membership SELECT user_id, 'mbr_sample', 'agent', $now, 'test' FROM session
            WHERE id = '$SESSION_ID';
        INSERT INTO factor VALUES ('mbr_sample', x'00', 0, 1, 1);
        INSERT INTO invitation SELECT 'inv_sample', user_id, $(hash_of "${SESSION}i"),
            'invited@example.org', 'agent', NULL, 'test', $now, $now + 900000 FROM session
            WHERE id = '$SESSION_ID';
        INSERT INTO invitation SELECT 'inv_join', user_id, $(hash_of sample-join),
            'join@example.org', 'agent', NULL, 'test', $now, $now + 900000 FROM session
            WHERE id = '$SESSION_ID';
        INSERT INTO invitation SELECT 'inv_own', user_id, $(hash_of sample-accept), '${!email}',
            'agent', NULL, 'test', $now, $now + 900000 FROM session WHERE id = '$SESSION_ID';
        INSERT INTO scoped_token (id, user_id, hash, name, last4, scopes, created_by, created_at)
            SELECT 'tok_sample', id, $(hash_of "${SESSION}t"), 'x', 'mple', 'basic', 'test', $now
            FROM user WHERE email = '${!email}';
        INSERT INTO login_link SELECT id, $(hash_of sample-link), $now + 900000, NULL
            FROM member WHERE email = '${!email}'"
}
