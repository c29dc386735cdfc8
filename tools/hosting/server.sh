# shellcheck shell=sh disable=SC2015,SC2034,SC2154  # the variables are those of install.sh
# What the web server does with requests to $url. Read by install.sh.

# Sets `status`, `location`, `server` and `body` to the answer: fetch PATH [HEADER...]
fetch() {
    asked=$1
    shift
    answer=$("$here/programs/fetch" "$url$asked" "$@" 2>&1)
    IFS=' ' read -r status location server <<END
${answer%%"$newline"*}
END
    case $answer in
    *"$newline"*) body=${answer#*"$newline"} ;;
    *) body='' ;;
    esac
}

clean_up() {
    [ -z "${probe-}" ] || rm -rf "$probe"
    probe=''
}

# Whether the web server serves the directory as the URL: is_served DIR
is_served() {
    [ -d "$1" ] && [ -w "$1" ] || return 1
    probe=$1/switchboard-probe-$$
    (umask 022 && mkdir "$probe" && printf '%s' "$nonce" >"$probe/served.txt") || return 1
    fetch "/switchboard-probe-$$/served.txt"
    [ "$status $body" = "200 $nonce" ] && return 0
    clean_up
    refuse_url
    return 1
}

# Ends if the last answer shows that no directory would be served under the URL.
refuse_url() {
    case $status in
    000)
        die "$url does not answer from here: $body. Make the host or subdomain in the host's" \
            "panel, and wait until its name and its certificate work. Nothing was changed"
        ;;
    30[12378])
        origin=${location#*://}
        origin=${location%%://*}://${origin%%/*}
        [ "$origin" != "$url" ] || die "$url redirects each path, here to $location: remove" \
            "that redirect in the host's panel or in .htaccess. Nothing was changed"
        die "$url redirects to $location: give --url $origin. Nothing was changed"
        ;;
    401)
        die "$url asks for a password: the platform cannot give one. Remove the protection of" \
            "the directory in the host's panel. Nothing was changed"
        ;;
    esac
}

# The directories that hosts serve, the likeliest first.
list_roots() {
    host=${url#*://}
    host=${host%%:*}
    printf '%s\n' "$HOME/domains/$host/public_html" "$HOME/public_html/$host" "$HOME/$host" \
        "$HOME/public_html/${host%%.*}" "$HOME"/public_html "$HOME"/httpdocs "$HOME"/htdocs \
        "$HOME"/www "$HOME"/html "$HOME"/web "$(dirname "$here")" "$(dirname "$(dirname "$here")")"
}

# Looks at what the document root holds, before anything is written to it.
look_at_root() {
    refuse_earlier_layout
    find_home
    refuse_other
    refuse_older
    [ -z "$home" ] || [ ! -f "$home/shared" ] || shared=yes
    check_htaccess
    read_routes
    adopt
    refuse_site
}

# Ends if the last answer shows that the site's own rules fail: then no directory is found, nor a
# given one recognized. Reads the directories that may hold these rules.
refuse_failing_rules() {
    case $status in
    5??) ;;
    *) return 0 ;;
    esac
    rules=''
    while read -r place; do
        case $rules in
        *" $place/.htaccess"*) continue ;;
        esac
        [ ! -f "$place/.htaccess" ] || rules="$rules $place/.htaccess"
    done
    die "$url answers $status to a file that was put into its directory: rules of the site fail," \
        "${rules:+in$rules or }in the host's own configuration. The host's error log names the" \
        "line. Correct it, then run this again. Nothing was changed"
}

find_document_root() {
    nonce=$(od -An -N 8 -tx1 /dev/urandom | tr -d ' \n')
    if [ -n "$root" ]; then
        [ -d "$root" ] || die "there is no directory $root"
        [ -w "$root" ] || die "you may not write the directory $root"
        root=$(cd "$root" && pwd)
        look_at_root
        is_served "$root" || {
            refuse_failing_rules <<END
$root
END
            die "$url does not serve $root: a file that was put there was answered with $status." \
                "Give the directory that this host serves. Nothing was changed"
        }
        return
    fi
    while read -r root; do
        ! is_served "$root" || break
    done <<END
$(list_roots)
END
    [ -n "${probe-}" ] || {
        refuse_failing_rules <<END
$(list_roots)
END
        die "the directory that $url serves was not found: give it with --document-root DIR" \
            "(the last answer was $status $body). Nothing was changed"
    }
    look_at_root
}

