#!/usr/bin/env bats
# The software bill of materials and the licences of `make sbom`.
# transports: direct
# SQLite only: it examines the default programs
# starts first
# bats file_tags=long
load helpers/all

setup_file() {
    export SBOM=$BATS_FILE_TMPDIR/sbom
    [[ $OUT -ef $root ]] || return 0 # see setup
    # as `make sbom`, but with the result in a directory of the test
    make -s -C "$root" MAPPED="$SBOM/linked" mapped
    bill
}

teardown_file() {
    :
}

setup() {
    [[ $OUT -ef $root ]] || skip "the programs that are installed are those of the default build"
    document=$SBOM/switchboard.spdx.json
}

# Makes the bill: bill [MANIFEST]
bill() {
    SOURCE_DATE_EPOCH=1700000000 "$root/tools/sbom" "$SBOM/linked" "$root" "$SBOM" "$@"
}

# Prints the names of the packages that a program is linked with: linked_with PROGRAM RELATION
linked_with() {
    gojq -r --arg file "./$1" --arg relation "$2" '
        (.files[] | select(.fileName == $file).SPDXID) as $id
        | .packages as $packages | .relationships[]
        | select(.spdxElementId == $id and .relationshipType == $relation).relatedSpdxElement as $to
        | $packages[] | select(.SPDXID == $to).name' "$document" | sort
}

programs() {
    (cd "$SBOM/linked" && find cgi-bin tools -type f -perm -u+x | sort)
}

# Whether a program has exactly the packages of its shared libraries, as it names them, and those of
# the static libraries whose functions it has: is_complete PROGRAM
is_complete() {
    local name symbol package
    readelf -d "$root/$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p' | while read -r name; do
        [[ -s $BATS_TEST_TMPDIR/of-$name ]] ||
            dpkg-query -S "*/$(gcc -print-multiarch)/$name" >"$BATS_TEST_TMPDIR/of-$name"
        sed 's/[:,].*//' "$BATS_TEST_TMPDIR/of-$name"
    done | sort -u | cmp -s - <(linked_with "$1" DYNAMIC_LINK) || return 1
    nm "$root/$1" >"$BATS_TEST_TMPDIR/symbols"
    while read -r symbol package; do
        ! grep -q " [TW] $symbol\$" "$BATS_TEST_TMPDIR/symbols" || printf '%s\n' "$package"
    done <<'END' >"$BATS_TEST_TMPDIR/expected"
sqlite3_open_v2 libsqlite3-dev
sodium_init libsodium-dev
FCGX_Accept_r libfcgi-dev
utf8proc_decompose_char libutf8proc-dev
_start libc6-dev
END
    linked_with "$1" STATIC_LINK | grep -v '^libgcc-' |
        cmp -s - <(sort "$BATS_TEST_TMPDIR/expected")
}

