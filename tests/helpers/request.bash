# shellcheck shell=bash
# Sends a request over the transport of the test run.
#
#     request METHOD PATH [option...]
#         -H 'Name: value'       a header; may be repeated
#         -d TEXT                the body; with @FILE, the bytes of a file
#         --as TOKEN             Authorization: Bearer TOKEN
#         --session VALUE        the cookie of a session, with the headers that a page adds
#     api METHOD PATH ...        the same with --as "$TOKEN", the user of the last make_user
#
# PATH may contain a query. A body has Content-Type: application/json unless a -H sets another one
# (-H 'Content-Type:' sends none); with -H 'Transfer-Encoding: chunked' it has no Content-Length.
# Sets $status (the HTTP status), $headers (a file, one header a line) and $body (a file).

request() {
    local method=$1 path=$2 target=$2 header_list=() data='' has_data='' text=''
    shift 2
    while (($#)); do
        case $1 in
        -H) header_list+=("$2") ;;
        -d) data=$2 has_data=1 ;;
        --as) header_list+=("Authorization: Bearer $2") ;;
        --session) header_list+=("Cookie: __Host-switchboard=$2" 'X-Switchboard: 1'
            'Sec-Fetch-Site: same-origin') ;;
        *) printf 'request: unknown option %s\n' "$1" >&2; return 2 ;;
        esac
        shift 2
    done
    : "${answer_dir:=${BATS_TEST_TMPDIR:-$BATS_FILE_TMPDIR}}"
    headers=$answer_dir/headers body=$answer_dir/body
    if [[ -n $has_data ]]; then
        [[ " ${header_list[*],,}" == *' content-type:'* ]] ||
            header_list+=('Content-Type: application/json')
        if [[ $data == @* ]]; then
            data=${data#@}
        else
            text=$data data=$answer_dir/sent
            printf '%s' "$text" >"$data"
        fi
    fi
    if [[ $TRANSPORT == direct ]]; then
        request_direct
    else
        request_http
    fi
    record_exchange "$target"
    [[ $path != /v2/webhooks* ]] || keep_codes
}

# Records a secret of this run; tests/leaks checks that it is only in the files where it belongs:
# keep_secret KIND TEXT
keep_secret() {
    printf '%s\t%s\n' "$1" "$2" >>"$BATS_RUN_TMPDIR/secrets"
}

# Records the webhook codes of the request and of the answer. (Uses a pipe: a process substitution
# would overwrite the caller's $!.)
keep_codes() {
    local file code
    for file in "$body" ${has_data:+"$data"}; do
        [[ -f $file ]] || continue # a pipe
        { gojq -r '(.. | .webhookCode?), .code?, .data.code?, .data.items[]?.code? | strings' \
            "$file" 2>/dev/null || true; } |
            while IFS= read -r code; do
                keep_secret 'webhook code' "$code"
            done
    done
}

api() {
    request "$@" --as "$TOKEN"
}

# Sends the same request COUNT times simultaneously, each from its own process. The results are in
# numbered directories in $many, with status, headers and body; `statuses` counts them. Fails when a
# process ended without a result, since its request may have been cut off.
request_many() {
    local count=$1 number
    shift
    many=$BATS_TEST_TMPDIR/many
    rm -rf "$many"
    for ((number = 1; number <= count; number++)); do
        mkdir -p "$many/$number"
        (
            answer_dir=$many/$number
            request "$@"
            printf '%s\n' "$status" >"$answer_dir/status"
        ) 3>&- &
    done
    wait
    for ((number = 1; number <= count; number++)); do
        [[ -s $many/$number/status ]] || fail "request $number of $count has no result"
    done
}

# Prints the number of answers for each status: `64 200`
statuses() {
    cat "$many"/*/status | sort | uniq -c | sed 's/^ *//'
}

request_http() {
    local result=0
    "$HELPERS/http_request" "$answer_dir" "$method" "${BASE##*:}" "$path" \
        "${has_data:+$data}" "${header_list[@]}" || result=$?
    case $result in
    0) IFS= read -r status <"$answer_dir/code" || true ;; # no newline
    2) request_curl ;;
    *) fail "http_request ended with $result" ;; # the request may have been sent
    esac
}

