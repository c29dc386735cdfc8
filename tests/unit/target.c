/* lib/base/target.h: what is printed of a database's target never holds a part of a password. */
#include "base/target.h"

#include <string.h>

#include "compare.h"

static struct arena arena;

static void check_parts(void) {
    CHECK_INTEGER(target_scheme("postgresql://h/d"), 10);
    CHECK_INTEGER(target_scheme("/var/lib/a://b"), 0);
    CHECK_INTEGER(target_scheme("1x://h"), 0);
    CHECK_INTEGER(target_scheme("://h"), 0);
    CHECK_INTEGER(target_scheme(""), 0);
    CHECK_TEXT(target_file("/a b/c.db"), "/a b/c.db");
    CHECK_TEXT(target_file("postgresql://h/d"), NULL);
    CHECK_TEXT(target_file("relative.db"), NULL);
    CHECK_TEXT(target_file(""), NULL);
}

static const struct {
    const char *target, *name;
} names[] = {
    {"/var/lib/switchboard/a b@c?d.db", "/var/lib/switchboard/a b@c?d.db"},
    {"postgresql://h/d", "postgresql://h/d"},
    {"postgresql://h", "postgresql://h"},
    {"postgresql://h/", "postgresql://h/"},
    {"postgresql://", "postgresql://"},
    {"postgresql:///d", "postgresql:///d"},
    {"postgresql://h:5432", "postgresql://h:5432"},
    {"postgresql://db-1.example:5432,db-2.example:5433,[::1]:5434/d",
     "postgresql://db-1.example:5432,db-2.example:5433,[::1]:5434/d"},
    {"postgresql://%2Frun%2Fpostgresql/d", "postgresql://%2Frun%2Fpostgresql/d"},
    {"postgresql://user@h/d", "postgresql://h/d"},
    {"postgresql://h/d?sslmode=require", "postgresql://h/d"},
    {"postgresql://h?sslmode=require", "postgresql://h"},
    /* a password in each position */
    {"postgresql://user:SECRET@h/d", "postgresql://h/d"},
    {"postgresql://user:SECRET@h:5432,i:5432/d?a=b", "postgresql://h:5432,i:5432/d"},
    {"postgresql://user:SECRET@/d", "postgresql:///d"},
    {"postgresql://SECRET@h/d", "postgresql://h/d"},
    {"postgresql://user:%40SECRET%2F@h/d", "postgresql://h/d"},
    {"postgresql://user:a@SECRET@h/d", "postgresql://h/d"},
    {"postgresql://h/d?password=SECRET", "postgresql://h/d"},
    {"postgresql://h/d?user=a&password=SECRET#x", "postgresql://h/d"},
    {"postgresql://h/d#SECRET", "postgresql://h/d"},
    {"postgresql://h?password=SECRET", "postgresql://h"},
    {"postgresql://h/d?password=a/SECRET", "postgresql://h/d"},
    /* written wrongly, so that it cannot be seen where the password ends */
    {"postgresql://user:a/SECRET@h/d", "postgresql://..."},
    {"postgresql://user:1/SECRET@h/d", "postgresql://..."},
    {"postgresql://user:1?SECRET@h/d", "postgresql://..."},
    {"postgresql://user:1#SECRET@h/d", "postgresql://..."},
    {"postgresql://user:a@b/SECRET@h/d", "postgresql://..."},
    {"postgresql://h/d?password=SECRET@x", "postgresql://..."},
    {"postgresql://user:SECRET", "postgresql://..."},
    {"postgresql://user:SECRET/d", "postgresql://..."},
    {"postgresql://h,user:SECRET,i/d", "postgresql://..."},
    {"postgresql://[::1]SECRET/d", "postgresql://..."},
    {"postgresql://[::1/d", "postgresql://..."},
    {"postgresql://user:12 SECRET@h/d", "postgresql://h/d"},
    {"postgresql://h password=SECRET/d", "postgresql://..."},
    {"postgresql://h/d password=SECRET", "postgresql://h/..."},
    {"postgresql://h/password=SECRET", "postgresql://h/..."},
    {"host=h password=SECRET", "..."},
    {"password=SECRET", "..."},
    {"", "..."},
};

