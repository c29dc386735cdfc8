/* receiver: the server behind a webhook URL, for tests. Records every delivery and sends scripted
 * answers.
 *
 *     receiver DIR [PORT]
 *
 * Listens on 127.0.0.1; PORT 0 (the default) chooses a free port. Writes the port to DIR/port when
 * it listens. Stores request number N, counted in the order of completion, as DIR/N.head (request
 * line and headers, one a line), DIR/N.body (its bytes) and DIR/N.meta (the time of its arrival in
 * ms, and the number of requests being answered at that time). Creates N.head last. With RECORD in
 * the environment, also appends each event to the file events.PID of that directory, for the
 * check of tests/contract: a line `event LENGTH LENGTH LENGTH`, and in these numbers of bytes the
 * name of the test file, the head and the body.
 *
 * Answers a request to /NAME... as the current content of the file DIR/NAME.answer prescribes, one
 * directive a line:
 *
 *     status N          default 200
 *     verify TOKEN      a GET is answered as the platform's verification of a URL: 200 with the
 *                       value of hub.challenge where hub.verify_token is TOKEN, else 403
 *     header LINE       a header line
 *     body TEXT         default: nothing
 *     bytes N           a body of N bytes
 *     endless           a body without end
 *     padding N         N bytes of further headers
 *     interim LINE      an interim answer 103 with this header line before the answer
 *     wait MS           a pause before the answer
 *     until NAME        a pause before the answer, until the file DIR/NAME exists
 *     drip MS           a pause before every byte of the answer's body
 *     short N           the connection is closed N bytes before the announced end of the body
 *     close             no answer: the connection is closed
 *     reset             no answer: the connection is reset
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HEAD_MAX = 64 * 1024, BLOCK = 64 * 1024, LINES_MAX = 16 };

static const char *directory;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int under_way;

struct script {
    int status;
    char headers[4096];
    char interim[1024];
    char body[4096];
    long long bytes; /* the length of a generated body; 0: the body is `body` */
    long padding, wait_ms, drip_ms, missing;
    char until[64];
    char token[128]; /* of `verify`; "": none */
    bool endless, close, reset;
};

struct request {
    char head[HEAD_MAX];
    size_t head_length; /* including the empty line */
    char *body;
    size_t body_length;
};

static void die(const char *what) {
    perror(what);
    exit(1);
}

static void sleep_ms(long ms) {
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

/* Waits until the file with this name exists in the directory; not at all for an empty name. */
static void wait_for(const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    while (*name && access(path, F_OK) != 0)
        sleep_ms(5);
}

static bool send_all(int fd, const char *bytes, size_t n) {
    while (n > 0) {
        ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        bytes += sent;
        n -= (size_t)sent;
    }
    return true;
}

/* --- the script --- */

static void read_directive(struct script *script, const char *word, const char *rest) {
    size_t used = strlen(script->headers);
    if (strcmp(word, "status") == 0)
        script->status = (int)strtol(rest, NULL, 10);
    else if (strcmp(word, "header") == 0)
        snprintf(script->headers + used, sizeof script->headers - used, "%s\r\n", rest);
    else if (strcmp(word, "interim") == 0)
        snprintf(script->interim, sizeof script->interim, "%s", rest);
    else if (strcmp(word, "body") == 0)
        snprintf(script->body, sizeof script->body, "%s", rest);
    else if (strcmp(word, "bytes") == 0)
        script->bytes = strtoll(rest, NULL, 10);
    else if (strcmp(word, "padding") == 0)
        script->padding = strtol(rest, NULL, 10);
    else if (strcmp(word, "wait") == 0)
        script->wait_ms = strtol(rest, NULL, 10);
    else if (strcmp(word, "until") == 0)
        snprintf(script->until, sizeof script->until, "%s", rest);
    else if (strcmp(word, "drip") == 0)
        script->drip_ms = strtol(rest, NULL, 10);
    else if (strcmp(word, "short") == 0)
        script->missing = strtol(rest, NULL, 10);
    else if (strcmp(word, "verify") == 0)
        snprintf(script->token, sizeof script->token, "%s", rest);
    else if (strcmp(word, "endless") == 0)
        script->endless = true;
    else if (strcmp(word, "close") == 0)
        script->close = true;
    else if (strcmp(word, "reset") == 0)
        script->reset = true;
    else
        fprintf(stderr, "receiver: unknown directive %s\n", word);
}

/* Copies the value of a parameter of the request's query, as it is written there. Returns false
 * when there is none. */
static bool find_parameter(const char *head, const char *name, char value[128]) {
    size_t length = strlen(name), end = strcspn(head, "\r\n");
    for (size_t i = strcspn(head, "?&\r\n"); i < end; i += 1 + strcspn(head + i + 1, "&\r\n"))
        if (strncmp(head + i + 1, name, length) == 0 && head[i + 1 + length] == '=') {
            const char *from = head + i + 1 + length + 1;
            snprintf(value, 128, "%.*s", (int)strcspn(from, "& \r\n"), from);
            return true;
        }
    return false;
}

/* Answers a GET as a receiver that is made for the platform answers its verification. */
static void verify(struct script *script, const char *head) {
    char token[128], challenge[128];
    if (find_parameter(head, "hub.verify_token", token) && strcmp(token, script->token) == 0 &&
        find_parameter(head, "hub.challenge", challenge))
        snprintf(script->body, sizeof script->body, "%s", challenge);
    else
        script->status = 403;
}

/* Reads the script for the path of `POST /NAME... HTTP/1.1`. */
static struct script read_script(const char *head) {
    struct script script = {.status = 200};
    char path[1024], line[4096], name[128] = "";
    sscanf(head, "%*s /%127[A-Za-z0-9_-]", name);
    snprintf(path, sizeof path, "%s/%s.answer", directory, name);
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *rest = strchr(line, ' ');
        if (rest)
            *rest++ = '\0';
        if (*line)
            read_directive(&script, line, rest ? rest : "");
    }
    if (file)
        fclose(file);
    if (*script.token && strncmp(head, "GET ", 4) == 0)
        verify(&script, head);
    return script;
}

