# shellcheck shell=bash
# Lists that are answered in pages: `load helpers/pages` after helpers/all.

# Requests all pages of a list and prints EXPRESSION of each row; sets `pages` to their number:
# all_rows PATH?QUERY EXPRESSION
all_rows() {
    local after=''
    pages=0
    until ((pages && ${#after} == 0)); do
        api GET "$1${after:+&after=$after}"
        assert_success
        filter -r ".data.items[] | $2" "$body"
        after=$(gojq -r '.data.paging.cursors.after // empty' "$body")
        ((++pages < 100)) || return 1
    done
}
