# shellcheck shell=bash
# Sessions of the dashboard, written to the database as the login writes them, so that tests of many
# routes hash no password. `load helpers/session` after helpers/all.

: "${PASSWORD=correct horse battery}"

# Sets the password of the user of PREFIX: set_password PREFIX [PASSWORD]
set_password() {
    local email=$1EMAIL
    printf '%s\n' "${2-$PASSWORD}" | switchboard user password "${!email}" >/dev/null
}

# Sets `hash` to the SHA-256 of a text as a blob literal of SQL, which a test calculates once:
# take_hash TEXT
take_hash() {
    if [[ -z ${hashes[$1]-} ]]; then
        hash=$(printf '%s' "$1" | sha256sum)
        hashes[$1]="x'${hash%% *}'"
    fi
    hash=${hashes[$1]}
}
declare -gA hashes

# Prints it: hash_of TEXT
hash_of() {
    local hash
    take_hash "$1"
    printf '%s' "$hash"
}

# Sets `random` to 32 random bytes in hexadecimal digits.
take_random() {
    printf -v random '%08x' $SRANDOM $SRANDOM $SRANDOM $SRANDOM $SRANDOM $SRANDOM $SRANDOM $SRANDOM
}

# Inserts a session of the member whose email PREFIX has, in the first workspace, and sets SESSION,
# the value of its cookie, and SESSION_ID:
# make_session PREFIX [AGE-IN-SECONDS [IS-BY-LINK]]
make_session() {
    local sql=''
    add_session "$@"
    db "$sql"
}

# The same, but only adds the statement to `sql`: a statement takes less time than a process.
add_session() {
    local email=$1EMAIL now=$((EPOCHSECONDS - ${2-0}))000 random hash
    take_random
    SESSION=$random SESSION_ID=ses_${random:0:26}
    keep_secret session "$SESSION"
    take_hash "$SESSION"
    sql+="INSERT INTO session SELECT '$SESSION_ID', m.id, ms.user_id, $hash, ${3-0},
        '127.0.0.1', 'test', $now, $now, $now, $now + 43200000
        FROM member m JOIN membership ms ON ms.member_id = m.id
        WHERE m.email = '${!email}' ORDER BY ms.created_at, ms.user_id LIMIT 1;"
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
    local sql=''
    add_session_samples "$1"
    db_at_once "$sql"
}

# The same, but only adds the statements to `sql`: add_session_samples PREFIX
add_session_samples() {
    local email=$1EMAIL now=${EPOCHSECONDS}000 name random hash
    local -A hash_as=() # of each name; those of what no request names are random
    add_session "$1"
    for name in link join accept; do
        take_hash "sample-$name"
        hash_as[$name]=$hash
    done
    for name in session invitation token; do
        take_random
        hash_as[$name]="x'$random'"
    done
    sql+="DELETE FROM session WHERE id = 'ses_sample';
        DELETE FROM pending_login; DELETE FROM recovery_code; DELETE FROM factor;
        DELETE FROM membership WHERE member_id IN
            (SELECT id FROM member WHERE email IN ('sample@example.org', 'join@example.org'));
        DELETE FROM session WHERE member_id NOT IN (SELECT member_id FROM membership);
        DELETE FROM login_link WHERE member_id NOT IN (SELECT member_id FROM membership);
        DELETE FROM login_device WHERE member_id NOT IN (SELECT member_id FROM membership);
        DELETE FROM member WHERE id NOT IN (SELECT member_id FROM membership);
        DELETE FROM invitation;
        DELETE FROM scoped_token WHERE id = 'tok_sample';
        DELETE FROM line WHERE id = 'lin_own';
        DELETE FROM account WHERE id = 'acc_own';
        INSERT INTO account (id, user_id, waba_id, name, created_at)
            SELECT 'acc_own', user_id, 'own', 'Own', 1 FROM session WHERE id = '$SESSION_ID';
        INSERT INTO line (id, account_id, phone_number_id, phone_number, is_registered,
            is_coexisting, created_at) VALUES ('lin_own', 'acc_own', '7006', '+7', 1, 0, 1);
        DELETE FROM login_link WHERE hash = ${hash_as[link]}
            OR member_id IN (SELECT id FROM member WHERE email = '${!email}');
        INSERT INTO session SELECT 'ses_sample', member_id, user_id, ${hash_as[session]}, 0,
            '127.0.0.1', 'test', $now, $now, $now, $now + 43200000 FROM session
            WHERE id = '$SESSION_ID';
        INSERT INTO member (id, email, name, created_at)
            VALUES ('mbr_sample', 'sample@example.org', 'Sample', $now);
        INSERT INTO membership SELECT user_id, 'mbr_sample', 'agent', $now, 'test', NULL, 0
            FROM session WHERE id = '$SESSION_ID';
        INSERT INTO factor VALUES ('mbr_sample', x'00', 0, 1, 1);
        INSERT INTO invitation SELECT 'inv_sample', user_id, ${hash_as[invitation]},
            'invited@example.org', 'agent', NULL, 'test', $now, $now + 900000, NULL, 0 FROM session
            WHERE id = '$SESSION_ID';
        INSERT INTO invitation SELECT 'inv_join', user_id, ${hash_as[join]},
            'join@example.org', 'agent', NULL, 'test', $now, $now + 900000, NULL, 0 FROM session
            WHERE id = '$SESSION_ID';
        INSERT INTO invitation SELECT 'inv_own', user_id, ${hash_as[accept]}, '${!email}',
            'agent', NULL, 'test', $now, $now + 900000, NULL, 0 FROM session
            WHERE id = '$SESSION_ID';
        INSERT INTO scoped_token (id, user_id, hash, name, last4, scopes, created_by, created_at)
            SELECT 'tok_sample', id, ${hash_as[token]}, 'x', 'mple', 'basic', 'test', $now
            FROM user WHERE email = '${!email}';
        INSERT INTO login_link SELECT id, ${hash_as[link]}, $now + 900000, NULL
            FROM member WHERE email = '${!email}';"
}
