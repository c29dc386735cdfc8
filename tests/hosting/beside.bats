#!/usr/bin/env bats
# The archive beside a site that is there already: nothing that the script did not write is changed
# or removed. Run by `make hosting-test`.
# transports: direct
BATS_TEST_DIRNAME=$(cd "$BATS_TEST_DIRNAME/.." && pwd) # where the helpers are
load helpers/all
load helpers/courier
load helpers/webhook
load helpers/hoster
load helpers/hosted

# Puts a site into the document root: make_shop [names that the gateway would need...]
make_shop() {
    local site=$STACK/home/public_html path
    mkdir -p "$site"/{blog,img,.well-known/acme-challenge}
    printf 'front page of the shop\n' >"$site/index.html"
    printf 'blog page\n' >"$site/blog/index.html"
    printf '\x89PNG of the shop' >"$site/img/logo.png"
    for path; do
        mkdir -p "$site/$(dirname "$path")"
        printf 'the customer wrote %s\n' "$path" >"$site/$path"
    done
}

wordpress_rules='# BEGIN WordPress
<IfModule mod_rewrite.c>
RewriteEngine On
RewriteRule .* - [E=HTTP_AUTHORIZATION:%{HTTP:Authorization}]
RewriteBase /
RewriteRule ^index\.php$ - [L]
RewriteCond %{REQUEST_FILENAME} !-f
RewriteCond %{REQUEST_FILENAME} !-d
RewriteRule . /index.php [L]
</IfModule>
# END WordPress'

# The same with the files of WordPress; the last line has no newline.
make_wordpress() {
    make_shop wp-login.php
    rm "$STACK/home/public_html/index.html"
    printf 'a page of WordPress\n' >"$STACK/home/public_html/index.php"
    printf '%s' "$wordpress_rules" >"$STACK/home/public_html/.htaccess"
    chmod 444 "$STACK/home/public_html/.htaccess" # as plugins for security do
}

# Prints all that lies in the document root: names, modes, inodes, times and bytes.
state_of_site() {
    (cd "$STACK/home/public_html" && find . ! -type d -printf '%p %m %i %T@ %l\n' | sort &&
        find . -type d -printf '%p %m\n' | sort && find . -type f -exec sha256sum {} + | sort)
}

# The same without the gateway's directory, for a site that holds it: 127.0.0.1.
state_beside() {
    state_of_site | grep -v '\./127\.0\.0\.1'
}

# What visitors of the shop get: pages URL PATH...
pages() {
    local path url=$1
    shift
    for path; do
        curl -s -o "$BATS_TEST_TMPDIR/page" -w "$path %{http_code} %{content_type} " "$url$path"
        sha256sum <"$BATS_TEST_TMPDIR/page"
    done
}

# Runs install.sh, which must refuse and change nothing: assert_refused [option...]
assert_refused() {
    local before
    before=$(state_of_site)
    run install_archive "$@"
    assert_equal "$status" 1
    assert_equal "$(state_of_site)" "$before"
    [[ ! -e $STACK/home/switchboard && ! -e $STACK/crontab.new ]] || fail 'something was written'
    output_has 'Nothing was changed'
}

# A message goes out, one comes in, and its event goes out by cron's line: assert_messages
# [FILE-WITH-THAT-LINE]
assert_messages() {
    install_output=$output
    api POST /v2/messages/send/text \
        -d "{\"phoneNumberId\":\"$LINE\",\"to\":\"15551230000\",\"text\":\"hi\"}"
    assert_success
    assert_sent_to "$LINE/messages"
    assert_event_goes_out "$@"
    api GET /v2/threads
    assert_success
}

@test "a document root with a shop is refused before anything is written, and stays byte for byte" {
    start_hoster event cgid
    make_shop dashboard/index.php dashboard/customers.html reference/2024/manual.pdf \
        platform/webhook
    upload_archive
    assert_refused
    output_has 'has another site in: platform/ dashboard/ reference/' 'Make a subdomain'
    assert_refused --document-root "$STACK/home/public_html"
    assert_refused --shared
    output_has 'has another site in: platform/ dashboard/ reference/'
    rm -r "$STACK/home/public_html"/{platform,dashboard,reference}
    assert_refused
    output_has 'has another site: blog img index.html.' 'or give --shared' 'if the host put them'
}

