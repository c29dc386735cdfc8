#!/usr/bin/env bats
# POST /v2/media/upload (spec 4.6, 2.7, 8), in both modes. Downloads: media_download.bats.
# shellcheck disable=SC2153  # helpers/media sets LINE and others
load helpers/all
load helpers/conventions
load helpers/media
load helpers/memory

BOUNDARY="---a'form(of)_ours"

# --- requests ---

# Builds a form part by part in $FORM: call new_form, then add parts, then call end_form.
new_form() {
    FORM=$BATS_TEST_TMPDIR/form
    : >"$FORM"
}

part() { # HEADER-LINES FILE
    {
        printf -- '--%s\r\n%b\r\n\r\n' "$BOUNDARY" "$1"
        cat "$2"
        printf '\r\n'
    } >>"$FORM"
}

field() { # NAME VALUE
    printf -- '--%s\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n' "$BOUNDARY" "$1" "$2" \
        >>"$FORM"
}

file() { # FILE [NAME [TYPE]]
    part "Content-Disposition: form-data; name=\"file\"; filename=\"${2-photo.jpg}\"${3+\\r\\nContent-Type: $3}" "$1"
}

end_form() {
    printf -- '--%s--\r\n' "$BOUNDARY" >>"$FORM"
}

send_form() { # [option of request...]
    api POST /v2/media/upload -H "Content-Type: multipart/form-data; boundary=\"$BOUNDARY\"" \
        -d "@$FORM" "$@"
}

# Uploads FILE in a form for our line: upload_form FILE [NAME [TYPE]]
upload_form() {
    new_form
    field phoneNumberId "$LINE"
    file "$@"
    end_form
    send_form
}

# A PDF file of exactly 100 MB.
big() {
    local file=$BATS_FILE_TMPDIR/big.pdf
    [[ -e $file ]] || { printf '%%PDF-1.7\n'; head -c $((LIMIT - 9)) /dev/urandom; } >"$file"
    printf '%s' "$file"
}

# --- expected results ---

# A member of the sandbox's record of the last upload: uploaded JQ-PATH
uploaded() {
    sandbox GET "media/$(gojq -r .data.mediaId "$body")" | gojq -r "$1"
}

# The answer is 200, and the platform has exactly these bytes with this type and name.
assert_uploaded() { # FILE TYPE [NAME]
    assert_success
    assert_that '.data | keys == ["mediaId"] and (.mediaId | type == "string")'
    local found digest
    found=$(uploaded '.sha256, .typeField, .partHeaders')
    digest=$(sha256sum <"$1")
    assert_equal "$found" "$(printf '%s\n%s\nContent-Disposition: form-data; name="file"; filename="%s"\r\nContent-Type: %s' \
        "${digest%% *}" "$2" "${3-photo.jpg}" "$2")"
}

uploads() {
    sandbox GET media | gojq '[.[] | select(.partHeaders)] | length'
}

# The answer is 4xx in the envelope; nothing was sent to the platform or written to the disk.
assert_refused() { # STATUS [MESSAGE-PART]
    assert_error "$1" VALIDATION_ERROR "${2-}"
    assert_conventions
    assert_nothing_sent
    assert_equal "$(ls -A "$SPOOL")" ''
}

# --- POST /v2/media/upload, a form ---

# bats test_tags=route
@test "a form with file and phoneNumberId is uploaded byte for byte and answered with the media id" {
    local photo
    photo=$(photo)
    upload_form "$photo" photo.jpg image/jpeg
    assert_uploaded "$photo" image/jpeg
    assert_conventions
    assert_equal "$(sent_count)" 1
    assert_sent_to "$LINE/media"
    assert_equal "$(token_sent)" "Bearer $PLATFORM_TOKEN"
    assert_equal "$(uploaded .phoneNumberId)" "$LINE"
}

# bats test_tags=direct
@test "the file may come before phoneNumberId and type, and among unknown fields" {
    local photo
    photo=$(photo)
    new_form
    field other "$(printf 'x%.0s' {1..3000})"
    file "$photo" photo.jpg application/octet-stream
    field type image/png
    part 'Content-Disposition: form-data; name="thumbnail"; filename="t.jpg"' "$photo"
    field phoneNumberId "$SECOND_LINE"
    end_form
    send_form
    assert_uploaded "$photo" image/png
    assert_equal "$(uploaded .phoneNumberId)" "$SECOND_LINE"
}

# bats test_tags=direct
@test "phoneNumberId of a form may come as a header instead (spec 5.6)" {
    local photo header
    photo=$(photo)
    for header in X-Phone-Number-Id phoneNumberId; do
        new_form
        file "$photo" photo.jpg image/jpeg
        end_form
        send_form -H "$header: $LINE"
        assert_uploaded "$photo" image/jpeg
    done
}