/* --- the request --- */

static const char *find_header(const char *head, const char *name) {
    size_t length = strlen(name);
    for (const char *line = strstr(head, "\r\n"); line; line = strstr(line + 2, "\r\n"))
        if (strncasecmp(line + 2, name, length) == 0 && line[2 + length] == ':')
            return line + 2 + length + 1;
    return NULL;
}

/* Reads up to the empty line, byte by byte, so that it reads nothing of the body. */
static bool read_head(int fd, struct request *request) {
    request->head_length = 0;
    while (request->head_length + 1 < sizeof request->head) {
        char *at = request->head + request->head_length;
        if (recv(fd, at, 1, 0) != 1)
            return false;
        at[1] = '\0';
        request->head_length++;
        if (request->head_length >= 4 && strcmp(at - 3, "\r\n\r\n") == 0)
            return true;
    }
    return false;
}

static bool read_body(int fd, struct request *request) {
    const char *length = find_header(request->head, "Content-Length");
    request->body_length = length ? (size_t)strtoull(length, NULL, 10) : 0;
    request->body = malloc(request->body_length + 1);
    for (size_t n = 0; request->body && n < request->body_length;) {
        ssize_t got = recv(fd, request->body + n, request->body_length - n, 0);
        if (got <= 0)
            return false;
        n += (size_t)got;
    }
    return request->body != NULL;
}

static void write_file(const char *name, const char *bytes, size_t n) {
    FILE *file = fopen(name, "w");
    if (!file || fwrite(bytes, 1, n, file) != n || fclose(file) != 0)
        die(name);
}

/* Returns the number after the last record. Starts again at 1 when a test has removed the
 * records. */
static int next_number(void) {
    static int last;
    char name[1024];
    snprintf(name, sizeof name, "%s/%d.head", directory, last);
    if (access(name, F_OK) != 0)
        last = 0;
    do
        snprintf(name, sizeof name, "%s/%d.head", directory, ++last);
    while (access(name, F_OK) == 0);
    return last;
}

/* Appends the request to the records of the whole run, if it is an event: a POST with the signature
 * that forwarded POSTs of the platform do not have. */
static void keep_for_contract(const struct request *request, size_t head_length) {
    const char *kept = getenv("RECORD"), *test = getenv("BATS_TEST_FILENAME");
    char name[1024];
    if (!kept || !*kept || strncmp(request->head, "POST ", 5) != 0 ||
        !strstr(request->head, "\nwebhook-signature:"))
        return;
    test = test ? test : "";
    snprintf(name, sizeof name, "%s/events.%ld", kept, (long)getpid());
    FILE *file = fopen(name, "a");
    if (!file)
        die(name);
    fprintf(file, "event %zu %zu %zu\n%s", strlen(test), head_length, request->body_length, test);
    fwrite(request->head, 1, head_length, file);
    fwrite(request->body, 1, request->body_length, file);
    fputc('\n', file);
    if (fclose(file) != 0)
        die(name);
}

