# shellcheck shell=sh disable=SC2015,SC2154  # the variables are those of install.sh
# The files below the document root: which of them this script wrote. Only those are replaced or
# removed. Read by install.sh.
#
# $home/files has a line `HASH PATH` for each file that was written. Before files are written it
# gets the lines of the new ones too, so that a run that broke off can be continued. A path may
# have several lines. The hash `-` stands for any content.

names='v2 platform dashboard reference' # the directories of the gateway below the document root

hash_of() { # FILE
    if command -v sha256sum >/dev/null 2>&1; then
        hash=$(sha256sum <"$1")
    elif command -v shasum >/dev/null 2>&1; then
        hash=$(shasum -a 256 <"$1")
    elif command -v openssl >/dev/null 2>&1; then
        hash=$(openssl dgst -sha256 -r <"$1")
    else
        die "this machine has none of sha256sum, shasum and openssl to check files"
    fi
    hash=${hash%% *}
}

exists() {
    [ -e "$1" ] || [ -L "$1" ]
}

# Whether an earlier run began to write files here.
is_installed() {
    [ -n "$home" ] && [ -f "$home/files" ]
}

# Prints the paths of the list.
listed() {
    ! is_installed || sed 's/^[^ ]* //' "$home/files" | sort -u
}

# Whether an earlier run wrote a file with this path: is_listed PATH
is_listed() {
    listed | grep -qxF -e "$1"
}

# Whether the file has the content that an earlier run wrote: is_unchanged PATH
is_unchanged() {
    [ -f "$root/$1" ] && [ ! -L "$root/$1" ] || return 1
    hash_of "$root/$1"
    grep -qxF -e "- $1" -e "$hash $1" "$home/files"
}

# Prints `MODE PATH SOURCE` for each file of this version, except .htaccess of the document root.
list_files() {
    say "$routes" | while read -r path program; do
        say "755 $path $here/programs/$program"
    done
    for directory in $directories; do
        say "644 $directory/.htaccess $home/programs.htaccess"
    done
    for directory in dashboard reference; do
        [ ! -d "$here/$directory" ] || (cd "$here" && find "$directory" -type f) |
            while read -r file; do
                say "644 $file $here/$file"
            done
    done
}

read_routes() {
    routes=$(manifest route)
    directories=$(say "$routes" | sed 's|/[^/]*$||' | sort -u)
}

# --- what is there already ---

# Sets `home` to the directory of the installation in this document root, if there is one.
find_home() {
    home=''
    for place in "$root/.switchboard" "$(dirname "$root")/switchboard"; do
        [ ! -f "$place/conf/switchboard.conf" ] || home=$place
    done
}

# An installation of a version that kept no list: the files that this version writes are its own.
adopt() {
    [ -n "$home" ] && [ -f "$home/version" ] && [ ! -f "$home/files" ] &&
        grep -qs '^# BEGIN switchboard' "$root/.htaccess" || return 0
    { list_files | sed 's/^[^ ]* \([^ ]*\) .*/- \1/'; say '- .htaccess'; } >"$home/files" ||
        die "cannot write $home/files"
}

# Prints what is there under the names of the gateway and is not the gateway's.
list_taken() {
    for name in $names; do
        if [ -L "$root/$name" ] || { exists "$root/$name" && [ ! -d "$root/$name" ]; }; then
            say "$name"
        elif [ -d "$root/$name" ] && ! listed | grep -q "^$name/" &&
            [ -n "$(ls -A "$root/$name")" ]; then
            say "$name/"
        fi
    done
    ! is_installed || list_files | while read -r mode path source; do
        ! exists "$root/$path" || is_listed "$path" || say "$path"
    done
}