# bats test_tags=route
@test "a chunked form is accepted like one with Content-Length" {
    local photo
    photo=$(photo 300000)
    new_form
    file "$photo" photo.jpg image/jpeg
    field phoneNumberId "$LINE"
    end_form
    send_form -H 'Transfer-Encoding: chunked'
    assert_uploaded "$photo" image/jpeg
}

# bats test_tags=direct
@test "the form that curl -F sends is accepted" {
    local photo
    photo=$(photo)
    curl -s -o /dev/null -F "file=@$photo;filename=photo.jpg;type=image/jpeg" -F "phoneNumberId=$LINE" \
        "$SANDBOX/v26.0/form" # the sandbox records the request
    sent >"$BATS_TEST_TMPDIR/form"
    api POST /v2/media/upload -d "@$BATS_TEST_TMPDIR/form" \
        -H "Content-Type: $(sandbox GET requests/last | gojq -r '.headers["content-type"]')"
    assert_uploaded "$photo" image/jpeg
}

# bats test_tags=direct
@test "boundaries of 1 to 70 characters, quoted or not, separate the parts" {
    local photo type
    photo=$(photo)
    for type in b "$(printf 'b%.0s' {1..70})" '"with a space"' "\"'()+_,-./:=?\"" '----WebKitFormBoundary7MA4'; do
        BOUNDARY=${type//\"/}
        new_form
        field phoneNumberId "$LINE"
        file "$photo" photo.jpg image/jpeg
        end_form
        api POST /v2/media/upload -H "Content-Type: multipart/form-data; charset=utf-8; boundary=$type" -d "@$FORM"
        assert_uploaded "$photo" image/jpeg
    done
}

# bats test_tags=direct,long
@test "file names keep their UTF-8, filename* takes precedence, and no name can add a header" {
    local photo name wanted
    photo=$(photo)
    while IFS=$'\t' read -r name wanted; do
        printf 'case: %s\n' "$name"
        new_form
        field phoneNumberId "$LINE"
        part "Content-Disposition: form-data; name=\"file\"; $name\\r\\nContent-Type: image/jpeg" "$photo"
        end_form
        send_form
        assert_uploaded "$photo" image/jpeg "$wanted"
    done <<'END'
filename="photo 1 (2).jpg"	photo 1 (2).jpg
filename="Grüße 😀.jpg"	Grüße 😀.jpg
filename=photo.jpg	photo.jpg
filename="x.jpg"; filename*=UTF-8''gr%C3%BC%C3%9Fe.jpg	grüße.jpg
filename*=utf-8'de'a%0D%0AX-Evil:%201%22.jpg	aX-Evil: 1.jpg
filename="C:\\Users\\me\\photo.jpg"	photo.jpg
filename="../../etc/photo.jpg"	photo.jpg
filename="a\\"b\\".jpg"	ab.jpg
filename="a;b=c.jpg"	a;b=c.jpg
filename=""	file
X=y	file
END
}

# --- POST /v2/media/upload, a raw body ---

# bats test_tags=route
@test "a raw body is uploaded byte for byte, with the name in X-Filename, else file" {
    local photo
    photo=$(photo)
    upload_raw "$photo" image/jpeg
    assert_uploaded "$photo" image/jpeg file
    upload_raw "$photo" image/jpeg -H 'X-Filename: Grüße.jpg'
    assert_uploaded "$photo" image/jpeg 'Grüße.jpg'
    upload_raw "$photo" image/jpeg -H 'X-Filename: a"; x="b.jpg'
    assert_uploaded "$photo" image/jpeg 'a; x=b.jpg'
}

@test "the header phoneNumberId is accepted like X-Phone-Number-Id" {
    local photo
    photo=$(photo)
    api POST /v2/media/upload -H 'Content-Type: image/jpeg' -H "phoneNumberId: $SECOND_LINE" -d "@$photo"
    assert_uploaded "$photo" image/jpeg file
    assert_equal "$(uploaded .phoneNumberId)" "$SECOND_LINE"
}

# bats test_tags=direct
@test "a raw body is never written to the disk" {
    local photo
    photo=$(photo 500000)
    write_config "spool_dir = $STACK/nowhere"
    upload_raw "$photo" image/jpeg
    assert_uploaded "$photo" image/jpeg file
    upload_raw "$photo" ''
    assert_uploaded "$photo" image/jpeg file
    upload_form "$photo" photo.jpg image/jpeg
    assert_error 500 INTERNAL_ERROR 'cannot store'
    grep -q 'nowhere: No such file' "$LOG"
}

# --- the type ---

# bats test_tags=direct
@test "the type is sent to the platform without parameters and in lower case" {
    local photo
    photo=$(photo)
    upload_raw "$photo" 'Audio/OGG; codecs=opus'
    assert_uploaded "$photo" audio/ogg file
    upload_form "$photo" photo.jpg 'audio/ogg;codecs=opus'
    assert_uploaded "$photo" audio/ogg
    upload_raw "$photo" image/png -H 'X-Upload-Type: audio/OGG; codecs=opus'
    assert_uploaded "$photo" audio/ogg file
}

# bats test_tags=direct
@test "type and X-Upload-Type take precedence over the Content-Type of the file" {
    local photo
    photo=$(photo)
    upload_raw "$photo" image/png -H 'X-Upload-Type: image/webp'
    assert_uploaded "$photo" image/webp file
    new_form
    field type image/webp
    file "$photo" photo.jpg application/octet-stream
    field phoneNumberId "$LINE"
    end_form
    send_form
    assert_uploaded "$photo" image/webp
}

# bats test_tags=direct
@test "a generic type hint is ignored, and a hint that is not a MIME type is 400" {
    local photo hint
    photo=$(photo)
    upload_raw "$photo" image/png -H 'X-Upload-Type: application/octet-stream'
    assert_uploaded "$photo" image/png file
    new_form
    field type ''
    field phoneNumberId "$LINE"
    file "$photo" photo.jpg image/png
    end_form
    send_form
    assert_uploaded "$photo" image/png
    forget_sent
    for hint in jpeg image/ 'image/jpeg x' 'image/"jpeg"'; do
        upload_raw "$photo" image/png -H "X-Upload-Type: $hint"
        assert_refused 400 'MIME type'
    done
}

# bats test_tags=direct,long
@test "without a type, or with a generic one, the type is detected from content and file name" {
    local photo type file=$BATS_TEST_TMPDIR/content name bytes wanted
    photo=$(photo)
    for type in '' application/octet-stream application/x-www-form-urlencoded nonsense; do
        upload_raw "$photo" "$type"
        assert_uploaded "$photo" image/jpeg file
    done
    upload_form "$photo" unknown application/octet-stream
    assert_uploaded "$photo" image/jpeg unknown
    upload_form "$photo" photo.png
    assert_uploaded "$photo" image/jpeg photo.png
    while IFS='|' read -r name bytes wanted; do
        printf 'case: %s %s\n' "$name" "$wanted"
        printf '%b' "$bytes" >"$file"
        upload_form "$file" "$name" application/octet-stream
        assert_uploaded "$file" "$wanted" "$name"
    done <<'END'
a|%PDF-1.7\n1 0 obj\n|application/pdf
a|\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0|image/png
a|RIFF\x24\0\0\0WEBPVP8 \x18\0\0\0|image/webp
a|OggS\0\x02\0\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\x01\x13OpusHead\x01\x01|audio/ogg
a|\0\0\0\x18ftypmp42\0\0\0\0mp42isom|video/mp4
a.m4a|\0\0\0\x18ftypmp42\0\0\0\0mp42isom|audio/mp4
a|\0\0\0\x18ftypM4A \0\0\0\0M4A mp42|audio/mp4
a|#!AMR\n\x3c\x08|audio/amr
a.txt|hello, world\n|text/plain
a.docx|PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0|application/vnd.openxmlformats-officedocument.wordprocessingml.document
a.xlsx|PK\x03\x04\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0|application/vnd.openxmlformats-officedocument.spreadsheetml.sheet
a.mp3|\x01\x02\x03\x04nothing that anybody knows\x05|audio/mpeg
END
}

# bats test_tags=direct
@test "a file of unknown type is sent as application/octet-stream, and the platform's error is passed on" {
    local file=$BATS_TEST_TMPDIR/unknown
    printf '\x01\x02\x03\x04nothing that anybody knows\x05' >"$file"
    upload_raw "$file" ''
    assert_error 400 VALIDATION_ERROR "Received file of type 'application/octet-stream'"
    assert_json .details.error.code 100
}

# --- authorization ---

# bats test_tags=direct
@test "a missing phoneNumberId is 400 in both modes" {
    local photo
    photo=$(photo)
    api POST /v2/media/upload -H 'Content-Type: image/jpeg' -d "@$photo"
    assert_refused 400 phoneNumberId
    assert_issue phoneNumberId
    new_form
    file "$photo" photo.jpg image/jpeg
    end_form
    send_form
    assert_refused 400 phoneNumberId
    assert_issue phoneNumberId
    new_form
    field phoneNumberId ''
    file "$photo" photo.jpg image/jpeg
    end_form
    send_form
    assert_refused 400 phoneNumberId
}

# bats test_tags=direct,long
@test "a phoneNumberId of another user or an archived one is 403, and nothing is sent" {
    local photo id
    photo=$(photo)
    switchboard line add "$ACCOUNT" --phone-number-id 777 --number +15557770777 >/dev/null
    switchboard line archive 777
    for id in "$OTHER_LINE" 777 1 "' OR 1=1" "$FIRST_LINE "x; do
        LINE=$id
        upload_raw "$photo" image/jpeg
        assert_error 403 FORBIDDEN phoneNumberId
        upload_form "$photo" photo.jpg image/jpeg
        assert_error 403 FORBIDDEN phoneNumberId
        assert_nothing_sent
    done
}

# bats test_tags=route,long
@test "the token is checked before the body, and a body of any size gets its answer" {
    local try
    for try in 1 2 3; do
        request POST /v2/media/upload -H 'Content-Type: image/jpeg' -d "@$(photo 3000000)"
        assert_error 401 UNAUTHORIZED 'Missing API token'
        request POST /v2/media/upload -H 'Content-Type: multipart/form-data' -d "@$(photo 300000)" --as wrong
        assert_error 401 UNAUTHORIZED
    done
    assert_nothing_sent
}

# bats test_tags=route
@test "POST /v2/media is 404" {
    api POST /v2/media -d '{}'
    assert_error 404 NOT_FOUND
}

# --- sizes ---

# bats test_tags=route
@test "a raw body without Content-Length is 411" {
    upload_raw "$(photo)" image/jpeg -H 'Transfer-Encoding: chunked'
    assert_refused 411 Content-Length
}

# bats test_tags=long
@test "exactly 100 MB are accepted in both modes, with at most 16 MB of memory" {
    local big
    big=$(big)
    watch_memory media
    upload_raw "$big" ''
    assert_uploaded "$big" application/pdf file
    upload_form "$big" big.pdf
    assert_uploaded "$big" application/pdf big.pdf
    assert_memory
}

# bats test_tags=route,long
@test "one byte more is 413 in both modes, and nothing is sent" {
    local file=$BATS_TEST_TMPDIR/larger
    { cat "$(big)"; printf x; } >"$file"
    upload_raw "$file" application/pdf
    assert_refused 413 "$LIMIT bytes"
    upload_form "$file" big.pdf application/pdf
    assert_refused 413 "$LIMIT bytes"
    send_form -H 'Transfer-Encoding: chunked'
    assert_refused 413 "$LIMIT bytes"
    truncate -s $((LIMIT + 2097153)) "$file"
    upload_form "$file" big.pdf application/pdf
    assert_error 413 VALIDATION_ERROR "$LIMIT bytes" # Apache's own limit, where it applies
    assert_nothing_sent
}

@test "an empty file is 400" {
    : >"$BATS_TEST_TMPDIR/empty"
    upload_raw "$BATS_TEST_TMPDIR/empty" image/jpeg
    assert_refused 400 file
    upload_form "$BATS_TEST_TMPDIR/empty" photo.jpg image/jpeg
    assert_refused 400 file
    assert_issue file
}

# --- invalid forms ---

# bats test_tags=direct
@test "a form without a boundary, or with an invalid one, is 400" {
    local boundary
    upload_form "$(photo)" photo.jpg image/jpeg
    forget_sent
    for boundary in '' '; boundary=' '; boundary=""' "; boundary=$(printf 'b%.0s' {1..71})" '; boundary=a@b' \
        '; boundary="a ' '; boundary=a; boundary=b'; do
        api POST /v2/media/upload -H "Content-Type: multipart/form-data$boundary" -d "@$FORM"
        assert_refused 400 boundary
    done
    api POST /v2/media/upload -H 'Content-Type: multipart/form-data; boundary=other' -d "@$FORM"
    assert_refused 400 boundary
}

# bats test_tags=direct,long
@test "a form without its closing boundary is 400, cut at any byte" {
    local n length=0 whole=$BATS_TEST_TMPDIR/whole step=13
    printf 'x\r\n--y' >"$BATS_TEST_TMPDIR/small"
    upload_form "$BATS_TEST_TMPDIR/small" photo.jpg image/jpeg
    assert_success
    forget_sent
    cp "$FORM" "$whole"
    length=$(stat -c %s "$whole")
    [[ $TRANSPORT == direct ]] || step=61
    for ((n = 0; n < length - 2; n += step)); do
        head -c "$n" "$whole" >"$FORM"
        send_form
        [[ $status == 400 ]] || fail_answer "cut after $n bytes"
        assert_error 400 VALIDATION_ERROR
        send_form -H 'Transfer-Encoding: chunked'
        assert_error 400 VALIDATION_ERROR
    done
    assert_nothing_sent
}

# bats test_tags=direct
@test "LF without CR as a line end of a form is 400" {
    upload_form "$(photo 10)" photo.jpg image/jpeg
    forget_sent
    tr -d '\r' <"$FORM" >"$FORM.lf"
    api POST /v2/media/upload -H "Content-Type: multipart/form-data; boundary=\"$BOUNDARY\"" -d "@$FORM.lf"
    assert_refused 400 'CR LF'
}

# bats test_tags=direct
@test "more than 100 parts, or a part with a header of 64 KB, are 400" {
    new_form
    # shellcheck disable=SC2059  # the boundary has no %
    printf -- "--$BOUNDARY\\r\\nContent-Disposition: form-data; name=\"a\"\\r\\n\\r\\n\\r\\n%.0s" \
        {1..10000} >"$FORM"
    file "$(photo)" photo.jpg image/jpeg
    field phoneNumberId "$LINE"
    end_form
    send_form
    assert_refused 400 '100 parts'
    new_form
    field phoneNumberId "$LINE"
    part "Content-Disposition: form-data; name=\"file\"; filename=\"$(printf 'x%.0s' {1..65536})\"" "$(photo)"
    end_form
    send_form
    assert_refused 400 '16 KB'
}

# bats test_tags=direct
@test "two files, and a repeated field, are 400" {
    new_form
    field phoneNumberId "$LINE"
    file "$(photo)" photo.jpg image/jpeg
    file "$(photo)" photo.jpg image/jpeg
    end_form
    send_form
    assert_refused 400 'file was sent twice'
    new_form
    field phoneNumberId "$LINE"
    field phoneNumberId "$LINE"
    file "$(photo)" photo.jpg image/jpeg
    end_form
    send_form
    assert_refused 400 'phoneNumberId was sent twice'
}

# bats test_tags=direct
@test "a missing file is 400, checked after phoneNumberId" {
    new_form
    field phoneNumberId "$LINE"
    end_form
    send_form
    assert_refused 400 file
    assert_issue file
    new_form
    end_form
    send_form
    assert_refused 400 phoneNumberId
}

# bats test_tags=direct
@test "a part with a wrong Content-Length or a transfer encoding is 400" {
    local header
    for header in 'Content-Length: 4' 'Content-Length: 5000000' 'Content-Length: x' \
        'Content-Transfer-Encoding: base64'; do
        new_form
        field phoneNumberId "$LINE"
        part "Content-Disposition: form-data; name=\"file\"\\r\\n$header" "$(photo)"
        end_form
        send_form
        assert_refused 400 "${header%%:*}"
    done
}

# bats test_tags=direct
@test "a field that is longer than 255 bytes or not text is 400" {
    new_form
    field phoneNumberId "$(printf '1%.0s' {1..256})"
    end_form
    send_form
    assert_refused 400 phoneNumberId
    new_form
    printf '8\0001' >"$BATS_TEST_TMPDIR/nul"
    part 'Content-Disposition: form-data; name="phoneNumberId"' "$BATS_TEST_TMPDIR/nul"
    end_form
    send_form
    assert_refused 400 phoneNumberId
}

@test "a body with a Content-Encoding is 415" {
    upload_raw "$(photo)" image/jpeg -H 'Content-Encoding: gzip'
    assert_refused 415 Content-Encoding
    new_form
    end_form
    send_form -H 'Content-Encoding: br'
    assert_refused 415 Content-Encoding
}

# --- bodies that end too soon ---

# Announces all of FILE, sends its first N bytes and closes the connection:
# cut_upload N FILE HEADER...
cut_upload() {
    local n=$1 whole=$2 lines=() line to
    head -c "$n" "$whole" >"$BATS_TEST_TMPDIR/cut"
    shift 2
    if [[ $TRANSPORT == direct ]]; then
        for line; do lines+=(-H "$line"); done
        api POST /v2/media/upload "${lines[@]}" -H "Content-Length: $(stat -c %s "$whole")" -d "@$BATS_TEST_TMPDIR/cut"
        assert_error 400 VALIDATION_ERROR 'Content-Length announced'
        return
    fi
    exec {to}<>"/dev/tcp/127.0.0.1/${BASE##*:}"
    {
        printf 'POST /v2/media/upload HTTP/1.1\r\nHost: x\r\nX-API-Token: %s\r\nContent-Length: %s\r\n' \
            "$TOKEN" "$(stat -c %s "$whole")"
        printf '%s\r\n' "$@" ''
        cat "$BATS_TEST_TMPDIR/cut"
    } >&"$to"
    sleep 0.2 # the program must have started: Apache ends it when the client has closed the connection
    exec {to}>&-
}

# The CGI processes of this file's Apache are in its session.
no_upload_runs() {
    [[ $TRANSPORT == direct ]] || ! pgrep -s "$(cat "$STACK/apache/httpd.pid")" -f "^$OUT/cgi-bin/media( |\$)"
}

# No upload is running, and the platform received no complete request.
assert_nothing_completed() {
    eventually no_upload_runs
    assert_equal "$(sandbox GET requests | gojq '[.[] | select(.complete)] | length')" 0
}

# bats test_tags=route,each,long
@test "a raw body shorter than its Content-Length is 400 where the client still listens, and never uploaded" {
    local n photo before
    photo=$(photo 2000000)
    before=$(uploads)
    for n in 0 1 4096 65536 70000 1000000 2000010; do
        cut_upload "$n" "$photo" 'Content-Type: image/jpeg' "X-Phone-Number-Id: $LINE"
    done
    assert_nothing_completed
    assert_equal "$(uploads)" "$before"
}

# bats test_tags=each,long
@test "a form shorter than its Content-Length is never uploaded" {
    local n before
    new_form
    field phoneNumberId "$LINE"
    file "$(photo 300000)" photo.jpg image/jpeg
    end_form
    printf 'an epilogue' >>"$FORM"
    before=$(uploads)
    for n in "$(($(stat -c %s "$FORM") - 1))" "$(($(stat -c %s "$FORM") - 11))"; do
        cut_upload "$n" "$FORM" "Content-Type: multipart/form-data; boundary=\"$BOUNDARY\""
    done
    assert_nothing_sent
    assert_equal "$(uploads)" "$before"
}

# --- answers of the platform ---

# bats test_tags=direct
@test "an upstream failure has the status that spec 7 assigns to it, with message and whole payload" {
    local photo status_sent wanted code
    photo=$(photo)
    while read -r status_sent wanted code; do
        fault "{\"status\":$status_sent,\"code\":131000,\"message\":\"It failed\"}"
        upload_raw "$photo" image/jpeg
        assert_error "$wanted" "$code" 'It failed'
        assert_json .details.error.code 131000
        fault "{\"status\":$status_sent,\"code\":131000,\"message\":\"It failed\"}"
        upload_form "$photo" photo.jpg image/jpeg
        assert_error "$wanted" "$code" 'It failed'
    done <<'END'
400 400 VALIDATION_ERROR
401 401 UNAUTHORIZED
403 403 FORBIDDEN
404 404 NOT_FOUND
413 400 VALIDATION_ERROR
429 400 VALIDATION_ERROR
500 502 INTERNAL_ERROR
503 502 INTERNAL_ERROR
END
}

# bats test_tags=direct
@test "the message of a failed upload is the platform's, without additions, and never empty (spec 4.6)" {
    local photo
    photo=$(photo)
    fault '{"status":400,"code":131051,"message":"Unsupported type"}'
    upload_raw "$photo" image/jpeg
    assert_error 400 VALIDATION_ERROR
    assert_text .message 'Unsupported type'
    fault '{"status":400,"body":"{\"error\":{\"message\":\"\",\"code\":131051}}"}'
    upload_raw "$photo" image/jpeg
    assert_error 400 VALIDATION_ERROR 'answered 400'
    fault '{"status":400,"body":"null"}'
    upload_raw "$photo" image/jpeg
    assert_error 400 VALIDATION_ERROR 'answered 400'
    assert_that 'has("details") | not'
}

# bats test_tags=direct
@test "an upstream Retry-After is copied" {
    fault '{"status":429,"code":80007,"headers":{"Retry-After":"60"}}'
    upload_raw "$(photo)" image/jpeg
    assert_error 400 VALIDATION_ERROR
    assert_header Retry-After 60
}

# bats test_tags=long
@test "a connection that the platform resets or closes is 500, an invalid answer 502 (spec 7)" {
    local photo
    photo=$(photo 400000)
    fault '{"kind":"reset"}'
    upload_raw "$photo" image/jpeg
    assert_error 500 INTERNAL_ERROR 'not known'
    fault '{"kind":"reset_before","bytes":100000}'
    upload_form "$photo" photo.jpg image/jpeg
    assert_error 500 INTERNAL_ERROR 'not known'
    write_config 'graph_base_url = http://127.0.0.1:1'
    upload_raw "$photo" image/jpeg
    write_config
    assert_error 500 INTERNAL_ERROR 'could not be reached'
    assert_header Retry-After 5
    fault '{"kind":"html"}'
    upload_raw "$photo" image/jpeg
    assert_error 502 INTERNAL_ERROR
    assert_that '.details | type == "string"'
    fault '{"kind":"garbage"}'
    upload_raw "$photo" image/jpeg
    assert_error 502 INTERNAL_ERROR 'not JSON'
    fault '{"status":200,"body":"{\"success\":true}"}'
    upload_raw "$photo" image/jpeg
    assert_error 502 INTERNAL_ERROR 'no media id'
    assert_json .details '{"success":true}'
}

# bats test_tags=direct
@test "an upload is sent once, whatever its result" {
    fault '{"kind":"reset"}'
    upload_raw "$(photo)" image/jpeg
    assert_equal "$(sent_count path=/media)" 1
}

# --- Idempotency-Key ---

new_key() {
    key="key-$RANDOM$RANDOM"
}

# The answer is 200 and equals the first one, which keep_answer saved; nothing more was sent.
keep_answer() {
    cp "$body" "$BATS_TEST_TMPDIR/first"
    before=$(sent_count)
}

assert_replayed() { # [STATUS]
    assert_status "${1-200}"
    assert_header Idempotent-Replayed true
    assert_header Content-Type 'application/json; charset=utf-8'
    assert_conventions
    assert_body_is "@$BATS_TEST_TMPDIR/first"
    assert_equal "$(sent_count)" "$before"
}

# bats test_tags=long
@test "repeated with the same Idempotency-Key and file, an upload is sent once and answered the same" {
    local key photo
    photo=$(photo 300000)
    new_key
    upload_raw "$photo" image/jpeg -H "Idempotency-Key: $key"
    assert_uploaded "$photo" image/jpeg file
    refute_header Idempotent-Replayed
    keep_answer
    upload_raw "$photo" image/jpeg -H "Idempotency-Key: \"$key\""
    assert_replayed
    new_key
    new_form
    field phoneNumberId "$LINE"
    file "$photo" photo.jpg image/jpeg
    end_form
    send_form -H "Idempotency-Key: $key"
    assert_uploaded "$photo" image/jpeg
    refute_header Idempotent-Replayed
    keep_answer
    send_form -H "Idempotency-Key: $key"
    assert_replayed
    # a client that retries generates another boundary
    BOUNDARY=another
    new_form
    file "$photo" photo.jpg image/jpeg
    field phoneNumberId "$LINE"
    end_form
    send_form -H "Idempotency-Key: $key" -H 'Transfer-Encoding: chunked'
    assert_replayed
}

# bats test_tags=direct
@test "the same Idempotency-Key with another file, name, type or line is 422; keys of different users are independent" {
    local key photo other
    photo=$(photo)
    other=$BATS_TEST_TMPDIR/other
    { head -c 4999 "$photo"; tail -c +5001 "$photo"; printf x; } >"$other"
    new_key
    upload_raw "$photo" image/jpeg -H "Idempotency-Key: $key"
    assert_success
    forget_sent
    upload_raw "$other" image/jpeg -H "Idempotency-Key: $key"
    assert_refused 422 'another body'
    upload_raw "$photo" image/png -H "Idempotency-Key: $key"
    assert_refused 422 'another body'
    upload_raw "$photo" image/jpeg -H "Idempotency-Key: $key" -H 'X-Filename: b.jpg'
    assert_refused 422 'another body'
    upload_raw "$photo" image/jpeg -H "Idempotency-Key: $key" -H 'X-Upload-Type: image/png'
    assert_refused 422 'another body'
    LINE=$SECOND_LINE upload_raw "$photo" image/jpeg -H "Idempotency-Key: $key"
    assert_refused 422 'another body'
    TOKEN=$OTHER_TOKEN LINE=$OTHER_LINE upload_raw "$photo" image/jpeg -H "Idempotency-Key: $key"
    assert_success
    refute_header Idempotent-Replayed
}

# bats test_tags=direct
@test "an upload uses up its Idempotency-Key only when it may have reached the platform" {
    local key photo
    photo=$(photo)
    new_key
    upload_raw "$photo" image/png -H "Idempotency-Key: $key" -H 'X-Upload-Type: jpeg'
    assert_error 400 VALIDATION_ERROR 'MIME type'
    LINE=1 upload_raw "$photo" image/jpeg -H "Idempotency-Key: $key"
    assert_error 403 FORBIDDEN
    write_config "spool_dir = $SPOOL" 'graph_base_url = http://127.0.0.1:1'
    upload_raw "$photo" image/jpeg -H "Idempotency-Key: $key"
    assert_error 500 INTERNAL_ERROR
    write_config "spool_dir = $SPOOL"
    assert_nothing_sent
    fault '{"status":400,"code":131053,"message":"Not so"}'
    upload_raw "$photo" image/jpeg -H "Idempotency-Key: $key"
    assert_error 400 VALIDATION_ERROR 'Not so'
    keep_answer
    upload_raw "$photo" image/jpeg -H "Idempotency-Key: $key"
    assert_replayed 400
    upload_raw "$photo" image/jpeg -H 'Idempotency-Key: a b'
    assert_error 400 VALIDATION_ERROR Idempotency-Key
}

# bats test_tags=each,long
@test "an upload that is cut off leaves its Idempotency-Key unused" {
    local key photo n
    photo=$(photo 2000000)
    new_key
    for n in 1 70000 2000010; do
        cut_upload "$n" "$photo" 'Content-Type: image/jpeg' "X-Phone-Number-Id: $LINE" "Idempotency-Key: $key"
    done
    assert_nothing_completed
    upload_again() { # the interrupted upload may still be running
        upload_raw "$photo" image/jpeg -H "Idempotency-Key: $key"
        [[ $status != 409 || $(gojq -r .details.outcome "$body") != running ]]
    }
    eventually upload_again
    assert_uploaded "$photo" image/jpeg file
    refute_header Idempotent-Replayed
    # half of a body does not get the answer of the whole one
    keep_answer
    cut_upload 2000000 "$photo" 'Content-Type: image/jpeg' "X-Phone-Number-Id: $LINE" "Idempotency-Key: $key"
    upload_raw "$photo" image/jpeg -H "Idempotency-Key: $key"
    assert_replayed
}

@test "an upload whose first request is running is 409 with Retry-After, one of unknown outcome 409 without" {
    local key photo
    photo=$(photo)
    new_key
    begin_held upload_raw "$photo" image/jpeg -H "Idempotency-Key: $key"
    upload_raw "$photo" image/jpeg -H "Idempotency-Key: $key"
    assert_error 409 VALIDATION_ERROR 'still running'
    assert_json .details '{"outcome":"running"}'
    assert_header Retry-After 1
    end_held 200
    db "UPDATE idempotency SET status = NULL, answer = NULL, created_at = created_at - 3600000 WHERE key = '$key'"
    upload_raw "$photo" image/jpeg -H "Idempotency-Key: $key"
    assert_error 409 VALIDATION_ERROR
    assert_json .details '{"outcome":"unknown"}'
    refute_header Retry-After
    db "UPDATE idempotency SET created_at = created_at - 86400000 WHERE key = '$key'"
    upload_raw "$photo" image/jpeg -H "Idempotency-Key: $key"
    assert_success
    assert_equal "$(sent_count)" 2
}

# Expects that the answer to each request is that of the one upload, or 409 while it runs. The platform has
# received COUNT uploads since the start of the test, with those that were cut off: assert_one_upload COUNT
assert_one_upload() {
    local received
    [[ $(statuses) =~ ^([0-9]+)\ 200($|$'\n'[0-9]+\ 409$) ]] || fail "$(statuses)"
    assert_equal "$(grep -h '"success":true' "$many"/*/body | sort -u | wc -l)" 1
    received=$(sandbox GET requests |
        gojq -r '.[] | "\(.method) \(.path), \(.bodyLength) bytes, complete: \(.complete)"')
    [[ $(grep -c '^POST /[^ ]*/media,' <<<"$received") == "$1" ]] ||
        fail "expected $1 uploads, not"$'\n'"$received"
}

# bats test_tags=long
@test "64 concurrent uploads with one Idempotency-Key reach the platform once, in both modes" {
    local key photo
    photo=$(photo 200000)
    new_key
    request_many 64 POST /v2/media/upload --as "$TOKEN" -H 'Content-Type: image/jpeg' -H "X-Phone-Number-Id: $LINE" \
        -H "Idempotency-Key: $key" -d "@$photo"
    assert_one_upload 1
    new_key
    new_form
    field phoneNumberId "$LINE"
    file "$photo" photo.jpg image/jpeg
    end_form
    request_many 64 POST /v2/media/upload --as "$TOKEN" -d "@$FORM" \
        -H "Content-Type: multipart/form-data; boundary=\"$BOUNDARY\"" -H "Idempotency-Key: $key"
    assert_one_upload 2
}

# bats test_tags=direct,long
@test "100 MB with an Idempotency-Key take at most 16 MB of memory, and a raw body is not written to the disk" {
    local key big
    big=$(big)
    new_key
    write_config "spool_dir = $STACK/nowhere"
    watch_memory media
    upload_raw "$big" application/pdf -H "Idempotency-Key: $key"
    assert_uploaded "$big" application/pdf file
    keep_answer
    upload_raw "$big" application/pdf -H "Idempotency-Key: $key"
    assert_replayed
    assert_memory
}

# bats test_tags=long
@test "a long upload renews the lease of its Idempotency-Key" {
    local key to begun
    new_key
    [[ $TRANSPORT == fcgi ]] || return 0 # takes 12 seconds; media is plain CGI under every transport
    exec {to}<>"/dev/tcp/127.0.0.1/${BASE##*:}"
    printf 'POST /v2/media/upload HTTP/1.1\r\nHost: x\r\nX-API-Token: %s\r\nIdempotency-Key: %s\r\nContent-Type: image/jpeg\r\nX-Phone-Number-Id: %s\r\nContent-Length: 200000\r\n\r\n' \
        "$TOKEN" "$key" "$LINE" >&"$to"
    head -c 100000 /dev/zero >&"$to"
    eventually is_leased_since 1
    begun=$(db "SELECT created_at FROM idempotency WHERE key = '$key'")
    sleep 11
    head -c 60000 /dev/zero >&"$to"
    eventually is_leased_since $((begun + 4000))
    exec {to}>&-
}

# A condition: the lease of $key is at least as new as TIME: eventually is_leased_since TIME
is_leased_since() {
    local lease
    lease=$(db "SELECT created_at FROM idempotency WHERE key = '$key'")
    ((${lease:-0} >= $1))
}

# bats test_tags=direct
@test "an upload without an Idempotency-Key stores nothing in the database" {
    local before
    before=$(db 'SELECT count(*), sum(created_at) FROM idempotency')
    upload_raw "$(photo)" image/jpeg
    assert_success
    assert_equal "$(db 'SELECT count(*), sum(created_at) FROM idempotency')" "$before"
}
