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

# Inserts a session of the user of PREFIX and sets SESSION, the value of its cookie, and SESSION_ID:
# make_session PREFIX [AGE-IN-SECONDS [IS-BY-LINK]]
make_session() {
    local email=$1EMAIL now
    now=$(($(date +%s) - ${2-0}))000
    SESSION=$(od -An -N32 -v -tx1 /dev/urandom | tr -d ' \n')
    SESSION_ID=ses_${SESSION:0:26}
    keep_secret session "$SESSION"
    db "INSERT INTO session SELECT '$SESSION_ID', id, $(hash_of "$SESSION"), ${3-0}, '127.0.0.1',
        'test', $now, $now, $now + 43200000 FROM user WHERE email = '${!email}'"
}

# Makes a session, and what the samples of the routes name: the session ses_sample, and a link.
have_session_samples() { # PREFIX
    local email=$1EMAIL now
    make_session "$1"
    now=$(date +%s)000
    db "DELETE FROM session WHERE id = 'ses_sample';
        DELETE FROM login_link WHERE hash = $(hash_of sample-link)
            OR user_id IN (SELECT id FROM user WHERE email = '${!email}');
        INSERT INTO session SELECT 'ses_sample', id, $(hash_of "${SESSION}x"), 0,
            '127.0.0.1', 'test', $now, $now, $now + 43200000 FROM user WHERE email = '${!email}';
        INSERT INTO login_link SELECT id, $(hash_of sample-link), $now + 900000, NULL
            FROM user WHERE email = '${!email}'"
}