static void check_names(void) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *name = target_name(&arena, names[i].target);
        CHECK_TEXT_AS(names[i].target, name, names[i].name);
        check(!strstr(name, "SECRET"), "%s", names[i].target);
    }
}

/* A password with any one character in it. */
static void check_characters(void) {
    static const char *const forms[][2] = {
        {"postgresql://user:SECRET", "SECRET@h/d"},
        {"postgresql://user:", "SECRET@h:1/d"},
        {"postgresql://h/d?password=", "SECRET"},
        {"postgresql://h:1/d?a=b&password=SECRET", "SECRET&c=d"},
    };
    for (int c = 1; c < 256; c++)
        for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
            const char *target = arena_printf(&arena, "%s%c%s", forms[i][0], c, forms[i][1]);
            check(!strstr(target_name(&arena, target), "SECRET"), "%s", target);
        }
}

static void check_parameters(void) {
    static const char url[] = "postgresql://h/d?a=1&sslrootcert=%2Fetc%2Fa%20b.pem&b=%2&a=2&c=";
    char value[32], small[4];
    check(target_parameter(url, "a", value, sizeof value), "a");
    CHECK_TEXT(value, "1");
    check(target_parameter(url, "sslrootcert", value, sizeof value), "decoded");
    CHECK_TEXT(value, "/etc/a b.pem");
    check(target_parameter(url, "c", value, sizeof value) && !*value, "an empty value");
    check(!target_parameter(url, "b", value, sizeof value) && !*value, "half an escape");
    check(!target_parameter(url, "sslrootcert", small, sizeof small) && !*small, "too long");
    check(!target_parameter(url, "d", value, sizeof value) && !*value, "none");
    check(!target_parameter("postgresql://h/d", "a", value, sizeof value), "no query");
}

static void check_sockets(void) {
    static const struct {
        const char *target;
        bool has_socket;
    } targets[] = {
        {"postgresql:///d", true},
        {"postgresql://user@/d", true},
        {"postgresql://", true},
        {"postgresql://%2Frun%2Fpostgresql/d", true},
        {"postgresql:///d?host=/run/postgresql", true},
        {"postgresql:///d?host=%2Frun", true},
        {"postgresql:///d?host=h,/run", true},
        {"postgresql://h,%2Frun/d", true},
        {"postgresql://h/d", false},
        {"postgresql://user:pw@h:5432,i/d?sslmode=require", false},
        {"postgresql://[::1]:5432/d", false},
        {"postgresql:///d?host=h", false},
    };
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        check(target_has_socket(targets[i].target) == targets[i].has_socket, "%s",
              targets[i].target);
}

static void check_passwords(void) {
    static const struct {
        const char *target;
        bool has_password;
    } targets[] = {
        {"postgresql://u:pw@h/d", true},
        {"postgresql://u:p/w@h/d", true},
        {"postgresql://u:p@w@h:1,i:2/d?a=b", true},
        {"postgresql://u@h/d?a=b&password=pw", true},
        {"postgresql://h/d?sslpassword=pw", true},
        {"postgresql://u@h:5432/d", false},
        {"postgresql://h:5432/d?user=u@v", false},
        {"postgresql://u@[::1]:5432/d?passfile=/f", false},
        {"postgresql://", false},
        {"/var/u:pw@h/d", false},
        {"-", false},
    };
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        check(target_has_password(targets[i].target) == targets[i].has_password, "%s",
              targets[i].target);
}

int main(void) {
    arena_init(&arena, 4 * 1024 * 1024, NULL);
    check_parts();
    check_parameters();
    check_sockets();
    check_passwords();
    check_names();
    check_characters();
    arena_free(&arena);
    return check_failures();
}
