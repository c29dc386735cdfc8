#include "server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>

#include "control/control.h"
#include "nodes/callback_handshake.h"
#include "nodes/graph_routes.h"
#include "state/sandbox.h"
#include "state/settings.h"
#include "wire/exchange.h"
#include "wire/faults.h"
#include "wire/recorder.h"
#include "wire/response.h"
#include "wire/timer.h"

enum { THREADS = 4, CONNECTION_MEMORY = 256 << 10 };

static struct MHD_Daemon *daemon_handle;

/* Returns the delay of this answer in milliseconds. */
static int64_t reply_wait(const struct exchange *exchange) {
    const struct fault *fault = exchange->fault;
    if (fault && fault->kind == FAULT_HANG)
        return fault->milliseconds == 0 ? TIMER_FOREVER : fault->milliseconds;
    state_read();
    int64_t latency = settings.latency_ms;
    state_done();
    return latency + (fault && fault->kind == FAULT_DELAY ? fault->milliseconds : 0);
}

static enum MHD_Result give_up(struct exchange *exchange) {
    exchange->stage = STAGE_DONE;
    return MHD_NO;
}

static enum MHD_Result answer_control(struct exchange *exchange) {
    control_answer(exchange);
    return exchange->stage == STAGE_WAITING ? MHD_YES : response_send(exchange);
}

/* Called when the request is read: records it, carries it out, and answers, with the fault
 * applied. */
static enum MHD_Result exchange_answer(struct exchange *exchange) {
    exchange->complete = true;
    if (exchange->control)
        return answer_control(exchange);
    graph_read(exchange);
    recorder_keep(exchange);
    exchange->fault = fault_take(exchange, false);
    graph_answer(exchange);
    if (exchange->fault && exchange->fault->kind == FAULT_RESET) {
        response_reset(exchange->connection);
        return give_up(exchange);
    }
    if (exchange->job && handshake_start(exchange))
        return MHD_YES;
    int64_t wait = reply_wait(exchange);
    if (wait == 0)
        return response_send(exchange);
    exchange->stage = STAGE_WAITING;
    return timer_hold(exchange->connection, wait) ? MHD_YES : give_up(exchange);
}

/* Called when a delayed answer is due, or the delay was ended early. A hang ends without an
 * answer. */
static enum MHD_Result exchange_resume(struct exchange *exchange) {
    if (timer_stopped() || (exchange->fault && exchange->fault->kind == FAULT_HANG))
        return give_up(exchange);
    return response_send(exchange);
}

/* Applies the faults that reset the connection while the body is received. */
static bool reset_early(struct exchange *exchange) {
    if (!exchange->fault || exchange->fault->kind != FAULT_RESET_BEFORE ||
        exchange->body_length < exchange->fault->bytes)
        return false;
    response_reset(exchange->connection);
    return true;
}

static enum MHD_Result exchange_start(struct exchange *exchange, struct MHD_Connection *connection,
                                      const char *method) {
    exchange_begin(exchange, connection, method);
    if (exchange->control)
        return MHD_YES;
    exchange->fault = fault_take(exchange, true);
    if (reset_early(exchange))
        return give_up(exchange);
    if (exchange->fault && exchange->fault->early) {
        recorder_keep(exchange);
        graph_answer(exchange);
        return response_send(exchange);
    }
    graph_prepare(exchange);
    return MHD_YES;
}

static enum MHD_Result exchange_read(struct exchange *exchange, struct slice piece) {
    exchange_count(exchange, piece);
    if (exchange->upload)
        graph_feed(exchange, piece);
    else
        exchange_store(exchange, piece);
    return reset_early(exchange) ? give_up(exchange) : MHD_YES;
}

static enum MHD_Result server_access(void *cls, struct MHD_Connection *connection, const char *url,
                                     const char *method, const char *version, const char *data,
                                     size_t *length, void **request) {
    struct exchange *exchange = *request;
    struct slice piece = {data, *length};
    (void)cls;
    (void)url;
    (void)version;
    if (exchange->stage == STAGE_NEW)
        return exchange_start(exchange, connection, method);
    if (exchange->stage == STAGE_WAITING)
        return exchange_resume(exchange);
    *length = 0;
    if (exchange->stage == STAGE_DONE)
        return MHD_YES;
    return piece.n == 0 ? exchange_answer(exchange) : exchange_read(exchange, piece);
}

