/* lib/delivery/egress.h */
#include "delivery/egress.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include "check.h"

/* When deliveries to an address are allowed: always, with webhook_egress = private, never. */
enum verdict { ALWAYS, PRIVATELY, NEVER };

static const struct {
    const char *address;
    enum verdict verdict;
} rows[] = {
    {"8.8.8.8", ALWAYS},
    {"1.1.1.1", ALWAYS},
    {"9.255.255.255", ALWAYS},
    {"11.0.0.0", ALWAYS},
    {"100.63.255.255", ALWAYS},
    {"100.128.0.0", ALWAYS},
    {"126.255.255.255", ALWAYS},
    {"128.0.0.0", ALWAYS},
    {"169.253.255.255", ALWAYS},
    {"169.255.0.0", ALWAYS},
    {"172.15.255.255", ALWAYS},
    {"172.32.0.0", ALWAYS},
    {"192.0.1.0", ALWAYS},
    {"192.0.3.0", ALWAYS},
    {"192.88.98.255", ALWAYS},
    {"192.88.100.0", ALWAYS},
    {"192.167.255.255", ALWAYS},
    {"192.169.0.0", ALWAYS},
    {"198.17.255.255", ALWAYS},
    {"198.20.0.0", ALWAYS},
    {"198.51.99.255", ALWAYS},
    {"198.51.101.0", ALWAYS},
    {"203.0.112.255", ALWAYS},
    {"203.0.114.0", ALWAYS},
    {"223.255.255.255", ALWAYS},
    {"2606:4700:4700::1111", ALWAYS},
    {"2001:4860:4860::8888", ALWAYS},
    {"2001:1::1", ALWAYS},
    {"2003::1", ALWAYS},
    {"4000::1", ALWAYS},
    {"::ffff:8.8.8.8", ALWAYS},

    {"10.0.0.0", PRIVATELY},
    {"10.255.255.255", PRIVATELY},
    {"100.64.0.0", PRIVATELY},
    {"100.127.255.255", PRIVATELY},
    {"127.0.0.0", PRIVATELY},
    {"127.0.0.1", PRIVATELY},
    {"127.255.255.255", PRIVATELY},
    {"172.16.0.0", PRIVATELY},
    {"172.31.255.255", PRIVATELY},
    {"192.168.0.0", PRIVATELY},
    {"192.168.255.255", PRIVATELY},
    {"::1", PRIVATELY},
    {"fc00::", PRIVATELY},
    {"fdff:ffff::1", PRIVATELY},
    {"::ffff:127.0.0.1", PRIVATELY},
    {"::ffff:10.1.2.3", PRIVATELY},
    {"::ffff:7f00:1", PRIVATELY},

    {"0.0.0.0", NEVER},
    {"0.255.255.255", NEVER},
    {"100.100.100.200", NEVER},
    {"168.63.129.16", NEVER},
    {"169.254.0.0", NEVER},
    {"169.254.169.254", NEVER},
    {"169.254.255.255", NEVER},
    {"192.0.0.0", NEVER},
    {"192.0.0.192", NEVER},
    {"192.0.2.1", NEVER},
    {"192.88.99.1", NEVER},
    {"198.18.0.0", NEVER},
    {"198.19.255.255", NEVER},
    {"198.51.100.1", NEVER},
    {"203.0.113.1", NEVER},
    {"224.0.0.0", NEVER},
    {"239.255.255.255", NEVER},
    {"240.0.0.0", NEVER},
    {"255.255.255.255", NEVER},
    {"::", NEVER},
    {"::2", NEVER},
    {"::127.0.0.1", NEVER},
    {"::ffff:0:127.0.0.1", NEVER},
    {"::ffff:169.254.169.254", NEVER},
    {"::ffff:0.0.0.0", NEVER},
    {"64:ff9b::7f00:1", NEVER},
    {"64:ff9b:1::7f00:1", NEVER},
    {"100::1", NEVER},
    {"2001::1", NEVER},
    {"2001:0:ffff::1", NEVER},
    {"2001:db8::1", NEVER},
    {"2002:7f00:1::", NEVER},
    {"3fff::1", NEVER},
    {"3fff:fff::1", NEVER},
    {"5f00::1", NEVER},
    {"fd00:ec2::254", NEVER},
    {"fd20:ce::254", NEVER},
    {"fe80::1", NEVER},
    {"febf::1", NEVER},
    {"fec0::1", NEVER},
    {"ff02::1", NEVER},
};

static struct sockaddr_storage address_of(const char *text) {
    struct sockaddr_storage storage = {0};
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(80)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(80)};
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
        memcpy(&storage, &v4, sizeof v4);
    else if (inet_pton(AF_INET6, text, &v6.sin6_addr) == 1)
        memcpy(&storage, &v6, sizeof v6);
    return storage;
}

int main(void) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sockaddr_storage storage = address_of(rows[i].address);
        const struct sockaddr *address = (const struct sockaddr *)&storage;
        bool publicly = rows[i].verdict == ALWAYS, privately = rows[i].verdict != NEVER;
        check(storage.ss_family != AF_UNSPEC, "%s", rows[i].address);
        check(egress_allows(EGRESS_PUBLIC, address) == publicly, "%s", rows[i].address);
        check(egress_allows(EGRESS_PRIVATE, address) == privately, "%s", rows[i].address);
        check(egress_allows_text(EGRESS_PUBLIC, rows[i].address) == publicly, "%s",
              rows[i].address);
        check(egress_allows_text(EGRESS_PRIVATE, rows[i].address) == privately, "%s",
              rows[i].address);
    }
    struct sockaddr_un local = {.sun_family = AF_UNIX, .sun_path = "/run/somewhere"};
    check(!egress_allows(EGRESS_PRIVATE, (const struct sockaddr *)&local), "a unix socket");
    check(!egress_allows_text(EGRESS_PRIVATE, "localhost"), "a host name is not an address");
    check(!egress_allows_text(EGRESS_PRIVATE, ""), "nothing");
    check(egress_read("public") == EGRESS_PUBLIC, "public");
    check(egress_read("private") == EGRESS_PRIVATE, "private");
    return check_failures();
}
