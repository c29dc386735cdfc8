/* lib/delivery/handshake.h, against a server in a thread that answers each request as one row of a
 * table says. */
#include "delivery/handshake.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/http_client.h"
#include "check.h"

/* How the server answers: the text of the answer, in which @ is the request's challenge. */
struct trial {
    const char *name;
    const char *path;   /* of the URL, with its query and fragment */
    const char *target; /* the request's target before the challenge; NULL: not compared */
    const char *token;
    const char *answer; /* NULL: the server closes the connection */
    const char *filler; /* sent after the answer */
    int fillers;        /* so many times */
    int seconds;        /* between the answer and the filler */
    const char *reason; /* NULL: it is confirmed */
};

#define GIVEN "hub.mode=subscribe&hub.verify_token=token&hub.challenge="
#define OK    "HTTP/1.1 200 OK\r\n\r\n"

/* clang-format off */
static const struct trial trials[] = {
    {.name = "the challenge", .path = "/hook", .target = "/hook?" GIVEN, .answer = OK "@"},
    {.name = "no path", .path = "", .target = "/?" GIVEN, .answer = OK "@"},
    {.name = "a query", .path = "/hook?key=1", .target = "/hook?key=1&" GIVEN, .answer = OK "@"},
    {.name = "an empty query", .path = "/hook?", .target = "/hook?" GIVEN, .answer = OK "@"},
    {.name = "a query with an end", .path = "/?a&", .target = "/?a&" GIVEN, .answer = OK "@"},
    {.name = "a query without a path", .path = "?a", .target = "/?a&" GIVEN, .answer = OK "@"},
    {.name = "a fragment", .path = "/a?b#c?d", .target = "/a?b&" GIVEN, .answer = OK "@"},
    {.name = "a token with signs", .path = "/", .token = "a&b=c +%\xc3\xa4",
     .target = "/?hub.mode=subscribe&hub.verify_token=a%26b%3Dc%20%2B%25%C3%A4&hub.challenge=",
     .answer = OK "@"},
    {.name = "a length", .path = "/", .answer = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n@"},
    {.name = "an interim answer", .path = "/", .answer = "HTTP/1.1 103 Early\r\n\r\n" OK "@"},
    {.name = "a line feed after it", .path = "/", .answer = OK "@\n",
     .reason = "the body of the answer is not the value of hub.challenge and nothing else"},
    {.name = "a space before it", .path = "/", .answer = OK " @",
     .reason = "the body of the answer is not the value of hub.challenge and nothing else"},
    {.name = "quotes around it", .path = "/", .answer = OK "\"@\"",
     .reason = "the body of the answer is not the value of hub.challenge and nothing else"},
    {.name = "an empty answer", .path = "/", .answer = OK,
     .reason = "the body of the answer is not the value of hub.challenge and nothing else"},
    {.name = "the challenge twice", .path = "/", .answer = OK "@@",
     .reason = "the body of the answer is not the value of hub.challenge and nothing else"},
    {.name = "403", .path = "/", .answer = "HTTP/1.1 403 Forbidden\r\n\r\n@",
     .reason = "HTTP 403 was answered instead of 200: the verify token may be wrong"},
    {.name = "201", .path = "/", .answer = "HTTP/1.1 201 Created\r\n\r\n@",
     .reason = "HTTP 201 was answered instead of 200: the verify token may be wrong"},
    {.name = "a redirect", .path = "/",
     .answer = "HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 10\r\n\r\n@",
     .reason = "HTTP 302 was answered, and redirects are not followed"},
    {.name = "more than 4 KB", .path = "/", .answer = OK "@", .filler = "x", .fillers = 4096,
     .reason = "the body of the answer is longer than 4 KB; it must be the challenge"},
    {.name = "large headers", .path = "/", .answer = "HTTP/1.1 200 OK\r\n",
     .filler = "X-Padding: 3456789 123456789 123456789\r\n", .fillers = 900,
     .reason = "the answer has more than 32 KB of headers"},
    {.name = "a cut answer", .path = "/",
     .answer = "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n@",
     .reason = "transfer closed with 1 bytes remaining to read"},
    {.name = "no answer", .path = "/", .answer = NULL, .reason = "Empty reply from server"},
    {.name = "a slow answer", .path = "/", .answer = OK "@", .seconds = 12,
     .reason = "timed out: no whole answer within 10 s"},
};
/* clang-format on */

static const struct trial *volatile current;
static char received[4096]; /* the request of the trial */
static volatile int request_count;
static int listener;

static const char *find(const char *text, const char *part) {
    const char *found = strstr(text, part);
    return found ? found + strlen(part) : "";
}

/* Reads a request until its empty line. */
static void read_request(int fd) {
    size_t n = 0;
    for (ssize_t got = 1; got > 0 && n + 1 < sizeof received && !strstr(received, "\r\n\r\n");) {
        got = recv(fd, received + n, sizeof received - 1 - n, 0);
        n += got > 0 ? (size_t)got : 0;
        received[n] = '\0';
    }
}

static void answer_trial(int fd, const struct trial *trial) {
    const char *challenge = find(received, "hub.challenge=");
    for (const char *p = trial->answer; *p; p++) {
        const char *bytes = *p == '@' ? challenge : p;
        size_t n = *p == '@' ? strcspn(challenge, " ") : 1;
        send(fd, bytes, n, MSG_NOSIGNAL);
    }
    sleep((unsigned)trial->seconds);
    for (int i = 0; i < trial->fillers; i++)
        send(fd, trial->filler, strlen(trial->filler), MSG_NOSIGNAL);
}

static void *serve(void *context) {
    (void)context;
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        if (fd < 0)
            return NULL;
        memset(received, 0, sizeof received);
        read_request(fd);
        request_count++;
        if (current->answer)
            answer_trial(fd, current);
        close(fd);
    }
}