# Whether .htaccess may hold the directive: allows DIRECTIVE
allows() {
    (umask 022 && printf '%s\n' "$1" >"$probe/.htaccess")
    fetch "/switchboard-probe-$$/served.txt"
    rm -f "$probe/.htaccess"
    [ "$status" = 200 ]
}

# Whether a rule in .htaccess, after these lines, leads to the file: try_rewrite LINES
try_rewrite() {
    (umask 022 && printf '%s\nRewriteEngine On\nRewriteRule ^rewritten$ %s\n' "$1" \
        "/switchboard-probe-$$/served.txt" >"$probe/.htaccess")
    fetch "/switchboard-probe-$$/rewritten"
    rm -f "$probe/.htaccess"
    [ "$status $body" = "200 $nonce" ]
}

look_at_rewriting() {
    links=''
    ! try_rewrite '' || return 0
    [ "$status" != 404 ] ||
        die "the web server does not read .htaccess (it calls itself $server): it is not Apache," \
            "or AllowOverride is None. Ask the host for Apache with AllowOverride All; nginx," \
            "lighttpd and OpenLiteSpeed alone cannot run the gateway. Nothing was changed"
    links='Options +SymLinksIfOwnerMatch' # mod_rewrite needs this or FollowSymLinks
    try_rewrite "$links" ||
        die "the web server takes no RewriteRule in .htaccess ($status): the host must load" \
            "mod_rewrite and set AllowOverride FileInfo (better: All) and Options" \
            "FollowSymLinks for $root. Nothing was changed"
}

# Fetches the probe CGI with these lines in .htaccess: try_cgi LINES
try_cgi() {
    (umask 022 && printf '%s\n' "$1" >"$probe/.htaccess")
    fetch "/switchboard-probe-$$/probe" 'Authorization: Bearer switchboard-probe' \
        'X-API-Token: switchboard-probe'
    rm -f "$probe/.htaccess"
    case $body in
    'user '*) [ "$status" = 200 ] ;;
    *) return 1 ;;
    esac
}

refuse_cgi() {
    [ "$status" != 200 ] ||
        die "the web server does not run programs in $root: it sends the program as a file." \
            "SetHandler in .htaccess has no effect there (it calls itself $server). The host must" \
            "allow CGI: mod_cgi or mod_cgid, and AllowOverride FileInfo; on LiteSpeed, CGI for" \
            "this site. Nothing was changed"
    die "the web server does not run programs in $root: it answered $status. The host must allow" \
        "CGI there: Options ExecCGI, or AllowOverride with Options; its error log names the" \
        "reason. Nothing was changed"
}

look_at_server() {
    options='' pass=''
    look_at_rewriting
    ! allows 'Options +ExecCGI' || options='Options +ExecCGI'
    ! allows 'CGIPassAuth On' || pass='CGIPassAuth On'
    (umask 022 && cp "$here/programs/probe" "$probe/probe" && chmod 755 "$probe/probe") ||
        die "cannot write below $root"
    handler="SetHandler cgi-script$newline$options"
    try_cgi "$handler$newline$pass" || refuse_cgi
    user=$(say "$body" | sed -n 's/^user //p')
    [ "$user" = "$(id -u)" ] ||
        die "the web server runs programs as user $user, not as you (user $(id -u)): programs of" \
            "other customers run as $user too and could read the keys. Ask the host for suEXEC." \
            "Nothing was changed"
    case $body in
    *'authorization yes'*) return ;;
    esac
    rewrite=RewriteEngine\ On$newline'RewriteRule .* - [E=HTTP_AUTHORIZATION:%{HTTP:Authorization}]'
    if try_cgi "$handler$newline$rewrite"; then
        case $body in
        *'authorization yes'*) return ;; # htaccess.root has the rule
        esac
    fi
    say 'warning: the header Authorization does not reach programs here, neither by CGIPassAuth nor'
    say '         by a rewrite: clients must send the API token as X-API-Token'
}

