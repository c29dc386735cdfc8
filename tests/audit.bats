#!/usr/bin/env bats
# What each executable can do, by `make audit`; and that its trials are meaningful.
# transports: direct
# needs: probes
# starts first
# SQLite only: it examines the default programs
bats_require_minimum_version 1.5.0
load helpers/tracing
load helpers/assert

load helpers/routes

setup_file() {
    root=$(cd "$BATS_TEST_DIRNAME/.." && pwd)
    export root
    export report=$BATS_FILE_TMPDIR/report audited=$OUT
    # builds with sanitizers or coverage are linked differently; the probe build is linked like the plain one
    [[ $OUT == "$root" ]] || audited=$root/build/probe
    audit_status=0
    OUT=$audited ASK=$HELPERS/ask VERBOSE=1 "$root/tests/audit" >"$report" 2>&1 || audit_status=$?
    export audit_status
}

# Prints a line `PROGRAM TRIAL=COUNT OUTCOME...` for each trial of the report: how often it was made, as each
# kind of process and in each layout, and which outcomes it had. The report's lines are
# `PROGRAM KIND LAYOUT VERDICT OUTCOME ERROR TRIAL`; the verdict `unproven` means that only a newer kernel
# refuses it.
outcomes() {
    awk '$2 ~ /^(cgi|fastcgi|resident)$/ {
            key = $1
            for (i = 7; i <= NF; i++)
                key = key " " $i
            count[key]++
            outcome = $4 == "unproven" ? "refused" : $5
            if (!seen[key, outcome]++)
                found[key] = found[key] " " outcome
        }
        END { for (key in count) print key "=" count[key] found[key] }' "$report"
}

# The trial has this outcome for the program, as each kind of process and in each layout of the report:
# assert_outcome OUTCOME PROGRAM TRIAL
assert_outcome() {
    local key expected
    if [[ ${read_report-} != "$report" ]]; then
        outcome_of=()
        while IFS='=' read -r key expected; do
            outcome_of[$key]=$expected
        done < <(outcomes)
        read_report=$report
    fi
    [[ $2 == courier || $2 == sender ]] && expected=1 || expected=2
    expected="$((expected * ${layouts-3})) $1"
    [[ ${outcome_of["$2 $3"]-} == "$expected" ]] ||
        fail "$2, $3: expected $expected, found ${outcome_of["$2 $3"]-none}: $(grep "^$2 .* $3\$" "$report")"
}
declare -gA outcome_of

# Prints the executables but the given ones, so that a new one is expected to be refused.
all_but() {
    executables | grep -vxF "$(printf '%s\n' "$@")"
}

# Prints what each executable declares that it may do, one JSON object a line.
describe_needs() {
    local program
    for program in $(executables); do
        "$OUT/cgi-bin/$program" --describe </dev/null | gojq -c '{executable, may, methods: [.routes[].method] | unique}'
    done
}

@test "every executable can do what it declares, and nothing else" {
    ((audit_status == 0)) || fail "$(cat "$report")"
    grep -qE '^[0-9]{5} trials in the layouts installed hosting run: .* 0 surprises$' "$report"
}

@test "a process that is not confined can do nearly all of it" {
    local line possible trials
    line=$(grep '^a process that is not confined' "$report")
    [[ $line =~ ([0-9]+)\ of\ the\ ([0-9]+) ]]
    possible=${BASH_REMATCH[1]} trials=${BASH_REMATCH[2]}
    ((EUID == 0)) || trials=$((trials - 10)) # only root can do these
    ((trials >= 100 && possible >= trials - 8)) || fail "$line"
}

@test "no program starts programs, opens foreign files or makes memory executable" {
    local program
    for program in $(executables); do
        assert_outcome refused "$program" execve
        assert_outcome refused "$program" 'read /etc/passwd'
        assert_outcome refused "$program" 'make memory executable'
        assert_outcome refused "$program" 'write the key file'
        assert_outcome refused "$program" io_uring_setup
    done
}

@test "no program writes keys, configuration, programs, counters or the list of the requests, or files beside them" {
    local program file
    for program in $(executables) courier sender; do
        for file in 'the configuration' 'the key file' 'a program' "the counters' file" 'the list of the requests'; do
            assert_outcome refused "$program" "write $file"
        done
        for file in 'the configuration' 'the key file' 'the programs' 'the counters'; do
            assert_outcome refused "$program" "make a file beside $file"
            assert_outcome refused "$program" "remove a file beside $file"
        done
    done
    for program in $(executables); do
        assert_outcome refused "$program" 'read the log'
        assert_outcome refused "$program" 'reopen the log'
        assert_outcome refused "$program" 'make a file beside the log'
        assert_outcome refused "$program" 'remove a file in run_dir'
    done
}

