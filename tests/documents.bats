#!/usr/bin/env bats
# README.md and doc/install.md: the commands of an installation run as they stand, in order, with
# those that change the machine recorded; so do those of the pages on operation and on servers of
# databases. Every block of the pages below is run by a test or listed here with a reason;
# platform_setup_page.bats and sandbox_page.bats run theirs whole, point_in_time.bats backups of
# a server.
# transports: cgi
load helpers/all
load helpers/command
load helpers/document

pages=(README.md doc/install.md doc/hosting.md doc/operation.md doc/postgresql.md
    doc/several-hosts.md doc/moving-to-postgresql.md doc/clients/*.md)

# The blocks that no test runs: PAGE|BEGINNING|REASON
not_run='README.md|make run|run.bats runs tools/run, which this calls
README.md|make stop|run.bats runs the command that make run prints
README.md|make test|it is the suite
README.md|cgi-bin/ |a list of directories
doc/install.md|make STATIC_CURL=1|tests/static/programs.bats runs both builds, in make static-test
doc/hosting.md|* * * * *|a line of cron; tests/hosting runs that of the crontab
doc/postgresql.md|database = |settings with the server of the reader; postgresql.bats has such
doc/postgresql.md|[databases]|settings of a pooler; postgresql.bats runs one by transaction
doc/several-hosts.md|clients, platform ->|a drawing
doc/several-hosts.md|apt install etcd-server|machines; make cluster installs these packages
doc/several-hosts.md|echo softdog|a module of the kernel and a device
doc/several-hosts.md|# haproxy.cfg|settings; make failover runs HAProxy with those of tests/cluster
doc/several-hosts.md|# switchboard.conf|settings with the servers of the reader
doc/several-hosts.md|database = |a setting; postgresql.bats has URLs with several hosts
doc/several-hosts.md|# pgbouncer.ini|settings of a pooler; postgresql.bats runs one by transaction
doc/several-hosts.md|listen web|settings; make failover runs HAProxy with those of tests/cluster
doc/several-hosts.md|echo '"'"'set server|make cluster-upgrade drains hosts so
doc/clients/README.md|203.0.113.10|a line of /etc/hosts
doc/clients/chatwoot.md|WHATSAPP_CLOUD_BASE_URL=|a setting of that program
doc/clients/evolution.md|WA_BUSINESS_URL=|a setting of that program
doc/clients/n8n.md|NODE_EXTRA_CA_CERTS=|a setting of that program
doc/clients/node.md|export GRAPH_URL=|client_pages.bats sets these variables
doc/clients/python.md|export GRAPH_URL=|client_pages.bats sets these variables
doc/clients/typebot.md|WHATSAPP_CLOUD_API_URL=|a setting of that program'

# Prints `PAGE|BEGINNING` for each call of a function of helpers/document by a test.
called() {
    local call functions='block|adds_webhook|follow|follow_page'
    local text="('[^']*'|\"[^\"\$]([^\"\\\\]|\\\\.)*\")"
    while IFS= read -r call; do
        eval "set -- ${call#* }"
        printf '%s|%s\n' "$1" "$2"
    done < <(grep -hoE "\b($functions) (README|doc/[-A-Za-z0-9/]+)\.md $text" "$root"/tests/*.bats \
        "$root"/tests/hosting/*.bats)
}

# bats test_tags=long
@test "each block of the pages is run by a test or listed with a reason, and no list is stale" {
    local page name known odd=''
    called >"$BATS_TEST_TMPDIR/called"
    cut -d '|' -f 1,2 <<<"$not_run" | cat - "$BATS_TEST_TMPDIR/called" >"$BATS_TEST_TMPDIR/known"
    assert_equal "$(cut -d '|' -f 3 <<<"$not_run" | grep -c .)" "$(grep -c . <<<"$not_run")"
    cd "$root"
    for page in ${pages[@]}; do
        while IFS= read -r name; do
            awk -F '|' -v page="$page" -v name="$name" '$1 == page &&
                index(name, substr($0, length(page) + 2)) == 1 { n++; print >>used }
                END { exit n != 1 }' used="$BATS_TEST_TMPDIR/used" "$BATS_TEST_TMPDIR/known" ||
                odd+="$page: is not run, or twice: $name"$'\n'
        done < <(block_names "$page")
    done
    while IFS= read -r known; do
        grep -qxF -e "$known" "$BATS_TEST_TMPDIR/used" || odd+="no block: $known"$'\n'
    done <"$BATS_TEST_TMPDIR/known"
    assert_equal "$odd" ''
}

# --- the commands of an installation ---

setup_file() {
    start_stack
    export CALLS=$BATS_FILE_TMPDIR/calls
    mkdir "$BATS_FILE_TMPDIR/run"
}

setup() {
    body=$BATS_TEST_TMPDIR/stdout headers=$BATS_TEST_TMPDIR/stderr
    forget_sent
    : >"$CALLS"
    cd "$BATS_FILE_TMPDIR/run" || return
}

# Makes the reader's account at the platform, with one number: has_account WABA LINE
has_account() {
    PAGE_WABA=$1 PAGE_LINE=$2
    sandbox POST accounts "{\"wabaId\":\"$1\",\"token\":\"page-token-$1\",\"name\":\"My shop\",
        \"phones\":[{\"id\":\"$2\",\"displayNumber\":\"15550009931\"}]}" silent
    printf 'page-token-%s\n' "$1" >platform-token.txt
}

teardown() {
    rm -f platform-token.txt
}

# The commands that change the machine.
record() { printf '%s\n' "$*" >>"$CALLS"; }
sudo() { "$@"; }
make() { record make "$@"; }
apt() { record apt "$@"; }
editor() { record editor "$@"; }
systemctl() { record systemctl "$@"; }
a2enmod() { record a2enmod "$@"; }
a2ensite() { record a2ensite "$@"; }
scp() { record scp "$@"; }

# Prints a command of a page, with what stands here in place of the page's ids and values.
here() {
    sed -e "s|http://127.0.0.1:8080|$BASE|; s|1022\.\.\.|$PAGE_WABA|; s|1065\.\.\.|$PAGE_LINE|" \
        -e "s|acc_\.\.\.|${page_account-}|; s|Bearer TOKEN|Bearer ${page_token-}|" \
        -e "s|/var/backups|$PWD|; s|/var/lib/switchboard/data|$PWD|" \
        -e "s|key use ID|key use ${page_key-}|; s|OLD_ID|${page_old_key-}|" <<<"$1"
}

# Runs the commands of a block, one after the other: follow PAGE START. The answer of the last one
# is $body; sets page_token and page_account, which the commands print.
follow() {
    local command
    while IFS= read -r command; do
        eval "$(here "$command")" >"$body" 2>"$headers" || fail_answer "$1: $command"
        case $command in
        *'user add '*) page_token=$(<"$body") ;;
        *'account add '*) page_account=$(<"$body") ;;
        *'key add '*) page_key=$(switchboard key list --json | jq 'map(.id) | max') ;;
        esac
    done < <(block "$1" "$2" | sed ':more; /\\$/ { N; s/\\\n *//; b more }')
}

