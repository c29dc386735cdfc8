#!/usr/bin/env bats
# What stands before the gateway at hosts: ModSecurity with the rules of OWASP, rules of another
# site, a redirect to https, nginx, and servers that are not Apache. install.sh and `doctor --url`
# name each from outside. Run by `make hosting-test`.
# transports: direct
BATS_TEST_DIRNAME=$(cd "$BATS_TEST_DIRNAME/.." && pwd) # where the helpers are
load helpers/all
load helpers/courier
load helpers/webhook
load helpers/hoster
load helpers/hosted

teardown() {
    stop_receivers
    stop_hoster
    stop_front
}

# Ends the server of start_front. nginx changes its arguments to one text, so the path is searched.
stop_front() {
    local pid
    { read -r pid <"$STACK/front/pid"; } 2>/dev/null || return 0
    ! grep -qsF "$STACK/front/server.conf" "/proc/$pid/cmdline" || kill "$pid"
    wait_until 15 eval "[[ ! -e /proc/$pid ]]"
    rm -f "$STACK/front/pid"
}

# Writes the exclusion file of the archive for the host of the tests.
write_exclusion() {
    tar -xzf "$ARCHIVE" -C "$BATS_TEST_TMPDIR" --strip-components=1 --wildcards '*/modsecurity.conf'
    sed 's/api\\\.example\\\.org/127\\.0\\.0\\.1/' "$BATS_TEST_TMPDIR/modsecurity.conf" \
        >"$STACK/exclusion.conf"
}