@test "only the programs that call the platform or webhooks reach the network" {
    local program calling=(messages templates campaigns forms media graph graph_media webhook
        account_setup)
    for program in $(all_but "${calling[@]}"); do
        assert_outcome refused "$program" 'connect to loopback TCP'
    done
    for program in "${calling[@]}"; do
        assert_outcome possible "$program" 'connect to loopback TCP'
        assert_outcome refused "$program" 'bind a TCP port'
    done
}

@test "no program reaches a stream socket of another service by its path" {
    local program
    for program in $(all_but ready) courier sender; do
        assert_outcome refused "$program" 'connect to a stream socket by its path'
        assert_outcome refused "$program" 'connect one of a pair of sockets to a path'
    done
    assert_outcome possible platform 'socket AF_UNIX, datagrams'
    assert_outcome refused platform 'connect to a datagram socket by its path'
}

@test "no program maps code, not even from files that it may write" {
    local program
    for program in $(all_but ready) courier sender; do
        assert_outcome refused "$program" 'map a library as code'
        assert_outcome refused "$program" 'map a file that it may write as code'
        assert_outcome refused "$program" 'map empty memory as code'
    done
}

@test "only the programs that encrypt or decrypt tokens and codes read the key file" {
    local program
    local reading=(messages templates campaigns forms media graph graph_media webhook_config webhook
        account_setup factor)
    for program in $(all_but "${reading[@]}"); do
        assert_outcome refused "$program" 'read the key file'
        assert_outcome refused "$program" 'read beside the configuration'
    done
    for program in "${reading[@]}" courier; do
        assert_outcome possible "$program" 'read the key file'
    done
}

@test "a program that only reads the database cannot write it" {
    local program programs
    programs=$(describe_needs | gojq -r 'select(.may | index("read the database")).executable')
    (($(wc -w <<<"$programs") >= 8)) || fail "only these declare it: $programs"
    # none that has only requests to read writes
    assert_equal "$(describe_needs | gojq -r 'select(.methods == ["GET"]
        and (.may | index("read and write the database"))).executable')" ''
    for program in $programs; do
        assert_outcome refused "$program" 'open the database for writing'
        assert_outcome refused "$program" 'make a file beside the database'
        assert_outcome refused "$program" 'have the database open for writing'
        assert_outcome refused "$program" 'have the write-ahead log open for writing'
        assert_outcome refused "$program" 'have the wal-index open for writing'
        assert_outcome refused "$program" 'map shared memory for writing'
        assert_outcome refused "$program" 'write at an offset of a file'
    done
    assert_outcome possible messages 'open the database for writing'
    assert_outcome possible session 'open the database for writing'
    assert_outcome refused health 'open the database for reading'
    assert_outcome refused health 'read the key file'
}

@test "every program counts in a file that it has mapped, and cannot open, read or replace it" {
    local program
    for program in $(executables) courier sender; do
        assert_outcome refused "$program" "read the counters' file"
        assert_outcome refused "$program" "write the counters' file"
        assert_outcome refused "$program" "have the counters' file open for writing"
        assert_outcome refused "$program" 'read the list of the requests'
        assert_outcome refused "$program" 'write the list of the requests'
        assert_outcome refused "$program" 'have the list of the requests open for writing'
        assert_outcome refused "$program" 'make a file beside the counters'
        assert_outcome refused "$program" 'remove a file beside the counters'
    done
}

@test "the sender writes the database and its log, makes connections, and does nothing else" {
    assert_outcome possible sender 'open the database for writing'
    assert_outcome possible sender 'reopen the log'
    assert_outcome possible sender 'connect to loopback TCP'
    assert_outcome refused sender execve
    assert_outcome refused sender fork
    assert_outcome refused sender listen
    assert_outcome refused sender 'write the key file'
    assert_outcome refused sender 'write the configuration'
    assert_outcome refused sender 'make a file in the working directory'
    assert_outcome refused sender 'read /etc/passwd'
}