@test "every executable is in the bill with the hash of its bytes, and nothing else" {
    local program
    assert_equal "$(gojq -r '.files[].fileName' "$document" | sort)" "$(programs | sed 's|^|./|')"
    (($(programs | wc -l) == $(ls "$root"/cgi-bin/*.c | wc -l) + 5))
    for program in $(programs); do
        assert_equal "$(gojq -r --arg name "./$program" '.files[] | select(.fileName == $name)
            | .checksums[] | select(.algorithm == "SHA256").checksumValue' "$document")" \
            "$(sha256sum <"$root/$program" | cut -d ' ' -f 1)"
    done
}

@test "the bill has exactly the packages of the libraries that each program is linked with" {
    local program number all=$document
    for program in $(programs); do
        is_complete "$program" || fail "$program: $(jq -c '.relationships[]' "$document")"
    done
    assert_equal "$(linked_with cgi-bin/me DYNAMIC_LINK)" ''
    linked_with cgi-bin/media DYNAMIC_LINK | grep -Eqx 'libmagic1(t64)?'
    # without any one of these links the bill of a program is not complete
    document=$BATS_TEST_TMPDIR/short
    for number in $(jq '.relationships | to_entries[]
            | select(.value.spdxElementId == "SPDXRef-File-cgi-bin-media")
            | select(.value.relatedSpdxElement | contains("libgcc") | not).key' "$all"); do
        jq "del(.relationships[$number])" "$all" >"$document"
        ! is_complete cgi-bin/media ||
            fail "a missing link was not noticed: $(jq -c ".relationships[$number]" "$all")"
    done
    ((number > 0))
}

@test "each package has its version, and its licence or the reason why there is none" {
    local name version
    while read -r name version; do
        assert_equal "$version" "$(dpkg-query -W -f '${Version}' "$name")"
    done < <(gojq -r '.packages[1:][] | "\(.name) \(.versionInfo)"' "$document")
    assert_equal "$("$OUT/tools/switchboard" --version | head -n 1) MIT" \
        "$(gojq -r '.packages[0] | "\(.name) \(.versionInfo) \(.licenseDeclared)"' "$document")"
    gojq -e '.packages[] | select(.name == "libsodium-dev").licenseDeclared == "ISC"' "$document"
    gojq -e '.packages[1:] | length > 4 and all(.licenseDeclared != "" and .licenseComments != "")
        and all(.sourceInfo | startswith("Debian\u0027s source package "))' "$document"
    gojq -e '.hasExtractedLicensingInfos[] | select(.name == "public-domain").extractedText
        | contains("public domain")' "$document"
}

# The rules of SPDX 2.3 that need no network; prints what is wrong with a document.
broken_rules() {
    gojq -r '
        def is_id: type == "string" and test("^SPDXRef-[A-Za-z0-9.-]+$");
        def is_text: type == "string" and . != "";
        def rule($what; condition): if condition then empty else $what end;
        def is_licence($refs): . == "NOASSERTION" or IN($refs[]) or
            IN("MIT", "ISC", "curl", "Apache-2.0", "Zlib", "PostgreSQL", "BSD-2-Clause",
                "BSD-3-Clause", "GPL-2.0-only", "GPL-2.0-or-later", "LGPL-2.1-or-later");
        ([.SPDXID, .packages[].SPDXID, .files[].SPDXID]) as $ids
        | [.hasExtractedLicensingInfos[].licenseId] as $refs
        | rule("version"; .spdxVersion == "SPDX-2.3"),
        rule("data licence"; .dataLicense == "CC0-1.0"),
        rule("document id"; .SPDXID == "SPDXRef-DOCUMENT"),
        rule("name"; .name | is_text),
        rule("namespace"; .documentNamespace | test("^https://[^#]+$")),
        rule("created"; .creationInfo.created | test("^[0-9-]{10}T[0-9:]{8}Z$")),
        rule("creators"; .creationInfo.creators | length > 0
            and all(test("^(Tool|Organization|Person): .+"))),
        rule("ids"; $ids | all(is_id) and (unique | length) == length),
        rule("licence ids"; $refs | all(test("^LicenseRef-[A-Za-z0-9.-]+$"))
            and (unique | length) == length),
        rule("licence texts"; .hasExtractedLicensingInfos | all(.extractedText | is_text)),
        rule("packages"; .packages | all((.name | is_text) and (.versionInfo | is_text)
            and (.downloadLocation | is_text) and (.filesAnalyzed | type == "boolean")
            and (.licenseDeclared | is_licence($refs)) and (.licenseConcluded | is_text)
            and (.copyrightText | is_text))),
        rule("purls"; [.packages[].externalRefs // [] | .[].referenceLocator]
            | all(test("^pkg:deb/debian/[a-z0-9.%+-]+@[^ ?]+\\?arch=[a-z0-9]+$"))),
        rule("verification code"; .packages | all(.filesAnalyzed ==
            (.packageVerificationCode.packageVerificationCodeValue // ""
                | test("^[0-9a-f]{40}$")))),
        rule("files"; .files | all((.fileName | test("^\\./.+"))
            and ([.checksums[].algorithm] | index("SHA1") != null)
            and (.checksums | all(.checksumValue | test("^([0-9a-f]{40}|[0-9a-f]{64})$"))))),
        rule("relationships"; .relationships | all((.spdxElementId | IN($ids[]))
            and (.relatedSpdxElement | IN($ids[]))
            and (.relationshipType | IN("DESCRIBES", "CONTAINS", "STATIC_LINK", "DYNAMIC_LINK")))),
        rule("description"; any(.relationships[]; .relationshipType == "DESCRIBES")),
        rule("connected"; [.relationships[].relatedSpdxElement] as $used
            | $ids - ["SPDXRef-DOCUMENT"] | all(IN($used[])))' "$1"
}

@test "the bill keeps the rules of SPDX 2.3" {
    local change rule
    assert_equal "$(broken_rules "$document")" ''
    gojq -r '.files[].checksums[0].checksumValue' "$document" | sort | tr -d '\n' | sha1sum |
        grep -q "^$(gojq -r '.packages[0].packageVerificationCode[]' "$document") "
    while IFS=$'\t' read -r rule change; do
        jq "$change" "$document" >"$BATS_TEST_TMPDIR/wrong"
        broken_rules "$BATS_TEST_TMPDIR/wrong" | grep -qx "$rule" || fail "not noticed: $change"
    done <<'END'
ids	.packages[1].SPDXID = "SPDXRef-a_b"
ids	.files[1].SPDXID = .files[0].SPDXID
relationships	.relationships[3].relatedSpdxElement = "SPDXRef-none"
packages	del(.packages[2].downloadLocation)
packages	.packages[2].licenseDeclared = "public-domain"
files	.files[0].checksums = [.files[0].checksums[1]]
created	.creationInfo.created = "today"
connected	.relationships |= map(select(.relatedSpdxElement | test("libmagic1") | not))
END
}

@test "the same programs give the same bytes, and the time of creation is SOURCE_DATE_EPOCH" {
    local first=$BATS_TEST_TMPDIR/first
    cp "$document" "$first"
    bill
    cmp "$first" "$document"
    assert_equal "$(gojq -r .creationInfo.created "$document")" 2023-11-14T22:13:20Z
}

@test "LICENSES has our licence and the copyright file of every package" {
    local name copyright
    sed -n '3,/^$/p' "$SBOM/LICENSES" | grep -qx 'MIT License'
    for name in $(gojq -r '.packages[1:][].name' "$document"); do
        grep -qxF "===== $name =====" "$SBOM/LICENSES" || fail "LICENSES lacks $name"
        copyright=/usr/share/doc/$name/copyright
        sed -n "/^===== $name =====\$/,\$p" "$SBOM/LICENSES" | tail -n +3 |
            head -c "$(wc -c <"$copyright")" | cmp - "$copyright"
    done
}

@test "a library that was built from source is the one of the manifest" {
    # a map in which the static libcurl of the build stands for the one of SQLite
    local built=$root/build/static-curl-of-test linked=$BATS_TEST_TMPDIR/linked
    mkdir -p "$built/lib"
    cp -r "$SBOM/linked" "$linked"
    : >"$built/lib/libcurl.a"
    sed -i "s|^/.*/libsqlite3.a(|$built/lib/libcurl.a(|" "$linked/cgi-bin/me.map"
    printf 'curl 7.88.1-10+deb12u15 %064d\n' 7 >"$built/MANIFEST"
    run "$root/tools/sbom" "$linked" "$root" "$BATS_TEST_TMPDIR/bill"
    [[ $status == 1 && $output == *'libcurl.a is in no package and not in the manifest'* ]] ||
        fail "$output"
    run "$root/tools/sbom" "$linked" "$root" "$BATS_TEST_TMPDIR/bill" "$built/MANIFEST"
    printf 'libsodium-dev 0.1 %064d\n' 7 >>"$built/MANIFEST"
    run "$root/tools/sbom" "$linked" "$root" "$BATS_TEST_TMPDIR/other" "$built/MANIFEST"
    rm -rf "$built"
    [[ $status == 1 && $output == *'has libsodium-dev 0.1, another one is installed'* ]] ||
        fail "$output"
    document=$BATS_TEST_TMPDIR/bill/switchboard.spdx.json
    linked_with cgi-bin/me STATIC_LINK | grep -qx curl
    gojq -e '.packages[] | select(.name == "curl")
        | .versionInfo == "7.88.1-10+deb12u15" and .licenseDeclared == "NOASSERTION"' "$document"
    assert_equal "$(broken_rules "$document")" ''
}

@test "programs that are not the built ones are refused" {
    mkdir -p "$BATS_TEST_TMPDIR/linked/cgi-bin" "$BATS_TEST_TMPDIR/linked/tools"
    cp "$SBOM/linked/cgi-bin/me" "$BATS_TEST_TMPDIR/linked/cgi-bin/health"
    run "$root/tools/sbom" "$BATS_TEST_TMPDIR/linked" "$root" "$BATS_TEST_TMPDIR"
    [[ $status == 1 && $output == *'cgi-bin/health differs; run make all'* ]] || fail "$output"
}

@test "of shipped programs the bill has those that are there, with the checksums of their bytes" {
    local shipped=$BATS_TEST_TMPDIR/shipped
    mkdir "$shipped"
    strip -o "$shipped/me" "$root/cgi-bin/me"
    strip -o "$shipped/courier" "$root/tools/courier"
    SHIPPED=$shipped run "$root/tools/sbom" "$SBOM/linked" "$root" "$BATS_TEST_TMPDIR/bill"
    assert_equal "$status" 0
    document=$BATS_TEST_TMPDIR/bill/switchboard.spdx.json
    assert_equal \
        "$(jq -r '.files[] | "\(.checksums[1].checksumValue)  \(.fileName)"' "$document")" \
        "$(cd "$shipped" && sha256sum me courier | sed 's|me$|./cgi-bin/me|; s|courier|./tools/&|')"
}
