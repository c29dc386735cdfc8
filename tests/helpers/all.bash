# shellcheck shell=bash
# Loads everything that a test file needs: `load helpers/all`.
#
# A test file runs unchanged over three transports (TRANSPORT):
#     direct   the executable itself, with the environment and standard input of a CGI
#     cgi      a private Apache with the repository's apache.conf
#     fcgi     the same Apache, with the executables as FastCGI pools
# In `make test` a test runs over fcgi alone, unless its tag says more. Over fcgi a process serves
# many requests, so what one leaves to the next is found; the program of cgi is that of `direct`,
# and what the web server does for it is in the tests with the tag `route`. A line
# `# bats test_tags=TAG` before a test:
#     direct   over `direct` alone: how a program processes values that it has already read: fields
#              of a parsed body, rows of the database, answers of the platform
#     route    over cgi and fcgi: what the web server does in another way for a CGI: methods, paths,
#              headers, percent-encoded queries, lengths and streams
#     each     over all three: does something else or more over `direct`
# A line `# transports: cgi fcgi` in a file limits it to those transports, and then each of its
# tests runs over each of them; if there are tests with the tag `route`, only these run over fcgi.
# So do the files on a PostgreSQL server. `make test-full` runs each test over each transport of its
# file.
# A tag `long` leaves a test out of `make test`, so that it ends in some minutes; `make test-whole`
# runs it. A file with `# bats file_tags=long` is left out as a whole.
#
# Each file has its own stack (sandbox, database, Apache), which all its tests share.

: "${TRANSPORT:=direct}"
root=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
: "${OUT:=$root}" # where the executables are: the tree, or build/sanitize
: "${HELPERS:=$root/build/plain/helpers}" # where the test programs are

# shellcheck source=tests/helpers/tracing.bash
. "$root/tests/helpers/tracing.bash"
# shellcheck source=tools/common.bash
. "$root/tools/common.bash"
# shellcheck source=tests/helpers/waiting.bash
. "$root/tests/helpers/waiting.bash"
# shellcheck source=tests/helpers/port.bash
. "$root/tests/helpers/port.bash"
# shellcheck source=tests/helpers/server.bash
. "$root/tests/helpers/server.bash"
# shellcheck source=tests/helpers/database.bash
. "$root/tests/helpers/database.bash"
# shellcheck source=tests/helpers/stack.bash
. "$root/tests/helpers/stack.bash"
# shellcheck source=tests/helpers/recording.bash
. "$root/tests/helpers/recording.bash"
# shellcheck source=tests/helpers/request.bash
. "$root/tests/helpers/request.bash"
# shellcheck source=tests/helpers/assert.bash
. "$root/tests/helpers/assert.bash"
# shellcheck source=tests/helpers/fixtures.bash
. "$root/tests/helpers/fixtures.bash"
# shellcheck source=tests/helpers/sandbox.bash
. "$root/tests/helpers/sandbox.bash"

# Defaults; a test file may define its own.
setup_file() {
    start_stack
    make_user
}

teardown_file() {
    stop_stack
}

setup() {
    forget_sent
}
