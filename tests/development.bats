#!/usr/bin/env bats
# What doc/development.md says about running a part of the suite, and what `make test TESTS=...`
# builds.
# transports: direct
# SQLite only: it builds the default programs
bats_require_minimum_version 1.5.0
load helpers/tracing
load helpers/assert

setup_file() {
    root=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    export root
}

setup() {
    [[ ${OUT:-$root} == "$root" ]] || skip 'the commands use the default programs'
}

# Runs a command without the variables of this run, and without the directory of bats in PATH.
alone() {
    env -i PATH="${PATH//"$BATS_LIBEXEC:"/}" HOME="$HOME" TMPDIR="$BATS_TEST_TMPDIR" "$@" 3>&-
}

# Runs a line of the section's commands: follow NUMBER
follow() {
    local line
    line=$(sed -n '/^## One file, one test, one program/,/^## /p' "$root/doc/development.md" |
        sed -n '/^```$/,/^```$/p' | sed '1d;$d' | sed -n "$1p")
    [[ -n $line ]] || fail "the section has no command $1"
    cd "$root"
    run alone bash -c "$line"
    # shellcheck disable=SC2154  # run sets it
    ((status == 0)) || fail "$line"$'\n'"$output"
}

# What make would do, without doing it: planned TARGET VARIABLE...
planned() {
    alone make -s -n -C "$root" "$@" 2>&1
}

