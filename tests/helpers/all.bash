# shellcheck shell=bash
# Loads everything that a test file needs: `load helpers/all`.
#
# A test file runs unchanged over three transports (TRANSPORT):
#     direct   the executable itself, with the environment and standard input of a CGI
#     cgi      a private Apache with the repository's apache.conf
#     fcgi     the same Apache, with the executables as FastCGI pools
# A line `# transports: cgi fcgi` in a file limits it to those transports.
# A line `# bats test_tags=direct` before a test limits it to `direct` in `make test`; `make
# test-full` runs it over each transport. It marks tests of how a program processes values that it
# has already read: fields of a parsed body, rows of the database, answers of the platform. Tests
# without it run over each transport: one successful answer and each kind of failure of every
# executable, and everything that involves the web server: methods, paths, headers, percent-encoded
# queries, lengths and streams, replayed answers, simultaneous requests, processes that serve
# several requests, and outages of the platform.
# A line `# bats test_tags=route` marks what FastCGI can change, in a file whose other tests would
# repeat those over cgi: in `make test` only the tests with this tag run over fcgi. For the programs
# that are plain CGIs under `fcgi` too, media, graph_media, ready and metrics, they show that their
# routes work beside the pools.
#
# Each file has its own stack (sandbox, database, Apache), which all its tests share.

: "${TRANSPORT:=direct}"
root=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
: "${OUT:=$root}" # where the executables are: the tree, or build/sanitize
: "${HELPERS:=$root/build/plain/helpers}" # where the test programs are

# shellcheck source=tools/common.bash
. "$root/tools/common.bash"
# shellcheck source=tests/helpers/waiting.bash
. "$root/tests/helpers/waiting.bash"
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

# Makes the DEBUG trap of bats return at once for commands outside the test file. bats runs the trap
# before every command, to record where a test fails; most commands are in helpers, so the trap took
# two thirds of the suite's CPU time. A failure in a helper is reported at the line of the test that
# called the helper. A helper that is called often turns it off for the functions that it calls
# (`local - && set +T`), because calling the trap still takes a third of the time of a request.
trace_tests_alone() {
    local trap_function
    trap_function=$(declare -f bats_debug_trap)
    # shellcheck disable=SC2016  # expanded when the trap runs
    eval "${trap_function/'{'/'{ [[ $1 == "${BATS_TEST_SOURCE-}" ]] || return 0;'}"
}
trace_tests_alone
