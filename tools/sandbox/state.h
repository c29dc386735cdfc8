/* The lock over everything the platform knows: accounts, templates, flows, media, settings.
 * Answers are built whole under it, so nothing points into the state afterwards. */
#ifndef SANDBOX_STATE_H
#define SANDBOX_STATE_H

#include "json.h"

void state_read(void);
void state_write(void);
void state_done(void);

/* What can be changed while the sandbox runs (control call `settings`). */
struct settings {
    uint64_t latency_ms;        /* every answer of the platform this late */
    uint64_t media_url_seconds; /* how long a media URL lives */
    bool media_size_text;       /* file_size as a string */
    uint64_t template_page_cap;
    bool template_page_cap_silent; /* give less instead of error 1 */
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

/* Back to what the command line said; changes by JSON (NULL or a sentence the caller frees); and
 * the settings as JSON. Under the write lock, or the read lock for the last. */
void settings_reset(void);
char *settings_change(const cJSON *json);
void settings_print(struct bytes *out);

/* Makes the present settings those that settings_reset goes back to. */
void settings_remember(void);

#endif