# bats test_tags=long
@test "one file, one test with its files kept, its last request in gdb, one unit test" {
    follow 1
    [[ $output == *'version.bats '*' 8 passed   0 failed '* ]] || fail "$output"
    follow 2
    [[ $output == 'direct    me.bats  '*'   1 passed   0 failed '*'build/kept, which is /'* ]] ||
        fail "$output"
    local kept
    kept=$(realpath "$root/build/kept")
    grep -q '"route":"/v2/me","status":200,' \
        "$kept"/files/0/bats-run-*/file/*/stack/log/switchboard.log
    follow 3
    [[ $output == *$'\n#0  get_me (rq='*') at cgi-bin/me.c:'*$'\n#1 '* ]] || fail "$output"
    follow 4
    [[ $output == *'unit      field '*'   1 passed   0 failed '* ]] || fail "$output"
    rm -r "$kept" "$root/build/kept"
}

# bats test_tags=long
@test "the named files' needs are built and nothing else; lint does not run" {
    local plan
    plan=$(planned test TESTS=tests/me.bats)
    for word in lint-reports probes build/fuzz/ build/plain/starved/ build/plain/soak/ \
        build/plain/power/ build/npm build/plain/unit/ build/postgresql next_switchboard clang; do
        [[ $plan != *"$word"* ]] || fail "$word: $plan"
    done
    plan=$(planned test TESTS='tests/fuzz.bats tests/unit/field.c')
    [[ $plan == *' build/fuzz/json '* && $plan == *' build/plain/unit/field '* ]] || fail "$plan"
    [[ $plan != *build/plain/unit/arena* && $plan != *probes* ]] || fail "$plan"
    plan=$(planned test)
    for word in lint probes build/fuzz/json build/plain/starved/ build/plain/soak/ build/npm \
        build/plain/unit/field next_switchboard; do
        [[ $plan == *"$word"* ]] || fail "$word is not built: $plan"
    done
    # a file after tests/run would be all that runs
    [[ $plan =~ tests/run\ *$ ]] || fail "not the whole suite: ${plan##*SERVER_HELPERS}"
}

# A map of three test files.
write_map() {
    export MAP=$BATS_TEST_TMPDIR/map
    mkdir "$MAP"
    printf 'cpu %s\n' 7.5 >"$MAP/me.bats"
    printf 'lib/base/arena.c 7 8 40\n' >>"$MAP/me.bats"
    printf 'cpu 0.25\nlib/base/arena.c 7 140\nlib/web/field.c 9\n' >"$MAP/field"
    printf 'cpu 60\nlib/web/field.c 9 10\nlib/base/arena.c 9\n' >"$MAP/routes.bats"
}

@test "tests/which prints the test files that ran lines of a file, the cheapest first" {
    write_map
    assert_equal "$("$root/tests/which" lib/base/arena.c)" '0.25 tests/unit/field.c
7.50 tests/me.bats
60.00 tests/routes.bats'
    assert_equal "$("$root/tests/which" lib/web/field.c:10)" '60.00 tests/routes.bats'
    assert_equal "$("$root/tests/which" "$root/lib/base/arena.c:40")" '7.50 tests/me.bats'
    run "$root/tests/which" lib/base/arena.c:4
    assert_equal "$status $output" "1 no test file of $MAP ran lib/base/arena.c:4"
    MAP=$BATS_TEST_TMPDIR/none run "$root/tests/which" lib/base/arena.c
    assert_equal "$status $output" "1 tests/which: $BATS_TEST_TMPDIR/none has no map: make which"
}

@test "the map has the lines that ran, and not those that did not" {
    local directory=$root/build/development.$BATS_SUITE_TEST_NUMBER.$$
    mkdir -p "$directory"
    printf '%s\n' 'int main(int n, char **a) {' '    if (n > 1)' '        return a[1][0];' \
        '    return 0;' '}' >"$directory/x.c"
    (cd "$directory" && gcc --coverage -fprofile-abs-path -o x x.c && ./x)
    run "$root/tests/which" --lines "$directory"
    rm -r "$directory"
    assert_equal "$output" "${directory#"$root/"}/x.c 1 2 4"
}

# bats test_tags=long
@test "make test-quick runs the tests of what changed within its CPU time, and names the rest" {
    local copy=$BATS_TEST_TMPDIR/copy plan
    write_map
    mkdir -p "$copy"/{lib/base,lib/web,cgi-bin,tests/unit}
    touch "$copy"/{lib/base/arena.c,lib/base/arena.h,lib/web/field.c,cgi-bin/version.c} \
        "$copy"/tests/{me.bats,routes.bats,version.bats,unit/field.c}
    cp "$root/tests/quick" "$root/tests/which" "$copy/tests"
    git -C "$copy" init -q
    git -C "$copy" add .
    git -C "$copy" -c user.name=x -c user.email=x@example.org commit -qm x
    assert_equal "$("$copy/tests/quick")" ''
    printf '\n' >>"$copy/lib/base/arena.h"
    printf '\n' >>"$copy/lib/web/field.c"
    printf '\n' >>"$copy/cgi-bin/version.c"
    printf '\n' >>"$copy/tests/routes.bats"
    printf '\n' >>"$copy/tests/unit/field.c"
    assert_equal "$("$copy/tests/quick" 2>&1)" 'tests/routes.bats
tests/me.bats
tests/version.bats'
    git -C "$copy" checkout -q tests/routes.bats
    assert_equal "$("$copy/tests/quick" 2>&1)" 'tests/me.bats
tests/version.bats
left out: tests/routes.bats, 60 s of CPU time'
    SINCE=none run "$copy/tests/quick"
    assert_equal "$status $output" '2 SINCE=none is no commit'
    printf x >"$copy/lib/base/unheard_of.c"
    run "$copy/tests/quick"
    [[ $output == *'no test file is known to run lib/base/unheard_of.c'* ]] || fail "$output"
    MAP=$BATS_TEST_TMPDIR/none run "$copy/tests/quick"
    [[ $output == *'has no map of lines (make which): test files are chosen by names'* &&
        $output == *tests/version.bats ]] || fail "$output"
    plan=$(planned test-quick)
    [[ $plan == *lint-reports*TRANSPORTS=first*tests/unit/* ]] || fail "$plan"
}

@test "every file that uses what is not built for all says so" {
    local word pattern file missing=''
    while read -r word pattern; do
        while IFS= read -r file; do
            grep -q "^# needs.*: .*\b$word\b" "$file" || missing+=" $file:$word"
        done < <(grep -lE "$pattern" "$root"/tests/*.bats | grep -v /development.bats)
    done <<'END'
fuzz build/fuzz
next next_switchboard
node NODE_MODULES|build/npm|load helpers/(browser|front)
power recorder[.]so
probes build/probe|tests/audit"
soak SOAK_BIN|/soak/run
starved [$]starved\b
END
    assert_equal "$missing" ''
}

@test "an unknown need is an error that names the known ones" {
    printf '# needs: soap\n' >"$BATS_TEST_TMPDIR/x.bats"
    run planned test TESTS="$BATS_TEST_TMPDIR/x.bats"
    assert_equal "$status" 2
    [[ $output == *'a test needs soap, which is none of fuzz lint next node power probes'* ]]
}

# bats test_tags=long
@test "make audit ONLY builds the probes of these programs, and then says which names there are" {
    local plan
    plan=$(planned probes ONLY='me,courier')
    [[ $plan == *'PROBE=1 ONLY= '*build/probe/cgi-bin/me' '*build/probe/tools/courier* ]] ||
        fail "$plan"
    [[ $plan != *build/probe/cgi-bin/messages* ]] || fail "$plan"
    plan=$(planned probes ONLY=none)
    [[ $plan != *PROBE=1* ]] || fail "$plan"
    plan=$(planned probes)
    [[ $plan == *'PROBE=1 ONLY= all'* ]] || fail "$plan"
}

# Writes a test file; bats would take a line `@test` of this file as its own: write_tests NAME <TEXT
write_tests() {
    sed "s|^TEST |@test |; s|DIRECTORY|$BATS_TEST_TMPDIR|g" >"$BATS_TEST_TMPDIR/$1.bats"
}

# Runs all the files that were written, at once.
run_files() {
    local files=("$BATS_TEST_TMPDIR"/*.bats)
    run alone JOBS=${#files[@]} TRANSPORTS=direct timeout 300 "$root/tests/run" "${files[@]}"
}

# bats test_tags=long
@test "runs that a signal ends at the same moment are each reported once, as failed" {
    local i
    for i in {1..6}; do
        write_tests "run$i" <<'END'
# The process of tests/run for this file.
runner() {
    local pid=$$ name=''
    while [[ $name != */tests/run ]]; do
        pid=$(awk '/^PPid:/ { print $2 }' "/proc/$pid/status")
        name=$(tr '\0' '\n' <"/proc/$pid/cmdline" | sed -n 2p)
    done
    printf '%s\n' "$pid"
}

