#!/usr/bin/env bats
# The manual pages and the shell completions, which the programs print from the tables of --help.
# transports: direct
bats_require_minimum_version 1.5.0
# bats file_tags=long
load helpers/all

setup_file() {
    export MADE=$BATS_FILE_TMPDIR
    "$root/tools/manual" "$OUT" "$MADE"
}

teardown_file() {
    :
}

setup() {
    :
}

# The text of a page on one line, without the breaks that man makes: text_of PAGE. man takes longer
# than the tests, so it formats each page once.
text_of() {
    local text=$MADE/$1.out
    [[ -s $text ]] || MANWIDTH=1000 MANOPT='--nh --nj' LC_ALL=C man -E ascii -P cat \
        -l "$MADE/man/$1" | tr -s ' \n' ' ' >"$text"
    cat "$text"
}

# Every text of standard input, one a line, must occur in a page: occur_in PAGE
occur_in() {
    local page text count=0
    page=$(text_of "$1")
    while IFS= read -r text; do
        [[ $page == *"$text"* ]] || fail "$1 lacks: $text"
        ((++count))
    done
    ((count > 0)) || fail "no texts were compared with $1"
}

@test "switchboard(8) has every command, option and text of --help, and the exit statuses" {
    local help=$BATS_TEST_TMPDIR/help line words
    "$OUT/tools/switchboard" --help >"$help"
    sed -n 's/^  \(switchboard .*\)/\1/p' "$help" | occur_in switchboard.8
    sed -n 's/^      \([^ ].*\)/\1/p' "$help" | tr -d '`' | occur_in switchboard.8
    tr -d '`' <"$help" | tr -s ' ' | sed -n 's/^ \(--.*\)/\1/p; s/^ \([0-2] .*\)/\1/p' |
        occur_in switchboard.8
    while read -r line; do
        read -ra words <<<"${line%% [A-Z+[-]*}"
        # the details as one line, and each option
        "$OUT/tools/switchboard" "${words[@]:1}" --help | tail -n +5 | tr -d '`' |
            awk '/^  --/ { sub(/^  /, ""); gsub(/  +/, " "); print; next }
                 NF { text = text (text ? " " : "") $0; next }
                 { if (text) print text; text = "" }' | occur_in switchboard.8
    done < <(sed -n 's/^  \(switchboard .*\)/\1/p' "$help")
    printf '%s\n' SWITCHBOARD_CONFIG /etc/switchboard/switchboard.conf 'EMAIL one address such as' \
        'PHONE_OR_BSUID a phone number' | occur_in switchboard.8
}

@test "the usage of a command names each option once" {
    local usage repeated
    while read -r usage; do
        repeated=$(grep -oE -- '--[a-z-]+' <<<"$usage" | sort | uniq -d) || true
        [[ -z $repeated ]] || fail "$usage"
    done < <("$OUT/tools/switchboard" --help | sed -n 's/^  \(switchboard .* --.*\)/\1/p')
}

@test "switchboard-courier(8), switchboard-pool(8) and switchboard-sender(8) have every option of --help" {
    local tool
    for tool in courier pool sender; do
        "$OUT/tools/$tool" --help | tr -s ' ' |
            sed -n 's/^usage: //p; s/^ \(--.*\)/\1/p; s/^ \([0-2] .*\)/\1/p' \
                >"$BATS_TEST_TMPDIR/$tool"
        occur_in "switchboard-$tool.8" <"$BATS_TEST_TMPDIR/$tool"
    done
    grep -q '^--pid-file FILE write' "$BATS_TEST_TMPDIR/courier"
    grep -q '^--grace SECONDS .*; default: 65$' "$BATS_TEST_TMPDIR/pool"
}

@test "switchboard-sandbox(8) has every option and control call of --help" {
    local help=$BATS_TEST_TMPDIR/help
    "$OUT/tools/switchboard-sandbox" --help | tr -s ' ' | tr -d '`' | sed -nE 's/^usage: //p
        s/^ (--.*)/\1/p; s/^ ([0-2] .*)/\1/p; s/^ ((GET|POST|DELETE) .*)/\1/p' >"$help"
    (($(grep -cE '^(GET|POST|DELETE) ' "$help") == 43))
    occur_in switchboard-sandbox.8 <"$help"
}