@test "a root with rules of another site is refused; one that redirects to https is no site" {
    local site=$STACK/home/public_html
    start_hoster event cgid
    upload_archive
    printf 'RewriteEngine On\nRewriteRule ^old/(.*)$ new/$1\n' >"$site/.htaccess"
    assert_refused
    output_has 'has another site: rewrite rules in .htaccess'
    printf 'Redirect 301 /old /new\n' >"$site/.htaccess"
    assert_refused
    printf '# BEGIN switchboard\nRewriteEngine On\n' >"$site/.htaccess"
    assert_refused
    output_has "needs one line '# END switchboard'"
    cat >"$site/.htaccess" <<'END'
RewriteEngine On
RewriteCond %{HTTP:X-Forwarded-Proto} =http
RewriteRule ^ https://%{HTTP_HOST}%{REQUEST_URI} [R=301,L]
END
    mkdir "$site/cgi-bin"
    touch "$site/favicon.ico" "$site/404.shtml"
    install_all
    tail -n 3 "$site/.htaccess" | cmp - <(printf '%s\n' 'RewriteEngine On' \
        'RewriteCond %{HTTP:X-Forwarded-Proto} =http' \
        'RewriteRule ^ https://%{HTTP_HOST}%{REQUEST_URI} [R=301,L]')
    cmp <(tail -n 3 "$site/.htaccess") "$home/htaccess.before"
    assert_messages
}

@test "a site whose rules fail is named as the cause, with the file that holds them" {
    local rules=$STACK/home/public_html/.htaccess
    start_hoster event cgid
    upload_archive
    printf 'NoSuchDirective on\n' >"$rules"
    assert_refused
    output_has 'answers 500 to a file' 'rules of the site fail' "in $rules or" 'error log'
    refute grep -q 'was not found' <<<"$output"
    assert_refused --document-root "$STACK/home/public_html"
    output_has 'rules of the site fail' "in $rules or"
    rm "$rules"
    install_all
    assert_messages
}

@test "in a subdomain whose directory lies in the shop's: the shop is unchanged, messages go in and out" {
    local before visited shop paths=(/ /blog/ /img/logo.png /dashboard/index.php /none /v2/me)
    HOSTER_LINES=$(subdomain_hosts)
    start_hoster event cgid
    make_shop dashboard/index.php
    mkdir "$STACK/home/public_html/127.0.0.1"
    shop=http://localhost:$port
    before=$(state_beside)
    visited=$(pages "$shop" "${paths[@]}")
    install_all
    home=$STACK/home/public_html/127.0.0.1/.switchboard
    export DB=$home/data/switchboard.db
    assert_private_files
    assert_messages
    assert_equal "$(state_beside)" "$before"
    assert_equal "$(pages "$shop" "${paths[@]}")" "$visited"
    # the shop's host serves the directory too, but not the keys
    for path in conf/secret.key conf/switchboard.conf data/switchboard.db log/switchboard.log; do
        [[ -s $home/$path ]]
        run curl -s -o /dev/null -w '%{http_code}' "$shop/127.0.0.1/.switchboard/$path"
        assert_equal "$output" 403
    done
    run as_customer sh "$unpacked/install.sh" --uninstall --url "$HOSTER"
    assert_equal "$status" 0
    assert_equal "$(state_beside)" "$before"
    assert_equal "$(ls -A "$STACK/home/public_html/127.0.0.1")" .switchboard
}

# A shop in PHP, with rules that send every path without a file to one program.
make_php_shop() {
    local site=$STACK/home/public_html
    make_wordpress
    printf '<?php echo "the shop has ", $_SERVER["REQUEST_URI"];\n' >"$site/index.php"
    mkdir "$site/127.0.0.1"
    chown -R 33:33 "$site/"
}