/* Starts the server. Returns its port. */
static int start(void) {
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t length = sizeof address;
    pthread_t thread;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(listener, 8) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &length) != 0 ||
        pthread_create(&thread, NULL, serve, NULL) != 0)
        abort();
    pthread_detach(thread);
    return ntohs(address.sin_port);
}

static struct arena arena;
static struct config config = {.webhook_egress = "private", .ca_path = "", .ca_file = ""};

/* libcurl's words, and those of its later versions. */
static const char *const later_words[][2] = {
    {"transfer closed with 1 bytes remaining to read", "end of response with 1 bytes missing"},
    {"Protocol \"ftp\" not supported or disabled in libcurl", "Protocol \"ftp\" disabled"},
};

static bool is_said(const char *reason, const char *expected) {
    for (size_t i = 0; i < sizeof later_words / sizeof *later_words; i++)
        if (strcmp(expected, later_words[i][0]) == 0 && strcmp(reason, later_words[i][1]) == 0)
            return true;
    return strcmp(reason, expected) == 0;
}

static void check_reason(const char *name, const char *reason, const char *expected) {
    if (expected)
        check(reason && is_said(reason, expected), "%s: %s", name, reason ? reason : "none");
    else
        check(!reason, "%s: %s", name, reason);
}

static void check_request(const struct trial *trial) {
    const char *challenge = find(received, "hub.challenge=");
    size_t digits = strspn(challenge, "0123456789");
    check(digits == 10 && challenge[0] == '1' && challenge[digits] == ' ', "%s: %s", trial->name,
          challenge);
    check(strstr(received, "\r\nUser-Agent: switchboard/"), "%s: %s", trial->name, received);
    if (trial->target)
        check(strncmp(received, "GET ", 4) == 0 &&
                  strncmp(received + 4, trial->target, strlen(trial->target)) == 0,
              "%s: %s", trial->name, received);
}

static void check_trial(const struct trial *trial, int port) {
    const char *url = arena_printf(&arena, "http://127.0.0.1:%d%s", port, trial->path);
    const char *token = trial->token ? trial->token : "token";
    current = trial;
    request_count = 0;
    check_reason(trial->name, handshake_verify(&arena, &config, url, slice_of(token)),
                 trial->reason);
    check(request_count == 1, "%s: %d requests", trial->name, request_count);
    check_request(trial);
}

/* The URL is not requested: its address is not allowed, or no request can be made. */
static void check_refusal(const char *url, const char *reason) {
    current = &trials[0];
    request_count = 0;
    check_reason(url, handshake_verify(&arena, &config, url, SLICE("token")), reason);
    check(request_count == 0, "%s: %d requests", url, request_count);
}

/* Every spelling of the server's address is refused; the names are not looked up on the network. */
static void check_public(int port) {
    static const char *const hosts[] = {"127.0.0.1", "127.1", "localhost", "0x7f000001",
                                        "[::ffff:127.0.0.1]"};
    config.webhook_egress = "public";
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        const char *url = arena_printf(&arena, "http://%s:%d/hook", hosts[i], port);
        current = &trials[0];
        request_count = 0;
        const char *reason = handshake_verify(&arena, &config, url, SLICE("token"));
        check(reason && strncmp(reason, "blocked_address: ", 17) == 0 &&
                  strstr(reason, "is not allowed with webhook_egress = public"),
              "%s: %s", url, reason ? reason : "none");
        check(request_count == 0, "%s: %d requests", url, request_count);
    }
    config.webhook_egress = "private";
    check_refusal("http://169.254.169.254/",
                  "blocked_address: 169.254.169.254 is not allowed with webhook_egress = private");
}

int main(void) {
    int port = start();
    arena_init(&arena, 1024 * 1024, NULL);
    check(http_prepare(), "libcurl");
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++)
        check_trial(&trials[i], port);
    check_public(port);
    check_refusal(arena_printf(&arena, "ftp://127.0.0.1:%d/", port),
                  "Protocol \"ftp\" not supported or disabled in libcurl");
    arena_free(&arena);
    return check_failures();
}