@test "switchboard.conf(5) has every key of the configuration with its default" {
    local key value page count=0
    page=$(text_of switchboard.conf.5)
    printf 'graph_version = v1.0\n' >"$BATS_TEST_TMPDIR/conf"
    # doctor prints every key with its value
    while IFS=$'\t' read -r key value; do
        [[ $value != unset && $value ]] || value=nothing
        [[ $key != graph_version ]] || value=v26.0
        [[ $key != host ]] || value=nothing # doctor prints the system's host name
        [[ $page == *" $key "*" Default: $value "* ]] ||
            fail "the page lacks $key or its default $value"
        ((++count))
    done < <("$OUT/tools/switchboard" doctor --config "$BATS_TEST_TMPDIR/conf" --json 2>/dev/null |
        jq -r '.[] | select(.check | startswith("config."))
            | "\(.check[7:])\t\(.detail | sub(" ?\\(default\\)$"; ""))"')
    ((count >= 13))
    sed -n 's/^#define CONFIG_DEFAULT_PATH "\(.*\)"/\1/p' "$root/lib/base/config.h" |
        occur_in switchboard.conf.5
    printf '%s\n' 'version of the Graph API Value: a Graph API version such as v26.0' \
        'Value: public or private Default: public' \
        'Value: any text; never printed Default: nothing' |
        occur_in switchboard.conf.5
}

@test "man and mandoc read every page without a warning" {
    local page
    assert_equal "$(cd "$MADE/man" && echo *)" \
        "$(echo switchboard-{courier,pool,sandbox,sender}.8 switchboard.8 switchboard.conf.5)"
    for page in "$MADE"/man/*; do
        assert_equal "$(LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l "$page" 2>&1 >/dev/null)" ''
        run mandoc -Tlint "$page"
        assert_equal "$status $output" '0 '
    done
    # a page with an unknown macro is reported by both
    { cat "$MADE/man/switchboard.8" && printf '.XYZ\n'; } >"$BATS_TEST_TMPDIR/wrong.8"
    LC_ALL=C.UTF-8 man --warnings -E UTF-8 -l "$BATS_TEST_TMPDIR/wrong.8" 2>&1 >/dev/null |
        grep -q XYZ
    run mandoc -Tlint "$BATS_TEST_TMPDIR/wrong.8"
    [[ $status != 0 ]]
}

@test "a dash in a page is the ASCII character, so that options can be copied" {
    LC_ALL=C.UTF-8 man -E UTF-8 -l "$MADE/man/switchboard-pool.8" >"$BATS_TEST_TMPDIR/page"
    grep -q -- '--max-requests' "$BATS_TEST_TMPDIR/page"
}

@test "a wrong page or shell is reported" {
    run --separate-stderr "$OUT/tools/switchboard" manual courier
    assert_equal "$status" 2
    [[ $stderr == *'PAGE `courier` must be switchboard or switchboard.conf'* ]] || fail "$stderr"
    run --separate-stderr "$OUT/tools/switchboard" completion fish
    assert_equal "$status" 2
    [[ $stderr == *'SHELL `fish` must be bash or zsh'* ]] || fail "$stderr"
}

@test "manual and completion report a full disk" {
    run bash -c "'$OUT/tools/switchboard' manual switchboard >/dev/full"
    assert_equal "$status" 1
    run bash -c "'$OUT/tools/pool' --man >/dev/full"
    assert_equal "$status" 1
}

# --- completion ---

# Prints what bash offers for the last word, sorted, on one line: complete WORD...
complete() {
    # shellcheck disable=SC2016  # the other bash expands it
    bash -c '. "$1" && shift
        COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
        "$(builtin complete -p switchboard | sed "s/.*-F \([^ ]*\) .*/\1/")"
        printf "%s\n" "${COMPREPLY[@]}"' bash "$MADE/completion/switchboard" "$@" |
        sort | tr '\n' ' '
}

@test "bash completes commands, subcommands and options, and files where a file is expected" {
    local commands='add delete export list login-link password '
    assert_equal "$(complete switchboard use)" 'user '
    assert_equal "$(complete switchboard event re)" 'replay resume '
    assert_equal "$(complete switchboard user '')" "$commands"
    assert_equal "$(complete switchboard --json user '')" "$commands"
    assert_equal "$(complete switchboard --config x user '')" "$commands"
    assert_equal "$(complete switchboard --config = x user '')" "$commands"
    assert_equal "$(complete switchboard message list --)" \
        '--after --config --contact --help --json --limit '
    assert_equal "$(complete switchboard message list --li)" '--limit '
    assert_equal "$(complete switchboard --ver)" '--version '
    assert_equal "$(complete switchboard doctor --f)" '--full '
    assert_equal "$(complete switchboard completion '')" 'bash zsh '
    assert_equal "$(complete switchboard message list --limit '')" ' '
    assert_equal "$(complete switchboard nonsense '')" ' '
    local file="$BATS_TEST_TMPDIR/a file"
    touch "$file"
    assert_equal "$(complete switchboard backup "${file% *}")" "$file "
    assert_equal "$(complete switchboard --config "${file% *}")" "$file "
    assert_equal "$(complete switchboard --config = "${file% *}")" "$file "
}

@test "bash completes every command of --help, and every option of each" {
    local line words option count=0
    while read -r line; do
        read -ra words <<<"${line%% [A-Z+[-]*}"
        [[ " $(complete "${words[@]}") " == *" ${words[-1]} "* ]] ||
            fail "not completed: ${words[*]}"
        while read -r option; do
            [[ " $(complete "${words[@]}" --)" == *" $option "* ]] ||
                fail "${words[*]} lacks $option"
        done < <("$OUT/tools/switchboard" "${words[@]:1}" --help |
            sed -n 's/^  \(--[a-z-]*\).*/\1/p')
        ((++count))
    done < <("$OUT/tools/switchboard" --help | sed -n 's/^  \(switchboard .*\)/\1/p')
    ((count >= 35))
    shellcheck -s bash "$MADE/completion/switchboard"
}

# Prints what the line editor of zsh offers for a command line; waits for a part of it, because the
# editor shows no list while there is further input: in_zsh LINE PART
in_zsh() {
    cat >"$BATS_TEST_TMPDIR/editor" <<'END'
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1=; fpath=($MADE/completion \$fpath); autoload -Uz compinit; compinit -u -D"
zpty -w shell "bindkey '^T' list-choices; bindkey '^U' kill-whole-line; LISTMAX=1000; print rea''dy"
zpty -r shell output "*ready*"
zpty -n -w shell "$LINE"$'\C-t'
zpty -r shell list "*$PART*"
zpty -n -w shell $'\C-u'"print the''end"$'\n'
zpty -r shell output "*theend*"
print -r -- "$list$output"
END
    TERM=dumb MADE=$MADE LINE=$1 PART=$2 timeout 120 zsh -f "$BATS_TEST_TMPDIR/editor" | tr -d '\r'
}

@test "zsh completes commands, subcommands and options, with their texts" {
    zsh -n "$MADE/completion/_switchboard"
    local output
    output=$(in_zsh 'switchboard ' retry)
    [[ $output == *refusal*list,*retry* && $output == *doctor*'check the installation'* ]] ||
        fail "$output"
    output=$(in_zsh 'switchboard user ' delete)
    [[ $output == *regenerate* ]] && fail "$output"
    [[ $output == *delete*'the API token stops working'* ]] || fail "$output"
    output=$(in_zsh 'switchboard message list --' --contact)
    [[ $output == *--contact*'the contact, by its id'* && $output != *--waba-id* ]] ||
        fail "$output"
    output=$(in_zsh 'switchboard completion ' zsh)
    [[ $output == *bash*zsh* ]] || fail "$output"
}
