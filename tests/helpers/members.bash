# shellcheck shell=bash
# Members of the user of make_user, with sessions: `load helpers/members` after helpers/session.

# Makes a member of the user of the test, and a session: has_member NAME ROLE. Sets NAME_EMAIL,
# NAME_ID and NAME_SESSION, of the name in capitals.
has_member() {
    local -n email=${1^^}_EMAIL id=${1^^}_ID session=${1^^}_SESSION
    email="${1,,}-${LINE}@example.org"
    make_member '' "$email" "$2"
    make_session "${1^^}_"
    session=$SESSION id=$(db "SELECT id FROM member WHERE email = '$email'")
    db "UPDATE member SET name = '$1' WHERE id = '$id'"
}
