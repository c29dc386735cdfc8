/* The HTTP client of the calls to the platform and of the deliveries to receivers: one libcurl
 * handle with the options that keep a transfer safe. These are set here and nowhere else:
 *
 *   - http and https only; no redirects, no proxies, no netrc, no user name in the URL
 *   - TLS 1.2 or later, the certificate and its host name verified with ca_path and ca_file
 *   - no signals, 5 s to connect; a name server that hangs does not extend that time
 *
 * The caller sets the URL, the method, the body and the limit of the whole transfer.
 */
#ifndef SWITCHBOARD_HTTP_CLIENT_H
#define SWITCHBOARD_HTTP_CLIENT_H

#include <curl/curl.h>

#include "base/config.h"

/* A handle, and the transfer that it makes. */
struct http_client {
    CURL *curl;                 /* NULL: curl_easy_init failed */
    CURLcode failed;            /* the first error latched by http_latch; CURLE_OK: none */
    struct curl_slist *headers; /* of the request */
    char detail[CURL_ERROR_SIZE];
};

/* How a module uses its transfers. */
struct http_use {
    long idle_seconds; /* a connection that was idle for longer is not reused */
    curl_write_callback on_header, on_body;
    curl_prereq_callback on_request; /* before the request is sent */
};

/* Initializes libcurl, and loads the modules that name resolution and TLS are configured to use
 * (nsswitch.conf(5), openssl.cnf(5)). Call it before confine. Returns false on failure. */
bool http_prepare(void);

/* Starts to describe a transfer: resets the options of the handle `client->curl`, which keeps its
 * open connections, and sets the safe ones. The handle is the caller's. `use` and `context`, which
 * the callbacks get, must stay valid until http_finish. An error is latched. */
void http_start(struct http_client *client, const struct config *config, const struct http_use *use,
                void *context);

/* Sets an option of libcurl. If an option cannot be set, the error is latched and the transfer must
 * not be made, because the option may be one that security depends on. */
#define http_set(client, option, value)                                                            \
    http_latch(client, curl_easy_setopt((client)->curl, option, value))

/* Latches the first error before the transfer in `client->failed`. */
void http_latch(struct http_client *client, CURLcode code);

/* Adds a header to the request: "Name: value". */
void http_add_header(struct http_client *client, const char *line);

/* Sets the headers that were added, when the request is complete. Returns the latched error:
 * CURLE_OK when the transfer may be made. */
CURLcode http_ready(struct http_client *client);

/* Ends a transfer that was made, or not: frees the headers. The handle stays. */
void http_finish(struct http_client *client);

/* Whether `line`, as the header callback gets it, is the header `name`. Sets `*value` then, without
 * spaces at its ends. */
bool http_header_is(struct slice line, const char *name, struct slice *value);

/* Returns the part of the URL in lower case, in `arena`, a port also if it is that of the scheme;
 * "" when there is none. */
const char *http_url_part(struct arena *arena, CURLU *url, CURLUPart part);

/* The reason of a failed transfer as text, valid as long as `client`. */
const char *http_reason(const struct http_client *client, CURLcode code);

#endif