# The directives of ModSecurity as Debian recommends them, with its rules of OWASP, and the lines of
# an administrator before those: modsecurity [FILE]
modsecurity() {
    local dir=$STACK/modsecurity
    mkdir -p "$dir"
    sed 's/^SecRuleEngine .*/SecRuleEngine On/; /^SecAuditLog\|^SecUnicodeMapFile/d' \
        /etc/modsecurity/modsecurity.conf-recommended >"$dir/modsecurity.conf"
    HOSTER_MODULES=security2
    HOSTER_LINES="SecAuditEngine Off
SecDataDir $STACK/hoster
Include $dir/modsecurity.conf
${1:+Include $1}
Include /etc/modsecurity/crs/crs-setup.conf
Include /usr/share/modsecurity-crs/rules/*.conf"
}

# Prints what doctor finds at a URL: doctor_at URL
doctor_at() {
    as_customer "$home/bin/switchboard" doctor --url "$1" 2>&1 || true
}

# The payload of a message, with the name of the person's profile.
named_payload() {
    payload "$(inbound "wamid.in$RANDOM" "$P1" "$B1")"
}

@test "with ModSecurity and the rules of OWASP, install.sh and doctor name what does not arrive" {
    modsecurity
    start_hoster event cgid
    upload_archive
    home=$STACK/home/switchboard
    run install_archive "${sandbox_options[@]/SANDBOX/$SANDBOX}" <<<sandbox-token-1
    assert_equal "$status" 1
    output_has "FAIL  front" 'POST /platform/webhook is answered 403' \
        'a firewall of the host refuses it: switch it off for this host (cPanel: Security, ModSec' \
        'have the administrator load modsecurity.conf' 'messages of customers do not arrive' \
        'PATCH /v2/lines/0 is answered 403' 'DELETE /v2/webhooks/config is answered 403' \
        'POST /v2/media/upload is answered 403' 'texts with such words cannot be sent' \
        'POST /v2/media/upload with a large body is answered 413'
    request POST /v2/messages/send/text -d '{"text":"1 union select password from users; -- "}'
    assert_error 403 FORBIDDEN 'Its error log names the reason: a rule of the firewall'
}

@test "with the exclusion file of the archive, ModSecurity lets every request through" {
    write_exclusion
    modsecurity "$STACK/exclusion.conf"
    start_hoster event cgid
    install_all
    install_output=$output
    [[ $output != *FAIL* && $output != *front* ]] || fail "$output"
    run doctor_at "$HOSTER"
    [[ $output =~ ok\ +front\ +'requests of each kind arrive' ]] || fail "$output"
    api POST /v2/messages/send/text -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230000\",
        \"text\":\"1 union select password from users; -- <script>\"}"
    assert_success
    assert_event_goes_out
    # another host of the same server is still behind the firewall
    run curl -s -o /dev/null -w '%{http_code}' -X POST -d 'x=1 union select password from users' \
        -H 'Host: shop.example.org' "$HOSTER/"
    assert_equal "$output" 403
}

@test "rules of another site before the block, and a redirect to https, are named" {
    local site=$STACK/home/public_html
    start_hoster event cgid
    install_all
    run doctor_at "$HOSTER"
    [[ $output =~ ok\ +front\ +'requests of each kind arrive' ]] || fail "$output"
    cp "$site/.htaccess" "$BATS_TEST_TMPDIR/htaccess"
    {
        printf 'RewriteEngine On\nRewriteCond %%{REQUEST_FILENAME} !-f\n'
        printf 'RewriteRule . /index.php [L]\n'
        cat "$BATS_TEST_TMPDIR/htaccess"
    } >"$site/.htaccess"
    printf 'a page of WordPress\n' >"$site/index.php"
    run doctor_at "$HOSTER"
    output_has 'FAIL  front' 'GET /v2/openapi.json is answered 200: another program answers it' \
        'the block `# BEGIN switchboard` must stand before all other rules' \
        'POST /v26.0/0/messages is answered 200'
    {
        printf 'RewriteEngine On\nRewriteRule ^(.*)$ https://api.example.org/$1 [R=301,L]\n'
        cat "$BATS_TEST_TMPDIR/htaccess"
    } >"$site/.htaccess"
    run doctor_at "$HOSTER"
    output_has 'FAIL  site' \
        '/v2/health answers 301: it redirects to https://api.example.org/v2/health'
}

# Starts a web server before the hoster's or beside it: start_front COMMAND... `server.conf` is its
# configuration, in which PORT stands for the port. Sets `front` to its URL.
start_front() {
    local try dir=$STACK/front number
    for ((try = 0; try < 50; try++)); do
        number=$((20000 + RANDOM % 10000))
        sed "s/PORT/$number/" "$dir/server.template" >"$dir/server.conf"
        chmod -R a+rX "$dir"
        ! "${service[@]}" "$@" "$dir/server.conf" >"$dir/start.log" 2>&1 3>&- || break
        grep -q 'in use' "$dir/start.log" || fail "$(cat "$dir/start.log")"
    done
    front=http://127.0.0.1:$number
    eventually test -s "$dir/pid"
}

# The configuration of an nginx with these lines in its server, and MODULE loaded: write_nginx LINES
# [MODULE]
write_nginx() {
    rm -rf "$STACK/front"
    mkdir -m 777 "$STACK/front"
    cat >"$STACK/front/server.template" <<END
${2+load_module $2;}
pid $STACK/front/pid;
error_log $STACK/front/error.log;
worker_processes 1;
events {}
http {
    access_log off;
    client_body_temp_path $STACK/front/body;
    proxy_temp_path $STACK/front/proxy;
    fastcgi_temp_path $STACK/front/fastcgi;
    uwsgi_temp_path $STACK/front/uwsgi;
    scgi_temp_path $STACK/front/scgi;
    server {
        listen 127.0.0.1:PORT;
        $1
    }
}
END
}

@test "nginx before Apache: works; its limit of a body, and the redirect that it makes, are named" {
    start_hoster event cgid
    write_nginx "location / { proxy_pass $HOSTER; proxy_set_header Host \$host; }
        location ~* \\.(css|js|html|png|txt|svg)\$ {
            root $STACK/home/public_html;
            try_files \$uri @apache;
        }
        location @apache { proxy_pass $HOSTER; }"
    start_front /usr/sbin/nginx -c
    upload_archive
    HOSTER=$front BASE=$front
    install_all
    output_has 'warn  front' 'with a large body is answered 413' 'client_max_body_size of nginx'
    [[ $output != *FAIL* ]] || fail "$output"
    install_output=$output
    assert_event_goes_out
    stop_front
    write_nginx 'return 301 https://$host$request_uri;'
    start_front /usr/sbin/nginx -c
    run install_archive --url "$front"
    assert_equal "$status" 1
    output_has "redirects to https://127.0.0.1/switchboard-probe-" 'give --url https://127.0.0.1.'
}

# Starts an nginx before Apache with ModSecurity 3, as Debian recommends it with the rules of OWASP,
# and an administrator's lines before those: start_modsecurity_nginx URL [FILE]
start_modsecurity_nginx() {
    local module=/usr/lib/nginx/modules/ngx_http_modsecurity_module.so
    write_nginx "modsecurity on;
        modsecurity_rules_file $STACK/front/rules.conf;
        client_max_body_size 100m;
        location / { proxy_pass $1; proxy_set_header Host \$host; }" "$module"
    {
        sed 's/^SecRuleEngine .*/SecRuleEngine On/; /^SecAudit\|^SecUnicodeMapFile/d' \
            /etc/nginx/modsecurity.conf
        printf 'SecAuditEngine Off\n'
        [[ -z ${2-} ]] || printf 'Include %s\n' "$2"
        printf 'Include %s\n' /etc/modsecurity/crs/crs-setup.conf \
            '/usr/share/modsecurity-crs/rules/*.conf'
    } >"$STACK/front/rules.conf"
    start_front /usr/sbin/nginx -c
}

