# shellcheck shell=bash
# Sends many bodies to one route with one command. `load helpers/batch` after helpers/all.
#
#     check_bodies METHOD PATH [option of request...] <TABLE
#         sends every body of the table and fails with a list of the answers that differ from the
#         table. Each line of the table is
#             STATUS <tab> ISSUES <tab> BODY
#         ISSUES is - for a success, `path:code` separated by commas for a list of issues, and the
#         error's code otherwise.
#     new_batch, send_bodies METHOD PATH [option...], issues_of_batch
#         the same in steps, for bodies that are not one line of text: sends the files
#         $batch/NUMBER.in, counted from 1; writes each answer to NUMBER.status, NUMBER.head and
#         NUMBER.out.
#
# Over `direct` a FastCGI process answers all bodies of a batch, since most programs take longer to
# start than to answer; in `make test-full` each body has a process of its own.

new_batch() {
    batch=$BATS_TEST_TMPDIR/batch
    rm -rf "$batch"
    mkdir "$batch"
}

check_bodies() {
    local wanted issues text number=0
    new_batch
    while IFS=$'\t' read -r wanted issues text; do
        number=$((number + 1))
        printf '%s' "$text" >"$batch/$number.in"
        printf '%s\t%s\t%s\n' "$wanted" "$issues" "$text" >>"$batch/expected"
    done
    ((number > 0)) || fail 'the table is empty'
    send_bodies "$@"
    paste <(batch_lines status) <(issues_of_batch) <(batch_lines in) >"$batch/found"
    diff "$batch/expected" "$batch/found" >"$batch/diff" || {
        printf '%s %s: < is what was expected, > what came\n' "$1" "$2" >&2
        head -c 10000 "$batch/diff" >&2
        return 1
    }
}

# Sets `text` to the content of a file up to its first NUL, without trailing newlines; to the empty
# string when the file does not exist.
read_text() { # FILE
    text=''
    [[ ! -e $1 ]] || IFS= read -r -d '' text <"$1" || true
    text=${text%"${text##*[!$'\n']}"}
}

# Prints the files NUMBER.KIND in their order, one a line: batch_lines KIND
batch_lines() {
    local number text
    for ((number = 1; ; number++)); do
        [[ -e $batch/$number.$1 ]] || break
        if IFS= read -r -d '' text <"$batch/$number.$1"; then
            cat "$batch/$number.$1" # it contains a NUL
            printf '\n'
        else
            printf '%s\n' "$text"
        fi
    done
}

issues_of_batch() {
    local number text
    for ((number = 1; ; number++)); do
        [[ -e $batch/$number.status ]] || break
        read_text "$batch/$number.out"
        printf '%s\n' "${text//$'\n'/ }"
    done | gojq -Rr 'try (fromjson | if .success then "-"
        elif (.details | type) == "array" then [.details[] | "\(.path):\(.code)"] | join(",")
        else .error // "no envelope" end) catch "no JSON"'
}

send_bodies() {
    local method=$1 path=$2 header_list=() has_data='' data='' number
    shift 2
    while (($#)); do
        case $1 in
        -H) header_list+=("$2") ;;
        --as) header_list+=("Authorization: Bearer $2") ;;
        --session) header_list+=("Cookie: __Host-switchboard=$2" 'X-Switchboard: 1'
            'Sec-Fetch-Site: same-origin') ;;
        *) printf 'send_bodies: unknown option %s\n' "$1" >&2; return 2 ;;
        esac
        shift 2
    done
    [[ " ${header_list[*],,}" == *' content-type:'* ]] ||
        header_list+=('Content-Type: application/json')
    if [[ $TRANSPORT == direct ]]; then
        send_bodies_direct
    else
        send_bodies_http
    fi
    record_batch "$path"
}

# Sends all bodies with one curl process over one connection.
send_bodies_http() {
    local answered
    for ((number = 1; ; number++)); do
        [[ -e $batch/$number.in ]] || break
        ((number == 1)) || printf 'next\n'
        printf 'url = "%s"\nrequest = "%s"\nsilent\ngloboff\nmax-time = 600\n' "$BASE$path" \
            "$method"
        printf 'header = "%s"\n' 'Expect:' "${header_list[@]}"
        printf 'data-binary = "@%s"\noutput = "%s"\n' "$batch/$number.in" "$batch/$number.out"
        printf 'dump-header = "%s"\nwrite-out = "%%{http_code}\\n"\n' "$batch/$number.head"
    done >"$batch/curl.conf"
    curl -K "$batch/curl.conf" >"$batch/answered" || true
    number=0
    while read -r answered; do
        number=$((number + 1))
        printf '%s' "$answered" >"$batch/$number.status"
    done <"$batch/answered"
}

send_bodies_direct() {
    local program variables=() script_name path_info common
    find_program "$path"
    common=(
        PATH=/usr/local/bin:/usr/bin:/bin GATEWAY_INTERFACE=CGI/1.1 SERVER_PROTOCOL=HTTP/1.1
        "REQUEST_METHOD=$method" "REQUEST_URI=$path" QUERY_STRING= "SCRIPT_NAME=$script_name"
        "SWITCHBOARD_CONFIG=$SWITCHBOARD_CONFIG" ${path_info:+"PATH_INFO=$path_info"}
        ${ASAN_OPTIONS+"ASAN_OPTIONS=$ASAN_OPTIONS"} ${UBSAN_OPTIONS+"UBSAN_OPTIONS=$UBSAN_OPTIONS"}
        ${SWITCHBOARD_CONFINE_KILLS+"SWITCHBOARD_CONFINE_KILLS=$SWITCHBOARD_CONFINE_KILLS"}
    )
    header_variables
    env -i "${common[@]}" "${variables[@]}" "$HELPERS/batch" ${TEST_FULL:+--cgi} "$batch" \
        "$OUT/cgi-bin/$program" 2>>"$STACK/stderr.log"
}