request_curl() {
    local arguments=(-s -g --path-as-is --max-time 600 -X "$method" -o "$body" -D "$answer_dir/head"
        -w '%{http_code}' -H 'Expect:') header
    [[ $method != HEAD ]] || arguments+=(-I)
    for header in "${header_list[@]}"; do
        arguments+=(-H "$header")
    done
    [[ -z $has_data ]] || arguments+=(--data-binary "@$data")
    : >"$body"
    status=$(curl "${arguments[@]}" "$BASE$path") || true
    [[ $method != HEAD ]] || : >"$body" # curl writes the head there
    local line head=''
    while IFS= read -r line || [[ -n $line ]]; do
        line=${line//$'\r'/}
        case $line in
        HTTP/*) head='' ;; # with several heads (100 Continue), keep the last
        *[!' '$'\t']*) head+=$line$'\n' ;;
        esac
    done <"$answer_dir/head"
    printf '%s' "$head" >"$headers"
}

# Sends a text unchanged, for requests that curl cannot make; the server must close the connection:
# raw_request TEXT, with printf's escapes (\r\n, \0). Not over `direct`.
raw_request() {
    local line socket
    answer_dir=${BATS_TEST_TMPDIR:-$BATS_FILE_TMPDIR}
    headers=$answer_dir/headers body=$answer_dir/body status=''
    exec {socket}<>"/dev/tcp/127.0.0.1/${BASE##*:}"
    printf '%b' "$1" >&"$socket"
    timeout 600 cat <&"$socket" >"$answer_dir/answer" || true
    exec {socket}>&-
    : >"$headers"
    exec {socket}<"$answer_dir/answer"
    IFS= read -r line <&"$socket" || true
    [[ $line != HTTP/1.?' '* ]] || status=${line:9:3}
    while IFS= read -r line <&"$socket"; do
        line=${line%$'\r'}
        [[ -n $line ]] || break
        printf '%s\n' "$line" >>"$headers"
    done
    cat <&"$socket" >"$body"
    exec {socket}<&-
}

# Runs the program with the environment that mod_cgid sets (RFC 3875 4.1), and with the words of a
# query without `=` as arguments (4.4).
request_direct() {
    local program variables=() arguments=() query='' uri=$path word
    if [[ $path == *\?* ]]; then
        query=${path#*\?} path=${path%%\?*}
    fi
    decode_percent "$path"
    path=$decoded
    find_program "$path"
    variables=(
        PATH=/usr/local/bin:/usr/bin:/bin GATEWAY_INTERFACE=CGI/1.1 SERVER_PROTOCOL=HTTP/1.1
        SERVER_SOFTWARE=Apache SERVER_NAME=127.0.0.1 SERVER_ADDR=127.0.0.1 SERVER_PORT=80
        REMOTE_ADDR=127.0.0.1 REMOTE_PORT=40000 REQUEST_SCHEME=http "REQUEST_METHOD=$method"
        "REQUEST_URI=$uri" "QUERY_STRING=$query" "SCRIPT_NAME=$script_name"
        "SCRIPT_FILENAME=$OUT/cgi-bin/$program" "UNIQUE_ID=test$BASHPID-$RANDOM$RANDOM"
        "SWITCHBOARD_CONFIG=$SWITCHBOARD_CONFIG" HTTP_HOST=127.0.0.1 no_gzip=1 no_brotli=1
        ${ASAN_OPTIONS+"ASAN_OPTIONS=$ASAN_OPTIONS"} ${UBSAN_OPTIONS+"UBSAN_OPTIONS=$UBSAN_OPTIONS"}
        ${SWITCHBOARD_CONFINE_KILLS+"SWITCHBOARD_CONFINE_KILLS=$SWITCHBOARD_CONFINE_KILLS"}
    )
    [[ -z $path_info ]] ||
        variables+=("PATH_INFO=$path_info" "PATH_TRANSLATED=$OUT/cgi-bin/root$path_info")
    header_variables
    if [[ -n $query && $query != *=* ]]; then
        for word in ${query//+/ }; do
            decode_percent "$word"
            arguments+=("$decoded")
        done
    fi
    [[ -z ${KEEP-} ]] || write_for_gdb
    "$HELPERS/cgi_request" "$answer_dir" "$OUT/cgi-bin/$program" "${has_data:+$data}" \
        ${#variables[@]} "${variables[@]}" "${arguments[@]}" 2>>"$STACK/stderr.log"
    IFS= read -r status <"$answer_dir/code" || true # no newline
}

# Writes the request as a script of gdb, with which `run` makes it again.
write_for_gdb() {
    local input=/dev/null
    [[ -z $has_data ]] || input=$data
    printf 'file %s\nset exec-wrapper env -i%s\nset args%s <%q\n' "$OUT/cgi-bin/$program" \
        "$(printf ' %q' "${variables[@]}")" "${arguments:+$(printf ' %q' "${arguments[@]}")}" \
        "$input" >"$answer_dir/request.gdb"
}

# Sets program, script_name and path_info for a path, according to apache.conf: find_program PATH
find_program() {
    local directive kind prefix file expression
    ((${#script_aliases[@]})) ||
        mapfile -t script_aliases < <(grep -E '^ScriptAlias(Match)? ' "$root/apache.conf")
    for directive in "${script_aliases[@]}"; do
        read -r kind prefix file <<<"$directive"
        file=${file//\"/}
        if [[ $kind == ScriptAliasMatch ]]; then # "^PREFIX(PATH_INFO)$" ".../cgi-bin/NAME$1"
            expression=${prefix//\"/}
            [[ $1 =~ $expression ]] || continue
            program=${file##*/}
            path_info=''
            [[ $program != *\$1 ]] || path_info=${BASH_REMATCH[1]}
            program=${program%\$1}
            script_name=${1%"$path_info"}
            return
        fi
        if [[ $prefix == / || $1 == "$prefix" || $1 == "$prefix"/* ]]; then
            file=${file%/}
            program=${file##*/}
            script_name=${prefix%/}
            path_info=${1#"$script_name"}
            return
        fi
    done
}
script_aliases=()

# Adds the request headers to `variables` (RFC 3875 4.1.18). Drops names with characters other than
# letters, digits and `-`, and joins the values of equal names.
header_variables() {
    local header name value length='' chunked='' names=(HTTP_USER_AGENT HTTP_ACCEPT)
    declare -A found=([HTTP_USER_AGENT]=curl/7.88.1 [HTTP_ACCEPT]='*/*')
    declare -A preset=([HTTP_USER_AGENT]=1 [HTTP_ACCEPT]=1)
    for header in "${header_list[@]}"; do
        name=${header%%:*} value=${header#*:}
        value=${value#"${value%%[! ]*}"}
        [[ $name =~ ^[A-Za-z0-9-]+$ && ${name,,} != proxy ]] || continue
        name=HTTP_${name^^}
        name=${name//-/_}
        [[ $name != HTTP_CONTENT_TYPE ]] || name=CONTENT_TYPE
        [[ $name != HTTP_CONTENT_LENGTH ]] || length=$value
        [[ $name != HTTP_TRANSFER_ENCODING ]] || chunked=1
        [[ $header == *: ]] && continue
        [[ $name != HTTP_CONTENT_LENGTH ]] || continue
        [[ -n ${found[$name]+set} ]] || names+=("$name")
        if [[ -z ${found[$name]+set} || -n ${preset[$name]-} ]]; then
            found[$name]=$value
            unset "preset[$name]"
        else
            found[$name]+=", $value"
        fi
    done
    if [[ -n $has_data && -z $length && -z $chunked ]]; then
        count_bytes "${text-}"
        [[ -n ${text-} ]] || length=$(stat -L -c %s "$data")
    fi
    [[ -z $length ]] || variables+=("CONTENT_LENGTH=$length")
    for name in "${names[@]}"; do
        variables+=("$name=${found[$name]}")
    done
}

# Sets `length` to the number of bytes of a text.
count_bytes() {
    local LC_ALL=C
    length=${#1}
}

# Sets `decoded` to a text without percent-encoding.
decode_percent() {
    decoded=${1//\\/\\\\}
    printf -v decoded '%b' "${decoded//%/\\x}"
}

# Splits the output of a CGI (RFC 3875 6) into $headers and $body; $status is 500 if it has no
# header.
split_answer() {
    local LC_ALL=C # lengths are bytes
    local line answer head='' length=0 text
    status=''
    exec {answer}<"$answer_dir/answer"
    while IFS= read -r line <&"$answer"; do
        length=$((length + ${#line} + 1))
        line=${line%$'\r'}
        [[ -n $line ]] || break
        if [[ ${line,,} == status:* ]]; then
            status=${line#*:}
            status=${status# }
            status=${status%% *}
        else
            head+=$line$'\n'
        fi
    done
    printf '%s' "$head" >"$headers"
    # the shell copies a short text itself; tail copies a long one, or one with a NUL
    if IFS= read -r -d '' -n 65536 text <&"$answer"; then
        tail -c "+$((length + 1))" "$answer_dir/answer" >"$body"
    else
        printf '%s' "$text" >"$body"
    fi
    exec {answer}<&-
    if [[ -z $head ]]; then
        status=500
    elif [[ -z $status ]]; then
        status=200
    fi
}