@test "nginx with ModSecurity 3: what does not arrive is named; with the exclusion file all does" {
    local apache
    start_hoster event cgid
    apache=$HOSTER
    start_modsecurity_nginx "$apache"
    HOSTER=$front BASE=$front
    upload_archive
    run install_archive "${sandbox_options[@]/SANDBOX/$SANDBOX}" <<<sandbox-token-1
    assert_equal "$status" 1
    output_has 'FAIL  front' 'POST /platform/webhook is answered 403' \
        'a firewall of the host refuses it' 'messages of customers do not arrive' \
        'PATCH /v2/lines/0 is answered 403' 'DELETE /v2/webhooks/config is answered 403'
    TOKEN=$(sed -n 's/^API token of .*: //p' <<<"$output") LINE=106540352242922 ACCOUNT=''
    home=$STACK/home/switchboard
    export DB=$home/data/switchboard.db
    stop_front
    write_exclusion
    start_modsecurity_nginx "$apache" "$STACK/exclusion.conf"
    HOSTER=$front BASE=$front
    run install_archive
    [[ $status == 0 && $output != *FAIL* && $output != *front* ]] || fail "$output"
    output_has "warning: public_url in $home/conf/switchboard.conf is kept: http://127.0.0.1:"
    install_output=$output
    run doctor_at "$HOSTER"
    [[ $output =~ ok\ +front\ +'requests of each kind arrive' ]] || fail "$output"
    assert_event_goes_out
}

@test "nginx alone and lighttpd alone are named, and nothing is installed" {
    find_service_user
    mkdir -p "$STACK/home/public_html"
    upload_archive
    write_nginx "root $STACK/home/public_html;"
    start_front /usr/sbin/nginx -c
    run install_archive --url "$front"
    assert_equal "$status" 1
    output_has 'does not read .htaccess (it calls itself nginx' 'Ask the host for Apache'
    stop_front
    cat >"$STACK/front/server.template" <<END
server.document-root = "$STACK/home/public_html"
server.port = PORT
server.bind = "127.0.0.1"
server.pid-file = "$STACK/front/pid"
server.errorlog = "$STACK/front/error.log"
END
    rm -f "$STACK/front/pid"
    start_front /usr/sbin/lighttpd -f
    run install_archive --url "$front"
    assert_equal "$status" 1
    output_has 'does not read .htaccess (it calls itself lighttpd'
    assert_equal "$(ls -A "$STACK/home/public_html")" ''
    [[ ! -e $STACK/home/switchboard ]]
}

# OpenLiteSpeed takes the rewrite rules of .htaccess, and passes over all else without an error.
@test "a server that takes only the rewrite rules of .htaccess sends programs as files: it is named" {
    start_hoster event cgid \
        $'None Nonfatal=All\nAllowOverrideList RewriteEngine RewriteCond RewriteRule RewriteBase'
    upload_archive
    run install_archive
    assert_equal "$status" 1
    output_has 'it sends the program as a file' 'on LiteSpeed, CGI for this site'
    assert_equal "$(ls -A "$STACK/home/public_html")" ''
}
