# shellcheck shell=bash
# A web host's Apache, with AllowOverride All and none of our apache.conf: `load helpers/hoster`
# after helpers/all. The account's directory is $STACK/home, and its document root
# $STACK/home/public_html. Apache, install.sh and the programs run as the same unprivileged user.

# Prints the directives of two virtual hosts: the shop is localhost, and 127.0.0.1 is a subdomain
# whose directory lies in that of the shop.
subdomain_hosts() {
    cat <<END
<VirtualHost *>
ServerName 127.0.0.1
DocumentRoot $STACK/home/public_html/127.0.0.1
</VirtualHost>
<VirtualHost *>
ServerName localhost
DocumentRoot $STACK/home/public_html
</VirtualHost>
END
}

# Starts Apache: start_hoster MPM CGI_MODULE [OVERRIDES [LINES]]. OVERRIDES is the value of
# AllowOverride; LINES are more directives for the document root.
start_hoster() {
    local dir=$STACK/hoster try name extra=${4-}
    find_service_user
    runner=("${service[@]}") # of Apache; `service` is that of the customer
    [[ -z ${HOSTER_SETUP-} ]] || "$HOSTER_SETUP"
    mkdir -p "$STACK/home/public_html" "$dir"
    modules="mpm_$1 $2 authz_core rewrite env headers unique_id dir mime reqtimeout"
    modules+=" ${HOSTER_MODULES-}"
    for ((try = 0; try < 50; try++)); do
        port=$((30000 + RANDOM % 10000))
        {
            for name in $modules; do
                printf 'LoadModule %s_module /usr/lib/apache2/modules/mod_%s.so\n' "$name" "$name"
            done
            cat <<END
ServerRoot "$dir"
DefaultRuntimeDir "$dir"
PidFile "$dir/httpd.pid"
Listen 127.0.0.1:$port
ServerName 127.0.0.1
ErrorLog "$dir/error.log"
TypesConfig /dev/null
$([[ $2 != cgid ]] || printf 'ScriptSock "%s"' "$(claim_sockets "$dir")/cgid")
StartServers 1
DocumentRoot "$STACK/home/public_html"
<Directory />
    AllowOverride None
    Require all denied
</Directory>
<Directory "$STACK/home/public_html">
    AllowOverride ${3-All}
    Options FollowSymLinks
    Require all granted
    $extra
</Directory>
END
            printf '%s\n' "${HOSTER_LINES-}"
        } >"$dir/httpd.conf"
        "${runner[@]}" /usr/sbin/apache2 -f "$dir/httpd.conf" -k start >"$dir/start.log" \
            2>&1 3>&- && break
        grep -q 'Address already in use' "$dir/start.log" || fail "$(cat "$dir/start.log")"
    done
    HOSTER=http://127.0.0.1:$port
    export HOSTER BASE=$HOSTER TRANSPORT=cgi
    eventually test -s "$dir/httpd.pid"
}

# Expects that the output holds each of the texts: output_has TEXT...
output_has() {
    local part
    for part; do
        [[ $output == *"$part"* ]] || fail "expected: $part"$'\n'"in: $output"
    done
}

stop_hoster() {
    end_process "$STACK/hoster/httpd.pid" "$STACK/hoster/httpd.conf"
}

# Runs a command as the account's user, with an empty environment: as_customer COMMAND...
as_customer() {
    "${service[@]}" env -i PATH="${CUSTOMER_PATH-/usr/bin:/bin}" HOME="$STACK/home" "$@"
}

# Unpacks the archive into the account, and sets `unpacked` to its directory.
upload_archive() {
    rm -rf "$STACK/home/upload"
    mkdir -p "$STACK/home/upload"
    tar -xzf "$ARCHIVE" --no-same-owner -C "$STACK/home/upload"
    unpacked=$(echo "$STACK"/home/upload/*)
}

# Runs install.sh with the shell $HOSTER_SHELL (default dash): install_archive [option...]
install_archive() {
    # shellcheck disable=SC2086  # the shell may be two words
    as_customer ${HOSTER_SHELL-dash} "$unpacked/install.sh" --url "$HOSTER" "$@"
}
