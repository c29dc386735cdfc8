/* The URLs that a user may configure (RFC 3986; spec 2.8). */
#include "base/url.h"

#include "compare.h"

static const char *const valid[] = {
    "http://a",
    "https://a",
    "HTTPS://Example.COM",
    "http://a/",
    "http://a.example/hook?x=1&y=%20#part",
    "http://a.example:80/",
    "http://a.example:65535",
    "http://a.example:/",
    "http://a.example?x",
    "http://a.example#x",
    "http://a-b_c.example./p;q=1/(x)*!$,'+~:@",
    "http://127.0.0.1:8080/hook",
    "http://[::1]/",
    "http://[::1]:8080",
    "http://[2001:db8::ff00:42:8329]?x",
    "http://[::ffff:192.0.2.1]",
    "https://xn--bcher-kva.example",
    "http://a/%C3%A9%ff",
};

/* Invalid URLs, and a part of the message. */
static const struct {
    const char *url, *wrong;
} invalid[] = {
    {"", "http:// or https://"},
    {"a.example/hook", "http:// or https://"},
    {"//a.example", "http:// or https://"},
    {"http:", "http:// or https://"},
    {"http:/a", "http:// or https://"},
    {"http//a", "http:// or https://"},
    {" http://a", "http:// or https://"},
    {"ftp://a", "http:// or https://"},
    {"file:///etc/passwd", "http:// or https://"},
    {"javascript:alert(1)", "http:// or https://"},
    {"httpx://a", "http:// or https://"},
    {"http://", "http:// or https://"},
    {"http:///path", "name a host"},
    {"http://?x", "name a host"},
    {"http://#x", "name a host"},
    {"http://:80", "name a host"},
    {"http://a b", "percent-encode"},
    {"http://a/b c", "percent-encode"},
    {"http://a/\t", "percent-encode"},
    {"http://a/\r\nX: y", "percent-encode"},
    {"http://a/\x7f", "percent-encode"},
    {"http://b\xc3\xbc"
     "cher.example",
     "percent-encode"},
    {"http://a/\"", "percent-encode"},
    {"http://a/<>", "percent-encode"},
    {"http://a\\b", "percent-encode"},
    {"http://a/{x}", "percent-encode"},
    {"http://a/`", "percent-encode"},
    {"http://a/|", "percent-encode"},
    {"http://a/^", "percent-encode"},
    {"http://a/%", "hexadecimal"},
    {"http://a/%4", "hexadecimal"},
    {"http://a/%4g", "hexadecimal"},
    {"http://user@a", "user name or password"},
    {"http://user:pass@a", "user name or password"},
    {"http://@a", "user name or password"},
    {"http://a:0", "port"},
    {"http://a:65536", "port"},
    {"http://a:-1", "port"},
    {"http://a:8o", "port"},
    {"http://a:80:90", "port"},
    {"http://a:000080", "port"},
    {"http://a%2eexample", "letters, digits"},
    {"http://a,b", "letters, digits"},
    {"http://a[b]", "letters, digits"},
    {"http://[", "close the ["},
    {"http://[::1", "close the ["},
    {"http://[]", "IPv6 address"},
    {"http://[::1]x", "IPv6 address"},
    {"http://[::g]", "IPv6 address"},
    {"http://[::::]", "IPv6 address"},
    {"http://[1:2:3:4:5:6:7:8:9]", "IPv6 address"},
    {"http://[127.0.0.1]", "IPv6 address"},
    {"http://[fe80::1%25eth0]", "IPv6 address"},
    {"http://[v1.fe]", "IPv6 address"},
    {"http://[::1]:x", "port"},
};

/* A URL of exactly `n` characters, of which the host has `host`. */
static const char *long_url(char *out, size_t n, size_t host) {
    memset(out, 'a', n);
    memcpy(out, "http://", 7);
    if (7 + host < n)
        out[7 + host] = '/';
    out[n] = '\0';
    return out;
}

int main(void) {
    char text[4096];
    for (size_t i = 0; i < sizeof valid / sizeof *valid; i++)
        CHECK_TEXT_AS(valid[i], url_check(slice_of(valid[i])), NULL);
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++)
        CHECK_HOLDS_AS(invalid[i].url, url_check(slice_of(invalid[i].url)), invalid[i].wrong);
    CHECK_HOLDS(url_check(SLICE("http://a\0b")), "percent-encode");
    CHECK_HOLDS(url_check(SLICE("http://a/\0")), "percent-encode");
    CHECK_TEXT(url_check(slice_of(long_url(text, 2048, 10))), NULL);
    CHECK_HOLDS(url_check(slice_of(long_url(text, 2049, 10))), "2048");
    CHECK_TEXT(url_check(slice_of(long_url(text, 400, 253))), NULL);
    CHECK_HOLDS(url_check(slice_of(long_url(text, 400, 254))), "253");
    return check_failures();
}
