/* The lock of the simulated platform's state: accounts, templates, flows, media, settings. Answers
 * are built whole while it is held, so that none refers to the state afterwards. */
#ifndef SANDBOX_STATE_H
#define SANDBOX_STATE_H

#include "json.h"

void state_read(void);
void state_write(void);
void state_done(void);

/* The settings that can be changed while the sandbox runs (control call `settings`). */
struct settings {
    uint64_t latency_ms;        /* delay of every answer of the platform */
    uint64_t media_url_seconds; /* lifetime of a media URL */
    bool media_size_text;       /* file_size as a string */
    uint64_t template_page_cap;
    bool template_page_cap_silent; /* a larger limit is lowered; else it is error 1 */
    uint64_t flow_page_cap;
    bool flow_page_cap_silent;
    bool paging_token; /* paging.next carries an access_token */
    char *app_secret;
    char *webhook_url;
    char *verify_token;
    uint64_t
        webhook_version; /* Graph version of the app's webhooks: 23 still sends `conversation` */
    uint64_t webhook_retries;
    uint64_t webhook_retry_ms; /* doubled after each attempt */
    uint64_t webhook_timeout_ms;
    bool automatic_statuses;  /* sent, delivered, read after each accepted send */
    uint64_t status_delay_ms; /* between them */
};

extern struct settings settings;

/* settings_reset restores the settings of the command line; settings_change applies JSON and
 * returns NULL or an error text that the caller frees; settings_print appends the settings as JSON.
 * Call them under the write lock, settings_print under the read lock. */
void settings_reset(void);
char *settings_change(const cJSON *json);
void settings_print(struct bytes *out);

/* Makes the present settings the ones that settings_reset restores. */
void settings_remember(void);

#endif