# A user has the line that the platform lists.
assert_installed() {
    list_as_json line list --account "$page_account"
    assert_json 'map([.phoneNumberId, .phoneNumber, .isPrimary])' \
        "[[\"$PAGE_LINE\",\"+15550009931\",true]]"
}

@test "the commands of the README install, make a user and import the line" {
    has_account 990031 990032
    follow README.md 'make && sudo make install'
    assert_installed
    assert_equal "$(cat "$CALLS")" 'make
make install
systemctl enable --now switchboard-courier switchboard-sender
a2enmod cgid headers reqtimeout setenvif unique_id'
    switchboard user delete you@example.org
}

@test "the commands of the page on the package do the same, send a message and print a link" {
    has_account 990041 990042
    follow doc/install.md 'apt install ./switchboard_*.deb'
    grep -qE "^$BASE/dashboard/#/login/[0-9a-f]{64}$" "$body" || fail_answer 'expected a link'
    assert_installed
    assert_sent_json '[.to, .text.body]' '["15551234567","Hello"]' path=/messages
    assert_equal "$(cat "$CALLS")" 'apt install ./switchboard_*.deb
editor /etc/switchboard/switchboard.conf
systemctl enable --now switchboard-courier switchboard-sender
a2enmod cgid headers reqtimeout setenvif unique_id
a2ensite switchboard
systemctl restart apache2'
    switchboard user delete you@example.org
}