static void record(struct request *request) {
    char name[1024], temporary[1024], meta[128], *end = request->head;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    for (char *c = request->head; *c; c++) /* converts CR LF to LF */
        if (*c != '\r')
            *end++ = *c;
    pthread_mutex_lock(&lock);
    int number = next_number();
    snprintf(meta, sizeof meta, "%lld %d\n", (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000,
             under_way);
    snprintf(name, sizeof name, "%s/%d.meta", directory, number);
    write_file(name, meta, strlen(meta));
    snprintf(name, sizeof name, "%s/%d.body", directory, number);
    write_file(name, request->body, request->body_length);
    snprintf(name, sizeof name, "%s/%d.head", directory, number);
    snprintf(temporary, sizeof temporary, "%s/%d.part", directory, number);
    write_file(temporary, request->head, (size_t)(end - request->head));
    keep_for_contract(request, (size_t)(end - request->head));
    rename(temporary, name);
    pthread_mutex_unlock(&lock);
}

/* --- the answer --- */

static bool send_head(int fd, const struct script *script, long long length) {
    static char head[16 * 1024];
    static pthread_mutex_t head_lock = PTHREAD_MUTEX_INITIALIZER;
    if (*script->interim) {
        char interim[1100];
        int n =
            snprintf(interim, sizeof interim, "HTTP/1.1 103 Early\r\n%s\r\n\r\n", script->interim);
        if (!send_all(fd, interim, (size_t)n))
            return false;
    }
    pthread_mutex_lock(&head_lock);
    int n =
        snprintf(head, sizeof head, "HTTP/1.1 %d Scripted\r\n%s", script->status, script->headers);
    if (length >= 0)
        n += snprintf(head + n, sizeof head - (size_t)n, "Content-Length: %lld\r\n", length);
    bool sent = send_all(fd, head, (size_t)n);
    pthread_mutex_unlock(&head_lock);
    char line[1026];
    for (long left = script->padding; sent && left > 0; left -= (long)sizeof line) {
        memset(line, 'p', sizeof line);
        memcpy(line, "X-Padding: ", 11);
        memcpy(line + sizeof line - 2, "\r\n", 2);
        sent = send_all(fd, line, sizeof line);
    }
    return sent && send_all(fd, "\r\n", 2);
}

/* Returns false when the connection cannot be used for another request. */
static bool send_body(int fd, const struct script *script, long long length) {
    static const char block[BLOCK] = "xxxxxxxxxxxxxxxx";
    long long n = length - script->missing;
    if (script->drip_ms) {
        for (long long i = 0; i < n; i++) {
            sleep_ms(script->drip_ms);
            if (!send_all(fd, script->bytes ? "x" : &script->body[i], 1))
                return false;
        }
        return !script->missing;
    }
    if (!script->bytes && !script->endless)
        return send_all(fd, script->body, (size_t)n) && !script->missing;
    while (script->endless || n > 0) {
        size_t part = script->endless || n > BLOCK ? BLOCK : (size_t)n;
        if (!send_all(fd, block, part))
            return false;
        n -= (long long)part;
    }
    return !script->missing;
}

static bool answer(int fd, const struct script *script) {
    struct linger now = {.l_onoff = 1};
    long long length = script->bytes ? script->bytes : (long long)strlen(script->body);
    sleep_ms(script->wait_ms);
    wait_for(script->until);
    if (script->reset)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    if (script->reset || script->close)
        return false;
    return send_head(fd, script, script->endless ? -1 : length) && send_body(fd, script, length) &&
           !script->endless;
}

static void count(int change) {
    pthread_mutex_lock(&lock);
    under_way += change;
    pthread_mutex_unlock(&lock);
}

static void *serve(void *context) {
    int fd = (int)(long)context;
    struct request *request = calloc(1, sizeof *request);
    bool goes_on = request != NULL;
    while (goes_on && read_head(fd, request)) {
        goes_on = read_body(fd, request);
        if (goes_on) {
            struct script script = read_script(request->head);
            count(1);
            record(request);
            goes_on = answer(fd, &script);
            count(-1);
        }
        free(request->body);
    }
    free(request);
    close(fd);
    return NULL;
}

static int listen_on(uint16_t port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    socklen_t length = sizeof address;
    char path[1024], temporary[1024], text[16];
    int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) != 0 ||
        bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 256) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &length) != 0)
        die("receiver: listen");
    snprintf(text, sizeof text, "%d\n", ntohs(address.sin_port));
    snprintf(path, sizeof path, "%s/port", directory);
    snprintf(temporary, sizeof temporary, "%s/port.part", directory);
    write_file(temporary, text, strlen(text));
    rename(temporary, path);
    return fd;
}

int main(int argc, char **argv) {
    if (argc < 2 || argc > 3) {
        fputs("usage: receiver DIR [PORT]\n", stderr);
        return 2;
    }
    directory = argv[1];
    int listener = listen_on((uint16_t)(argc == 3 ? strtol(argv[2], NULL, 10) : 0));
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        pthread_t thread;
        if (fd < 0)
            continue;
        if (pthread_create(&thread, NULL, serve, (void *)(long)fd) != 0)
            die("receiver: thread");
        pthread_detach(thread);
    }
}