@test "on Debian 11, beside a shop in PHP: refused, then in a subdomain; the shop is unchanged" {
    local before visited shop paths=(/ /blog/ /img/logo.png /2024/05/a-post /v2/me /wp-login.php)
    [[ -e $DEBIAN11/complete ]] || skip 'there is no root directory of Debian 11'
    make_debian11
    export HOSTER_SETUP=in_debian11 CUSTOMER_PATH=/usr/bin:/bin HOSTER_SHELL=sh
    HOSTER_LINES="LoadModule php7_module /usr/lib/apache2/modules/libphp7.4.so
AddHandler application/x-httpd-php .php
DirectoryIndex index.html index.php
$(subdomain_hosts)"
    start_hoster prefork cgi
    make_php_shop
    shop=http://localhost:$port
    assert_equal "$(curl -s "$shop/2024/05/a-post")" 'the shop has /2024/05/a-post'
    visited=$(pages "$shop" "${paths[@]}")
    upload_archive
    assert_refused --url "$shop"
    output_has 'has another site: ' 'wp-login.php' 'Make a subdomain'
    before=$(state_beside)
    install_all
    home=$STACK/home/public_html/127.0.0.1/.switchboard
    export DB=$home/data/switchboard.db
    printf '%s\n' "$output" >"$BATS_TEST_TMPDIR/output"
    assert_private_files
    assert_messages "$BATS_TEST_TMPDIR/output"
    assert_equal "$(state_beside)" "$before"
    assert_equal "$(pages "$shop" "${paths[@]}")" "$visited"
}

@test "with --shared, WordPress keeps its pages, and its file is there again after --uninstall" {
    local before visited site=$STACK/home/public_html path
    local paths=(/ /blog/ /2024/05/a-post /me /app/ /img/logo.png /wp-login.php /any/page /1234)
    start_hoster event cgid
    make_wordpress
    upload_archive
    assert_refused
    before=$(state_of_site | sed 's/\.htaccess 444 [0-9]* [0-9.]*/.htaccess 444/')
    visited=$(pages "$HOSTER" "${paths[@]}")
    install_all --shared
    assert_messages
    assert_dashboard
    assert_reference_file /v2/openapi.json 'application/json; charset=utf-8' openapi.json
    assert_rewritten
    assert_sessions
    for path in /v2/nothing /platform/nothing /dashboard/nothing /v2/docs/nothing; do
        request GET "$path"
        assert_error 404 NOT_FOUND
    done
    request GET "/v26.0/$LINE" -H "Authorization: Bearer $TOKEN"
    assert_status 200
    request POST /dashboard/ -d '{}'
    assert_error 405 NOT_FOUND
    assert_equal "$(pages "$HOSTER" "${paths[@]}")" "$visited"
    run install_archive # an upgrade keeps the kind
    assert_equal "$status" 0
    assert_equal "$(pages "$HOSTER" "${paths[@]}")" "$visited"
    run as_customer sh "$unpacked/install.sh" --uninstall --url "$HOSTER"
    assert_equal "$status" 0
    assert_equal "$(state_of_site | sed 's/\.htaccess 444 [0-9]* [0-9.]*/.htaccess 444/')" "$before"
}

@test "with --shared, a page of the site under a name of the gateway is found from outside" {
    start_hoster event cgid
    make_shop graph/me
    upload_archive
    assert_refused --shared
    output_has "answers $HOSTER/graph/me with 200"
}

@test "a directory named switchboard that is not the gateway's keeps its content and its mode" {
    local state
    start_hoster event cgid
    mkdir "$STACK/home/switchboard"
    printf 'phone list\n' >"$STACK/home/switchboard/notes.txt"
    state=$(find "$STACK/home/switchboard" -printf '%p %m %T@\n')
    install_all
    assert_equal "$(find "$STACK/home/switchboard" -printf '%p %m %T@\n')" "$state"
    [[ -f $STACK/home/public_html/.switchboard/conf/secret.key ]]
}