# Prints the files and directories of another site, without those that a host or a person puts into
# each document root.
list_others() {
    # shellcheck disable=SC2012  # find of a small system cannot leave out the path
    ls -A "$root" | while read -r name; do
        case " $names .switchboard .htaccess .well-known cgi-bin error_log robots.txt " in
        *" $name "*) continue ;;
        esac
        case $name in
        favicon.* | *.shtml | .user.ini | php.ini | .ftpquota | switchboard-probe-*) ;;
        *) say "$name" ;;
        esac
    done
    ! other_rules || say 'rewrite rules in .htaccess'
}

# Whether .htaccess has rules of another site. Those that only lead to another URL, such as that of
# https, or that refuse requests are no site.
other_rules() {
    [ -f "$root/.htaccess" ] && without_block | awk '
        tolower($1) == "rewriterule" {
            gsub(/"/, "", $3)
            if ($3 != "-" && $3 !~ /^https?:\/\//)
                found = 1
        }
        tolower($1) ~ /^redirect/ { found = 1 }
        END { exit !found }'
}

one_line() {
    tr '\n' ' ' | sed 's/ $//'
}

# Ends before anything is changed, if the document root has another site, or names are taken.
refuse_site() {
    taken=$(list_taken | one_line)
    [ -z "$taken" ] ||
        die "$root has another site in: $taken. The gateway needs the names $names there. Make a" \
            "subdomain with a directory of its own in the host's panel, and give its URL. Nothing" \
            "was changed"
    [ -z "$shared" ] && ! is_installed || return 0
    others=$(list_others | one_line)
    [ -z "$others" ] ||
        die "$root has another site: $others. Make a subdomain with a directory of its own in the" \
            "host's panel, and give its URL; or give --shared, and the gateway takes no path but" \
            "/v2, /platform, /dashboard, /reference, /graph and /v26.0 (each version of the" \
            "platform); or remove these files, if the host put them there. Nothing was changed"
}

# Ends if the other site answers under a name that the gateway would take.
refuse_answered() {
    [ -n "$shared" ] && ! is_installed || return 0
    fetch "/switchboard-none-$$"
    none=$status
    for path in v2/health platform/webhook dashboard/ reference/ graph/me v26.0/me; do
        fetch "/$path"
        [ "$status" = "$none" ] || [ "$status" = 404 ] ||
            die "the site in $root answers $url/$path with $status: the gateway needs this path." \
                "Make a subdomain with a directory of its own. Nothing was changed"
    done
}

# --- .htaccess of the document root ---

# Prints .htaccess without the block of the gateway, byte for byte.
without_block() {
    sed '/^# BEGIN switchboard/,/^# END switchboard/d' "$root/.htaccess"
}

check_htaccess() {
    [ ! -L "$root/.htaccess" ] ||
        die "$root/.htaccess is a symbolic link: replace it by the file. Nothing was changed"
    [ -f "$root/.htaccess" ] || return 0
    begin=$(grep -c '^# BEGIN switchboard' "$root/.htaccess")
    [ "$begin" = "$(grep -c '^# END switchboard' "$root/.htaccess")" ] && [ "$begin" -le 1 ] ||
        die "$root/.htaccess needs one line '# END switchboard' after '# BEGIN switchboard':" \
            "remove the rest of the block by hand. Nothing was changed"
}

# Prints the block, for a document root of the gateway alone or for a shared one.
make_block() {
    kind=alone other=shared
    [ -z "$shared" ] || kind=shared other=alone
    sed "/^@$other@/d; s/^@$kind@//; s|@url@|$url|; s/^RewriteEngine/$links\\
RewriteEngine/" "$here/htaccess.root" | sed '/^$/d'
}

# Replaces .htaccess by the standard input and what is there of others: the block comes first,
# because a rule of another site may end the evaluation. Keeps the mode and a copy.
write_htaccess() {
    new=$root/.htaccess.switchboard-new
    if [ -f "$root/.htaccess" ]; then
        cp -f "$root/.htaccess" "$home/htaccess.before" && cp -p "$root/.htaccess" "$new" &&
            chmod u+w "$new" || die "cannot write $new"
        { cat; without_block; } >"$new" || die "cannot write $new"
        [ -w "$root/.htaccess" ] || chmod u-w "$new"
    else
        cat >"$new" || die "cannot write $new"
    fi
    mv -f "$new" "$root/.htaccess" || die "cannot write $root/.htaccess"
}

# --- writing and removing ---

# Replaces a file by renaming, so that a running program keeps its own: put MODE FROM TO
put() {
    cp "$2" "$3.switchboard-new" && chmod "$1" "$3.switchboard-new" &&
        mv -f "$3.switchboard-new" "$3" || die "cannot write $3"
}

# Copies a file that was changed since it was written: keep PATH
keep() {
    copy=$home/changed/$(date +%Y%m%dT%H%M%S)/$1
    mkdir -p "$(dirname "$copy")" && cp -p "$root/$1" "$copy" || die "cannot write $copy"
    say "note: $1 was changed since it was installed: its content is in $copy"
}

# Writes $home/files.next, the list of this version.
list_next() {
    read_routes
    { say "$options"; say "$pass"; cat "$here/htaccess.programs"; } >"$home/programs.htaccess" &&
        list_files >"$home/files.new" || die "cannot write below $home"
    : >"$home/files.next"
    while read -r mode path source; do
        hash_of "$source"
        say "$hash $path"
    done <"$home/files.new" >>"$home/files.next" || die "cannot write $home/files.next"
    if [ ! -f "$root/.htaccess" ] || is_listed .htaccess; then
        say '- .htaccess' >>"$home/files.next"
    fi
    touch "$home/files"
}

# Real files, because suEXEC starts no symbolic links, in directories that only the owner may write.
put_files() {
    list_next
    while read -r mode path source; do
        ! exists "$root/$path" || is_unchanged "$path" || keep "$path"
    done <"$home/files.new"
    sort -u "$home/files" "$home/files.next" >"$home/files.all" &&
        mv "$home/files.all" "$home/files" || die "cannot write $home/files"
    umask 022
    while read -r mode path source; do
        mkdir -p "$(dirname "$root/$path")" || die "cannot create the directory of $root/$path"
        put "$mode" "$source" "$root/$path"
    done <"$home/files.new"
    make_block | write_htaccess || exit 1
    umask 077
    rm "$home/files.new"
}

# Removes a file, if it is as it was written: remove PATH
remove() {
    rm -f "$root/$1.switchboard-new"
    exists "$root/$1" || return 0
    if is_unchanged "$1"; then
        rm -f "${root:?}/$1"
    else
        say "note: $1 was changed since it was installed, and is kept"
    fi
}

# Removes the directories of the gateway that are empty.
remove_directories() {
    for name in $names; do
        [ ! -d "$root/$name" ] || find "$root/$name" -depth -type d -exec rmdir {} + 2>/dev/null
    done
}

# Removes the files of an earlier version. Requests that Apache has looked up by the former
# .htaccess have started theirs after a moment.
remove_former() {
    sed 's/^[^ ]* //' "$home/files.next" >"$home/files.new"
    former=$(listed | grep -vxF -f "$home/files.new")
    rm "$home/files.new"
    if [ -n "$former" ]; then
        sleep 2
        for path in $former; do
            remove "$path"
        done
        say "removed, because this version has them no more: $(say "$former" | one_line)"
    fi
    mv "$home/files.next" "$home/files" || die "cannot write $home/files"
}

# Removes all that was written below the document root.
remove_all() {
    check_htaccess
    if [ -f "$root/.htaccess" ]; then
        : | write_htaccess
        [ -s "$root/.htaccess" ] || ! is_listed .htaccess || rm "$root/.htaccess"
    fi
    listed >"$home/files.removed"
    while read -r path; do
        [ "$path" = .htaccess ] || remove "$path"
    done <"$home/files.removed"
    remove_directories
    rm -f "$home/files" "$home/files.removed" "$home/shared"
}
