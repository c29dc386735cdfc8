# shellcheck shell=bash
# Everything a test file needs: `load helpers/all`.
#
# A file of scenarios runs unchanged over three transports (TRANSPORT):
#     direct   the executable itself, given the environment and standard input of a CGI
#     cgi      a private Apache with the repository's apache.conf
#     fcgi     the same, with the executables as FastCGI pools
# A line `# transports: cgi fcgi` in a file says that it runs over those alone.
# A line `# bats test_tags=direct` before a test says that `make test` runs it over `direct` alone, and
# `make test-full` over each. It stands before tests of what a program makes of values that it has
# read: fields of a parsed body, rows of the database, answers of the platform. Tests without it run
# over each transport: one good answer and each kind of failure of every executable, and all where the
# web server takes part: methods, paths, headers, queries in percent-encoding, lengths and streams,
# replayed answers, requests at once, processes that live on, and the platform's outages.
#
# Each file has a stack of its own (sandbox, database, Apache), which all its tests use in turn.

: "${TRANSPORT:=direct}"
root=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
: "${OUT:=$root}" # where the executables are: the tree, or build/sanitize
: "${HELPERS:=$root/build/plain/helpers}" # where the test programs are

# shellcheck source=tests/helpers/stack.bash
. "$root/tests/helpers/stack.bash"
# shellcheck source=tests/helpers/request.bash
. "$root/tests/helpers/request.bash"
# shellcheck source=tests/helpers/assert.bash
. "$root/tests/helpers/assert.bash"
# shellcheck source=tests/helpers/fixtures.bash
. "$root/tests/helpers/fixtures.bash"
# shellcheck source=tests/helpers/sandbox.bash
. "$root/tests/helpers/sandbox.bash"

# What a file does not define itself.
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

# bats runs its DEBUG trap before every command, to know where a test failed, and most commands are
# those of helpers: two thirds of the suite's CPU time went there. So it looks at commands of test
# files alone; what fails in a helper is shown at the line of the test that called it.
trace_tests_alone() {
    local trap_function
    trap_function=$(declare -f bats_debug_trap)
    # shellcheck disable=SC2016  # expanded when the trap runs
    eval "${trap_function/'{'/'{ [[ $1 == "${BATS_TEST_SOURCE-}" ]] || return 0;'}"
}
trace_tests_alone