static void *server_target(void *cls, const char *target, struct MHD_Connection *connection) {
    (void)cls;
    (void)connection;
    return exchange_new(target);
}

/* Also records a request that broke off, as not complete. */
static void server_completed(void *cls, struct MHD_Connection *connection, void **request,
                             enum MHD_RequestTerminationCode code) {
    struct exchange *exchange = *request;
    (void)cls;
    (void)connection;
    (void)code;
    if (!exchange)
        return;
    if (exchange->stage != STAGE_NEW && !exchange->control && !exchange->recorded)
        recorder_keep(exchange);
    graph_release(exchange);
    handshake_drop(exchange);
    fault_drop(exchange->fault);
    exchange_free(exchange);
    *request = NULL;
}

/* The address to listen on, and what depends on it. */
struct listener {
    struct sockaddr_storage address;
    unsigned flags;
    bool loopback;
    char host[INET6_ADDRSTRLEN + 2]; /* at which the sandbox reaches itself, as in a URL */
};

static bool read_ipv4(struct listener *listener, const char *text, uint16_t port) {
    struct sockaddr_in *at = (struct sockaddr_in *)&listener->address;
    if (inet_pton(AF_INET, text, &at->sin_addr) != 1)
        return false;
    at->sin_family = AF_INET;
    at->sin_port = htons(port);
    listener->loopback = ntohl(at->sin_addr.s_addr) >> 24 == 127;
    snprintf(listener->host, sizeof listener->host, "%s",
             at->sin_addr.s_addr == INADDR_ANY ? "127.0.0.1" : text);
    return true;
}

/* `::` is every address, of IPv4 too. */
static bool read_ipv6(struct listener *listener, const char *text, uint16_t port) {
    struct sockaddr_in6 *at = (struct sockaddr_in6 *)&listener->address;
    if (inet_pton(AF_INET6, text, &at->sin6_addr) != 1)
        return false;
    bool any = IN6_IS_ADDR_UNSPECIFIED(&at->sin6_addr);
    at->sin6_family = AF_INET6;
    at->sin6_port = htons(port);
    listener->flags = any ? MHD_USE_DUAL_STACK : MHD_USE_IPv6;
    listener->loopback = IN6_IS_ADDR_LOOPBACK(&at->sin6_addr);
    if (any)
        snprintf(listener->host, sizeof listener->host, "127.0.0.1");
    else
        snprintf(listener->host, sizeof listener->host, "[%s]", text);
    return true;
}

uint16_t server_start(const char *address, uint16_t port) {
    struct listener listener = {.flags = 0};
    if (!read_ipv4(&listener, address, port) && !read_ipv6(&listener, address, port)) {
        fprintf(stderr, "switchboard-sandbox: --listen needs an IPv4 or IPv6 address, not '%s'\n",
                address);
        return 0;
    }
    daemon_handle = MHD_start_daemon(
        listener.flags | MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME, port, NULL, NULL,
        server_access, NULL, MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&listener.address,
        MHD_OPTION_THREAD_POOL_SIZE, (unsigned)THREADS, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_MEMORY, MHD_OPTION_CONNECTION_LIMIT, 4096U,
        MHD_OPTION_LISTEN_BACKLOG_SIZE, 1024U, MHD_OPTION_URI_LOG_CALLBACK, server_target, NULL,
        MHD_OPTION_NOTIFY_COMPLETED, server_completed, NULL, MHD_OPTION_END);
    if (!daemon_handle) {
        perror("switchboard-sandbox: cannot listen");
        return 0;
    }
    port = MHD_get_daemon_info(daemon_handle, MHD_DAEMON_INFO_BIND_PORT)->port;
    sandbox_set_address(listener.host, port);
    if (!listener.loopback)
        fprintf(
            stderr,
            "switchboard-sandbox: other hosts reach %s. Each of them can read what was sent, with "
            "the access tokens, change everything, and let the sandbox send requests.\n",
            address);
    return port;
}

void server_stop(void) {
    MHD_stop_daemon(daemon_handle);
}