@test "an upgrade keeps files that a person put or changed; --uninstall removes only its own" {
    local before site=$STACK/home/public_html
    start_hoster event cgid
    install_all
    printf 'of the customer\n' | tee "$site/v2/notes.txt" >"$site/dashboard/notes.html"
    printf 'Require ip 127.0.0.1\n' >>"$site/dashboard/.htaccess"
    cp "$site/dashboard/.htaccess" "$BATS_TEST_TMPDIR/edited"
    run install_archive
    assert_equal "$status" 0
    output_has 'note: dashboard/.htaccess was changed since it was installed' "$home/changed/"
    cmp "$home"/changed/*/dashboard/.htaccess "$BATS_TEST_TMPDIR/edited"
    cmp "$site/dashboard/.htaccess" "$unpacked/dashboard/.htaccess"
    assert_equal "$(cat "$site/v2/notes.txt" "$site/dashboard/notes.html")" \
        $'of the customer\nof the customer'
    printf 'more\n' >>"$site/reference/style.css"
    before=$(find "$home/conf" "$home/data" -type f -exec sha256sum {} + | sort)
    run as_customer sh "$unpacked/install.sh" --uninstall --document-root "$site"
    assert_equal "$status" 0
    output_has 'note: reference/style.css was changed' 'cron: the line of the courier was removed' \
        "rm -r $home"
    assert_equal "$(cd "$site" && find . -type f | sort)" \
        $'./dashboard/notes.html\n./reference/style.css\n./v2/notes.txt'
    assert_equal "$(cat "$STACK/crontab.new")" '0 3 * * * other'
    assert_equal "$(find "$home/conf" "$home/data" -type f -exec sha256sum {} + | sort)" "$before"
    run as_customer sh "$unpacked/install.sh" --uninstall --document-root "$site"
    assert_equal "$status" 1
    output_has 'is not installed'
    rm -r "$site"/{v2,dashboard,reference}
    run install_archive
    assert_equal "$status" 0
    assert_messages
}

@test "a run that broke off leaves the files of others, and the next one completes it" {
    local site=$STACK/home/public_html
    start_hoster event cgid
    upload_archive
    mkdir "$site/platform"
    chmod 500 "$site/platform"
    run install_archive "${sandbox_options[@]/SANDBOX/$SANDBOX}" <<<sandbox-token-1
    assert_equal "$status" 1
    output_has "cannot write $site/platform/webhook"
    chmod 755 "$site/platform"
    install_all
    assert_messages
    [[ -z $(find "$site" -name '*.switchboard-new') ]]
}

@test "a crontab that cannot be read is not written, and a line of the courier that was edited stays" {
    start_hoster event cgid
    printf '#!/bin/sh\n[ "$1" = - ] && exec cat >"%s"\necho "permission denied" >&2\nexit 1\n' \
        "$STACK/crontab.new" >"$STACK/bin/crontab"
    install_all
    output_has "cron: add this line in the host's panel"
    [[ ! -e $STACK/crontab.new ]]
    printf '#!/bin/sh\n[ "$1" = - ] && exec cat >"%s"\ncat "%s"\n' "$STACK/crontab.new" \
        "$STACK/crontab" >"$STACK/bin/crontab"
    printf '*/5 * * * * %s/bin/courier --config x --for 300s\n' "$home" >>"$STACK/crontab"
    run install_archive
    output_has 'cron: the line of the courier is in your crontab'
    [[ ! -e $STACK/crontab.new ]]
}

@test "without a platform access token nothing is installed" {
    start_hoster event cgid
    upload_archive
    assert_refused "${sandbox_options[@]/SANDBOX/$SANDBOX}" </dev/null
    output_has 'standard input has no platform access token'
}

@test "the advice names the cause: a redirect, a name, a password, a server without .htaccess" {
    HOSTER_MODULES='alias auth_basic authn_core authz_user'
    start_hoster event cgid None
    upload_archive
    assert_refused
    output_has 'does not read .htaccess (it calls itself Apache' 'AllowOverride is None'
    assert_refused --url http://no-such-host.invalid
    output_has 'does not answer from here: Could not resolve host'
    assert_refused --url http://127.0.0.1:1
    output_has 'does not answer from here'
    assert_refused --url "https://127.0.0.1:$port"
    output_has 'does not answer from here'
    stop_hoster
    HOSTER_LINES='Redirect 301 / https://shop.example.org/'
    start_hoster event cgid
    assert_refused
    output_has 'redirects to https://shop.example.org/switchboard-probe-' \
        'give --url https://shop.example.org'
    stop_hoster
    HOSTER_LINES=$'<Location />\nAuthType Basic\nAuthName x\nRequire valid-user\n</Location>'
    start_hoster event cgid
    assert_refused
    output_has 'asks for a password'
}

@test "the pages in the archive have no link that leads nowhere, and say how to log in" {
    local link
    upload_archive
    while IFS= read -r link; do
        [[ $link == https://* || $link == \#* || -e $unpacked/${link%%#*} ]] || fail "$link"
    done < <(cat "$unpacked"/*.md | tr '\n' ' ' | grep -oP '\]\(\K[^)]+')
    grep -qF 'switchboard/bin/switchboard user login-link' "$unpacked/hosting.md"
    [[ -s $unpacked/platform-setup.md ]]
}