TEST "one of six files ends the runs of all" {
    runner >"DIRECTORY/$$.new"
    mv "DIRECTORY/$$.new" "DIRECTORY/$$.runner"
    while (($(cat DIRECTORY/*.runner | wc -l) < 6)); do
        sleep 0.1
    done
    ! mkdir DIRECTORY/ended || kill -TERM $(cat DIRECTORY/*.runner)
    read -rt 60 <>"$SILENT_PIPE" || true # until tests/run has reported all, and kills this
}
END
    done
    run_files
    for i in {1..6}; do
        assert_equal "$(grep -c "^direct *run$i[.]bats *0 passed   1 failed" <<<"$output")" 1 ||
            fail "$output"
    done
    [[ $output == *$'\n0 passed, 6 failed' ]] || fail "$output"
}

@test "a missing program and an unknown transport end the run at once, with one sentence" {
    local programs=$BATS_TEST_TMPDIR/programs
    write_tests x <<<'TEST "x" { true; }'
    mkdir "$programs"
    cp -rs "$root"/{cgi-bin,tools} "$programs"
    rm "$programs/tools/switchboard-sandbox"
    run alone OUT="$programs" HELPERS="$root/build/plain/helpers" "$root/tests/run" \
        "$BATS_TEST_TMPDIR/x.bats"
    assert_equal "$status$output" \
        "1run: $programs/tools/switchboard-sandbox is not built: make test builds it"
    local words
    for words in carrier-pigeon 'direct pg-fcgi' 'first cgi'; do
        run alone TRANSPORTS="$words" "$root/tests/run" "$BATS_TEST_TMPDIR/x.bats"
        ((status == 1)) || fail "$words: $output"
        [[ $output == 'run: TRANSPORTS has '*', which is none of direct, cgi and fcgi, '* ]] ||
            fail "$words: $output"
    done
}

# Prints the names of the tests that ran over a transport: names_of TRANSPORT
names_of() {
    sort "$BATS_TEST_TMPDIR/$1" | paste -sd ' '
}

# bats test_tags=long
@test "a test runs over fcgi or the transports of its tag, in a file that names transports over these" {
    local names='printf "%s\n" "$BATS_TEST_DESCRIPTION" >>"DIRECTORY/$TRANSPORT"'
    write_tests tagged <<END
# bats test_tags=direct
TEST "parsed" { $names; }
TEST "served" { $names; }
# bats test_tags=each
TEST "cut" { $names; }
END
    write_tests plain <<END
TEST "plain" { $names; }
END
    write_tests route <<END
# bats test_tags=direct
TEST "row" { $names; }
# bats test_tags=route
TEST "route" { $names; }
TEST "web" { $names; }
END
    write_tests named <<END
# transports: direct cgi
TEST "named" { $names; }
END
    write_tests named_route <<END
# transports: cgi fcgi
# bats test_tags=route
TEST "path" { $names; }
TEST "page" { $names; }
END
    write_tests parsed <<END
# bats test_tags=direct
TEST "value" { $names; }
END
    run alone "$root/tests/run" "$BATS_TEST_TMPDIR"/*.bats
    assert_equal "$(names_of direct)" 'cut named parsed row value'
    assert_equal "$(names_of cgi)" 'cut named page path route'
    assert_equal "$(names_of fcgi)" 'cut path plain route served web'
    [[ $output != *' 0 passed'* ]] || fail "a file ran without a test: $output"
    run alone TRANSPORTS=direct "$root/tests/run" "$BATS_TEST_TMPDIR"/*.bats
    [[ $output == *$'\n9 passed, 0 failed' ]] || fail "$output"
}

@test "the end of the output has the first 10 and the last 15 lines of each failure" {
    write_tests long <<'END'
TEST "a short failure" {
    printf 'short %d\n' {1..3}
    false
}
TEST "a long failure" {
    printf 'long %d\n' {1..40}
    false
}
END
    run_files
    ((status == 1)) || fail "$output"
    sed -n '/^direct long[.]bats$/,/^took /p' <<<"$output" >"$BATS_TEST_TMPDIR/end"
    diff - <(sed -nE 's/^# ?//; /^([.]{3}|(short|long) [0-9]+)$/p' "$BATS_TEST_TMPDIR/end") < <(
        printf '%s\n' 'short '{1..3} 'long '{1..7} ... 'long '{26..40}
    )
}
