#!/usr/bin/env bats
# The Debian package, without building it: `make package-test` builds, installs and upgrades it.
# transports: direct
# SQLite only: the packages hold the default programs
load helpers/all

setup_file() {
    :
}

teardown_file() {
    :
}

setup() {
    cd "$root" || return
}

@test "the version of the package is the version of the programs" {
    local product
    product=$(sed -n 's/^#define SWITCHBOARD_VERSION *"\(.*\)"$/\1/p' lib/base/product.h)
    [[ $product =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]]
    assert_equal "$(sed -n '1s/^switchboard (\([^)]*\)).*/\1/p' debian/changelog)" "$product"
}

# bats test_tags=long
@test "the build dependencies are the libraries that make installs" {
    local packages depends
    packages=$(make -s -p -n -q help | sed -n 's/^PACKAGES := //p' | tr -s ' ' '\n' |
        grep '^lib.*-dev$' | grep -v '^libc6-dev$' | sort)
    depends=$(sed -n '/^Build-Depends:/,/^[A-Z]/s/^ \(lib[^, ]*\),.*/\1/p' debian/control | sort)
    [[ $(wc -l <<<"$depends") -ge 5 ]]
    assert_equal "$depends" "$packages"
}

@test "the maintainer scripts pass shellcheck, and debhelper adds its part to each" {
    local script
    for script in debian/switchboard.{preinst,postinst,prerm,postrm}; do
        shellcheck "$script"
        grep -qx '#DEBHELPER#' "$script"
        assert_equal "$(head -n 1 "$script")" '#!/bin/sh'
    done
}

# Runs the script before an installation, with the files of an installation below the test's
# directory: preinst SCHEMA-OF-THE-INSTALLED ARGUMENT...
preinst() {
    local schema
    schema=$(. tools/common.bash && schema_id_in .)
    printf '%s\n' "$1" >"$BATS_TEST_TMPDIR/schema"
    sed -e "s/#SCHEMA#/$schema/" -e "s|^installed=.*|installed=$BATS_TEST_TMPDIR/schema|" \
        debian/switchboard.preinst >"$BATS_TEST_TMPDIR/preinst"
    run sh "$BATS_TEST_TMPDIR/preinst" "${@:2}"
}

@test "a package may replace one of another version with the same schema, and a newer one with no other" {
    local own
    own=$(. tools/common.bash && schema_id_in .)
    [[ $own =~ ^[0-9]+-[0-9a-f]{4}$ ]] || fail "$own"
    grep -q "dh_installdeb -DSCHEMA=" debian/rules
    preinst "$own" upgrade 0.1.1 0.1.0
    assert_equal "$status $output" '0 '
    preinst 99-0000 upgrade 0.1.0 0.1.1
    assert_equal "$status $output" '0 '
    preinst 99-0000 upgrade 0.1.1 0.1.0
    assert_equal "$status" 1
    [[ $output == *'0.1.0 is older than the installed version 0.1.1 and has another schema'* ]] ||
        fail "$output"
    rm "$BATS_TEST_TMPDIR/schema" # of a package before this file
    run sh "$BATS_TEST_TMPDIR/preinst" upgrade 0.1.1 0.1.0
    assert_equal "$status" 1
}

# bats test_tags=long
@test "the rules and the files that they name exist" {
    local file
    make -s -n -f debian/rules override_dh_auto_install | grep -q 'install ARCH=[a-z0-9]* DESTDIR='
    [[ -x debian/rules && -x debian/build && -x debian/tests/send ]]
    while read -r file _; do
        [[ -e $file ]] || fail "debian/*.install names $file"
    done < <(cat debian/*.install)
    grep -qx 'Tests: send' debian/tests/control
}

@test "debhelper plans the build with its file of dependencies" {
    command -v dh >/dev/null || skip "debhelper is not installed; make deb installs it"
    run dh binary --no-act --with installsysusers
    assert_equal "$status" 0
    [[ $output == *override_dh_auto_install* || $output == *dh_installsysusers* ]]
}

@test "the virtual host of the package loads the modules that apache.conf needs" {
    local modules
    modules=$(sed -n 's/^# Modules: a2enmod \([a-z_ ]*\);.*/\1/p' apache.conf)
    [[ -n $modules ]]
    grep -qF "a2enmod $modules" debian/apache2/sites-available/switchboard.conf
    grep -qF "a2enmod -q $modules" debian/tests/send
    grep -qF "a2enmod $modules" doc/install.md
}