@test "the courier writes the database and its log, makes connections, and does nothing else" {
    assert_outcome possible courier 'open the database for writing'
    assert_outcome possible courier 'reopen the log'
    assert_outcome possible courier 'connect to loopback TCP'
    assert_outcome refused courier execve
    assert_outcome refused courier fork
    assert_outcome refused courier listen
    assert_outcome refused courier 'write the key file'
    assert_outcome refused courier 'write the configuration'
    assert_outcome refused courier 'make a file in the working directory'
    assert_outcome refused courier 'read /etc/passwd'
}

# bats test_tags=long
@test "without Landlock the system call filter alone prevents writing, programs and network access" {
    report=$BATS_TEST_TMPDIR/report
    LAYOUTS=installed OUT=$audited ASK=$HELPERS/ask VERBOSE=1 "$HELPERS/without_landlock" "$root/tests/audit" \
        >"$report" 2>&1 || fail "$(cat "$report")"
    layouts=1
    grep -qE '^[0-9]+ trials in the layouts installed: .* [1-9][0-9]* not refused by this kernel, 0 surprises$' "$report"
    grep -qE '^me +cgi +installed +unproven +possible +- +read /etc/passwd$' "$report"
    assert_outcome refused me 'open the database for writing'
    assert_outcome refused me 'have the wal-index open for writing'
    assert_outcome refused me 'make a file in /tmp'
    assert_outcome refused me 'connect to loopback TCP'
    assert_outcome refused platform 'connect to loopback TCP'
    assert_outcome refused messages execve
    # a CGI that reads no file needs no open(2), so the filter refuses it
    assert_equal "$(awk '$1 == "health" && $2 == "cgi" && /read \/etc\/passwd/ { print $4, $5 }' "$report")" \
        'declared refused'
}

@test "the table lists every route, need and library, and the numbers of system calls and of lines" {
    local file method path more
    grep -qE '^me +GET +/v2/me +basic +read the database +libsqlite3, static +[0-9]+/[0-9]+ +[0-9]+\+[0-9]+$' "$report"
    grep -qE '^ +POST +/v2/messages/send/text +send +call the platform +' "$report"
    grep -qE '^health .* only answer +libfcgi, static ' "$report"
    while read -r method path more; do
        grep -qE "^[a-z_]* +$method +$path( |\$)" "$report" || fail "the table lacks $method $path"
    done < <(routes)
    for file in "$root"/cgi-bin/*.c; do
        grep -q "^$(basename "$file" .c) " "$report" || fail "the table has no row for $file"
    done
}

# bats test_tags=long
@test "the audit fails for an executable that can do more than it declares" {
    # `health` is a copy of messages
    local probes=$BATS_TEST_TMPDIR/probes
    mkdir -p "$probes"
    cp -r "$root"/build/probe/{cgi-bin,tools,control} "$probes"
    cp "$probes/cgi-bin/messages" "$probes/cgi-bin/health"
    status=0
    LAYOUTS=run OUT=$audited PROBES=$probes ASK=$HELPERS/ask "$root/tests/audit" >"$BATS_TEST_TMPDIR/out" 2>&1 || status=$?
    ((status == 1)) || fail "expected the audit to fail"
}

# Audits the named executables alone: audit_only NAMES [VERBOSE]. Sets $status and the file $only.
audit_only() {
    local objects=build/plain
    [[ $audited == "$root" ]] || objects=build/probe/objects
    only=$BATS_TEST_TMPDIR/only status=0
    LAYOUTS=run OUT=$audited OBJECTS=$root/$objects ASK=$HELPERS/ask ONLY=$1 VERBOSE=${2-} \
        "$root/tests/audit" >"$only" 2>&1 || status=$?
}

# Prints the entries of a list of the report, without their indent: entries TITLE
entries() {
    awk -v title="$1" 'index($0, title) == 1 { found = 1; next } found && !/^  / { exit }
        found { sub(/^ */, ""); print }' "$only"
}

# bats test_tags=long
@test "ONLY prints all that an executable holds, and nothing of others" {
    audit_only me
    ((status == 0)) || fail "$(cat "$only")"
    assert_equal "$(entries routes: | tr -s ' ')" 'GET /v2/me basic'
    assert_equal "$(entries 'in addition to answering')" 'read the database'
    assert_equal "$(entries 'files that it may open' | sed 's/:.*//')" $'database\ndatabase_reader\nlog_file'
    assert_equal "$(entries 'files that it may open' | sed -n 's/^database: //p')" \
        'open for reading'
    entries 'files that it may open' | grep -qx 'log_file: open for appending'
    assert_equal "$(entries 'files that are mapped')" \
        $'metrics_file: reading and writing\nrequests_file: reading and writing'
    ! grep -q '^addresses:' "$only" || fail 'it calls nothing'
    entries libraries: | grep -qx 'libsqlite3, static'
    entries 'system calls as cgi' | grep -qw openat
    entries 'lines of its source' | grep -qx "$(wc -l <"$root/cgi-bin/me.c") cgi-bin/me.c"
    entries 'SQL statements: ' | grep -qx 'BEGIN'
    grep -qE '^[0-9]{3} trials in the layouts run: .* 0 surprises$' "$only"
    ! grep -q '^messages\|^health\|POST' "$only" || fail "another program is in the report"
    ! grep -q '^me  *cgi' "$only" || fail "trials without V=1"
}

