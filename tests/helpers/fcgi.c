/* fcgi: sends one FastCGI request to a socket, with parameters and records of any kind.
 *
 *     fcgi SOCKET [option...] [NAME=VALUE...]
 *
 *     --role N       the role of FCGI_BEGIN_REQUEST; default 1, a responder
 *     --body FILE    the content of FCGI_STDIN; default: empty
 *     --many N       N further parameters, MANY_1=x and so on
 *     --huge NAME N  a parameter with a value of N bytes
 *     --env NAME V   a parameter with the value of the environment variable V, for secrets
 *     --claim N      the first FCGI_PARAMS record announces N bytes
 *     --keep         with FCGI_KEEP_CONN
 *     --abort        an FCGI_ABORT_REQUEST instead of the body
 *     --cut N        send only the first N bytes, then shut down the sending side
 *     --stall N      send only the first N bytes, and keep the connection open
 *     --raw FILE     send the bytes of FILE instead of the request
 *
 * Prints the content of FCGI_STDOUT. Exit status: 0 when FCGI_END_REQUEST ended the request, 1 when
 * the connection was closed before it, 2 for other errors.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { BEGIN_REQUEST = 1, ABORT_REQUEST, END_REQUEST, PARAMS, STDIN, STDOUT };
enum { MOST = 8 * 1024 * 1024, RECORD = 65535 };

struct bytes {
    unsigned char at[MOST];
    size_t n;
};

static struct bytes request, parameters, body;

static _Noreturn void die(const char *what) {
    fprintf(stderr, "fcgi: %s: %s\n", what, strerror(errno));
    exit(2);
}

static void add(struct bytes *to, const void *bytes, size_t n) {
    if (n > sizeof to->at - to->n)
        die("the request is too large for this program");
    memcpy(to->at + to->n, bytes, n);
    to->n += n;
}

static void add_record(unsigned char type, const void *content, size_t n) {
    const unsigned char header[8] = {1, type, 0, 1, (unsigned char)(n >> 8), (unsigned char)n};
    add(&request, header, sizeof header);
    add(&request, content, n);
}

/* Adds as many records as the content needs, and the empty one that ends the stream. */
static void add_stream(unsigned char type, const struct bytes *content) {
    size_t n, at = 0;
    for (; at < content->n; at += n) {
        n = content->n - at < RECORD ? content->n - at : RECORD;
        add_record(type, content->at + at, n);
    }
    add_record(type, "", 0);
}

static void add_length(size_t n) {
    const unsigned char length[4] = {(unsigned char)(n >> 24 | 0x80), (unsigned char)(n >> 16),
                                     (unsigned char)(n >> 8), (unsigned char)n};
    add(&parameters, length, sizeof length);
}

static void add_parameter(const char *name, size_t name_size, const char *value, size_t n) {
    add_length(name_size);
    add_length(n);
    add(&parameters, name, name_size);
    add(&parameters, value, n);
}

static void add_huge(const char *name, size_t n) {
    char *value = malloc(n + 1);
    if (!value)
        die("malloc");
    memset(value, 'x', n);
    add_parameter(name, strlen(name), value, n);
    free(value);
}

static void add_many(unsigned long count) {
    char name[32];
    for (unsigned long i = 1; i <= count; i++)
        add_parameter(name, (size_t)snprintf(name, sizeof name, "MANY_%lu", i), "x", 1);
}

static void add_file(struct bytes *to, const char *path) {
    static char bytes[MOST];
    FILE *file = fopen(path, "re");
    if (!file)
        die(path);
    add(to, bytes, fread(bytes, 1, sizeof bytes, file));
    fclose(file);
}

static int connect_to(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (strlen(path) >= sizeof address.sun_path)
        die(path);
    memcpy(address.sun_path, path, strlen(path) + 1);
    if (fd < 0 || connect(fd, (const struct sockaddr *)&address, sizeof address) != 0)
        die(path);
    return fd;
}

/* Sends the bytes. Stops without an error when the server closes the connection early: its answer
 * can still be read. */
static void send_all(int fd, const unsigned char *p, size_t n) {
    for (ssize_t wrote = 1; n && wrote > 0; p += wrote, n -= (size_t)wrote)
        if ((wrote = send(fd, p, n, MSG_NOSIGNAL)) < 0)
            return;
}

static size_t receive(int fd, unsigned char *bytes, size_t n) {
    size_t got = 0;
    for (ssize_t more = 1; got < n && more > 0; got += more > 0 ? (size_t)more : 0)
        more = read(fd, bytes + got, n - got);
    return got;
}

static int print_answer(int fd) {
    static unsigned char header[8], content[RECORD + 255];
    while (receive(fd, header, sizeof header) == sizeof header) {
        size_t n = (size_t)header[4] << 8 | header[5];
        if (receive(fd, content, n + header[6]) != n + header[6])
            return 1;
        if (header[1] == STDOUT)
            fwrite(content, 1, n, stdout);
        if (header[1] == END_REQUEST)
            return 0;
    }
    return 1;
}

int main(int argc, char **argv) {
    unsigned long role = 1, claim = 0, cut = 0, stall = 0;
    const char *raw = NULL;
    int aborts = 0;
    unsigned char keeps = 0;
    if (argc < 2)
        return 2;
    for (char **word = argv + 2; *word; word++) {
        const char *equals = strchr(*word, '='), *next = word[1] ? word[1] : "";
        if (strcmp(*word, "--role") == 0)
            role = strtoul(next, NULL, 10), word++;
        else if (strcmp(*word, "--body") == 0)
            add_file(&body, next), word++;
        else if (strcmp(*word, "--many") == 0)
            add_many(strtoul(next, NULL, 10)), word++;
        else if (strcmp(*word, "--huge") == 0 && word[1] && word[2])
            add_huge(next, strtoul(word[2], NULL, 10)), word += 2;
        else if (strcmp(*word, "--env") == 0 && word[1] && word[2] && getenv(word[2]))
            add_parameter(word[1], strlen(word[1]), getenv(word[2]), strlen(getenv(word[2]))),
                word += 2;
        else if (strcmp(*word, "--claim") == 0)
            claim = strtoul(next, NULL, 10), word++;
        else if (strcmp(*word, "--cut") == 0)
            cut = strtoul(next, NULL, 10), word++;
        else if (strcmp(*word, "--stall") == 0)
            stall = strtoul(next, NULL, 10), word++;
        else if (strcmp(*word, "--raw") == 0)
            raw = next, word++;
        else if (strcmp(*word, "--abort") == 0)
            aborts = 1;
        else if (strcmp(*word, "--keep") == 0)
            keeps = 1;
        else if (equals)
            add_parameter(*word, (size_t)(equals - *word), equals + 1, strlen(equals + 1));
        else
            return 2;
    }
    const unsigned char begin[8] = {(unsigned char)(role >> 8), (unsigned char)role, keeps};
    add_record(BEGIN_REQUEST, begin, sizeof begin);
    add_stream(PARAMS, &parameters);
    if (claim) {
        request.at[16 + 4] = (unsigned char)(claim >> 8);
        request.at[16 + 5] = (unsigned char)claim;
    }
    if (aborts)
        add_record(ABORT_REQUEST, "", 0);
    else
        add_stream(STDIN, &body);
    if (raw)
        request.n = 0, add_file(&request, raw);
    if ((cut || stall) && cut + stall < request.n)
        request.n = cut + stall;
    int fd = connect_to(argv[1]);
    send_all(fd, request.at, request.n);
    if (cut)
        shutdown(fd, SHUT_WR);
    return print_answer(fd);
}