@test "the loops of the page on FastCGI name the pools of apache.conf" {
    local script
    script=$(block doc/install.md 'a2enmod proxy_fcgi buffer')
    eval "${script//\/etc\/switchboard\/apache.conf/$root/apache.conf}"
    local started='systemctl enable --now switchboard-fcgi@&.socket switchboard-fcgi@&'
    assert_equal "$(cat "$CALLS")" "a2enmod proxy_fcgi buffer
$(pooled_in "$root/apache.conf" | sed "s|.*|$started|")"
}

# --- operation ---

@test "the commands of an upgrade make a backup and start all services again" {
    only_on_sqlite 'a backup is of a file'
    follow doc/operation.md 'switchboard backup'
    assert_equal "$(cat "$CALLS")" 'make
make install
systemctl daemon-reload
systemctl restart switchboard-courier switchboard-sender
systemctl restart switchboard-fcgi@*.service'
    assert_equal "$(sqlite3 switchboard-before-upgrade.db 'PRAGMA integrity_check')" ok
}

@test "the commands of a downgrade bring back the database that the migration has kept" {
    only_on_sqlite 'a backup is of a file'
    switchboard user add before@example.org >/dev/null
    switchboard backup switchboard.db.before-v3 >/dev/null
    switchboard user add after@example.org >/dev/null
    follow doc/operation.md 'sudo systemctl stop switchboard-courier switchboard-sender'
    switchboard user list >"$body"
    grep -q before@example.org "$body"
    refute grep -q after@example.org "$body"
    assert_equal "$(cat "$CALLS")" 'systemctl stop switchboard-courier switchboard-sender
make install
systemctl daemon-reload
systemctl restart switchboard-courier switchboard-sender switchboard-fcgi@*.service'
    switchboard user delete before@example.org
}

@test "the alerts of the page on operation are YAML, each with a condition and what to do" {
    block doc/operation.md 'scrape_configs:' | gojq --yaml-input -e '.scrape_configs[0] |
        .authorization.credentials_file and .static_configs[0].targets == ["api.example.org"]'
    block doc/operation.md 'groups:' | gojq --yaml-input -e '.groups[0].rules | length > 9 and
        all(.[]; (.alert | test("^Switchboard[A-Z]")) and (.expr | test("switchboard_")) and
            (.annotations.summary | length > 10))'
}

# --- servers of databases ---

@test "the commands of the page on PostgreSQL install these programs, and doctor looks at them" {
    follow doc/postgresql.md 'make POSTGRESQL=1'
    assert_equal "$(cat "$CALLS")" 'make POSTGRESQL=1
make install POSTGRESQL=1
editor /etc/switchboard/switchboard.conf'
    grep -q '^ok *database ' "$body" || fail_answer 'expected a line of doctor'
}

@test "the settings of Patroni are YAML, and those of the cluster that the tests fail over" {
    local name value
    block doc/several-hosts.md 'scope: switchboard' | gojq --yaml-input . >"$body"
    assert_that '.etcd3.hosts | length == 3'
    for name in ttl loop_wait retry_timeout synchronous_mode; do
        value=$(jq ".bootstrap.dcs.$name" "$body")
        grep -qx " *$name: $value" "$root/tests/cluster/patroni.bash" || fail "$name is $value"
    done
}

@test "the commands for several hosts change the key that seals, and remove the former one" {
    only_on_sqlite 'key list of a second database has the same keys'
    local page_old_key
    page_old_key=$(switchboard key list --json | jq '.[0].id')
    follow doc/several-hosts.md 'switchboard key add'
    assert_equal "$(cat "$CALLS")" $'scp ...\nscp ...\nscp ...'
    assert_equal "$(switchboard key list --json | jq 'map(.id)' -c)" "[$page_key]"
    ((page_key != page_old_key))
}