# Prints the statements of a source file, by the preprocessor, which reads each file once: written_in FILE
written_in() {
    local kept=$BATS_TEST_TMPDIR/${1//\//-}
    [[ -e $kept ]] || gcc -E -P -std=c11 -D_GNU_SOURCE -I"$root/lib" "$root/$1" 2>/dev/null |
        awk -f "$root/tests/lint/statements.awk" | sed -n 's/^statement\t//p' >"$kept"
    cat "$kept"
}

# bats test_tags=long
@test "ONLY lists exactly the SQL statements of the linked sources" {
    local program file
    for program in me webhook_config courier health; do
        audit_only "$program"
        ((status == 0)) || fail "$(cat "$only")"
        entries 'SQL statements: ' | LC_ALL=C sort >"$BATS_TEST_TMPDIR/listed"
        entries 'lines of its source' | sed -n 's/^[0-9]* \(.*\.c\)$/\1/p' | while read -r file; do
            written_in "$file"
        done | LC_ALL=C sort -u >"$BATS_TEST_TMPDIR/written"
        # every one is listed; others are not statements that are prepared for reuse: the pragmas,
        # the transactions and the migration
        assert_equal "$(LC_ALL=C comm -13 "$BATS_TEST_TMPDIR"/{listed,written})" ''
        assert_equal "$(LC_ALL=C comm -23 "$BATS_TEST_TMPDIR"/{listed,written} |
            grep -vE '^(PRAGMA|BEGIN|COMMIT|ROLLBACK|SELECT 1 FROM sqlite_schema)')" ''
        [[ $program == health || -s $BATS_TEST_TMPDIR/written ]] || fail "no statements of $program"
    done
    assert_equal "$(grep -c 'SQL' "$only")" 0 # health has none
}

# bats test_tags=long
@test "V=1 with ONLY prints the trials of these executables alone" {
    audit_only health,courier 1
    ((status == 0)) || fail "$(cat "$only")"
    assert_equal "$(awk '$2 ~ /^(cgi|fastcgi|resident)$/ { print $1 }' "$only" | sort -u)" $'courier\nhealth'
    (($(grep -c '^courier *resident *run *declared ' "$only") >= 100))
    entries 'addresses:' | grep -qx 'any address; it calls the URLs that users set, as their rules allow'
    entries 'files that it may open' | grep -q '^log_file: '
}

@test "ONLY with a name of no executable prints the names" {
    local names
    # shellcheck disable=SC2016  # $1 is of Apache
    names=$(sed -nE 's|^ScriptAlias(Match)? .*/cgi-bin/([a-z_]*)(/\|\$1)?"$|\2|p' "$root/apache.conf" |
        awk '!seen[$0]++' | tr '\n' ' ')
    audit_only 'me nothing'
    assert_equal "$status" 2
    assert_equal "$(cat "$only")" "audit: there is no executable nothing; ONLY takes names of: ${names}courier sender"
}

# bats test_tags=long
@test "the audit fails when the objects are not those of the executable" {
    local objects=$BATS_TEST_TMPDIR/objects
    [[ $audited == "$root" ]] || skip "the build with sanitizers has the objects elsewhere"
    mkdir -p "$objects"
    cp -r "$root/build/plain"/{lib,cgi-bin} "$objects"
    cp "$objects/lib/store/life/housekeeping.o" "$objects/lib/store/login/access.o"
    status=0
    LAYOUTS=run OUT=$audited OBJECTS=$objects ASK=$HELPERS/ask ONLY=me "$root/tests/audit" >"$BATS_TEST_TMPDIR/out" 2>&1 ||
        status=$?
    ((status == 1)) || fail "expected the audit to fail"
    grep -q '^audit: me was not linked from ' "$BATS_TEST_TMPDIR/out" || fail "$(cat "$BATS_TEST_TMPDIR/out")"
}
