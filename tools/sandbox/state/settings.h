/* The settings that can be changed while the sandbox runs (control call `settings`). */
#ifndef SANDBOX_SETTINGS_H
#define SANDBOX_SETTINGS_H

#include "text/json_fields.h"

struct settings {
    struct arena *arena;       /* of the texts; NULL: of the command line */
    int64_t latency_ms;        /* delay of every answer of the platform */
    int64_t media_url_seconds; /* lifetime of a media URL */
    bool media_size_text;      /* file_size as a string */
    int64_t template_page_cap;
    bool template_page_cap_silent; /* a larger limit is lowered; else it is error 1 */
    int64_t flow_page_cap;
    bool flow_page_cap_silent;
    bool template_quotas;               /* creations, edits and deleted names are limited */
    int64_t template_review_ms;         /* after it templates are reviewed; 0: never by itself */
    const char *template_review_reason; /* of the rejection; "": they are approved */
    bool paging_token;                  /* paging.next carries an access_token */
    const char *app_secret;
    const char *webhook_url;
    const char *verify_token;
    int64_t webhook_version; /* Graph version of the app's webhooks: 23 sends `conversation` */
    int64_t webhook_retries;
    int64_t webhook_retry_ms; /* doubled after each attempt */
    int64_t webhook_timeout_ms;
    bool automatic_statuses; /* sent, delivered, read after each accepted send */
    int64_t status_delay_ms; /* between them */
    bool service_window;     /* false: each user counts as one who wrote in the last 24 hours */
    /* the limits of send_limit.h; 0: none */
    int64_t messages_per_second; /* of a number */
    int64_t pair_messages;       /* of a number to a user at once */
    int64_t marketing_messages;  /* to a user in 24 hours */
    int64_t template_messages;   /* of a template before it is paused */
    bool held_templates;         /* they are held for a check of their quality */
};

/* The present settings: read under the read lock of the state. */
extern struct settings settings;

/* Makes the present settings the ones that settings_reset restores. */
void settings_remember(void);

/* Restores the settings of the command line. Called under the write lock. */
void settings_reset(void);

/* Frees the settings, at the end of the program. */
void settings_free(void);

/* Applies the members of `json`. Returns NULL, or in `arena` the text of an error; then nothing is
 * changed. Called under the write lock. */
const char *settings_change(struct arena *arena, const cJSON *json);

/* Appends the settings as JSON. Called under the read lock. */
void settings_print(struct buffer *out);

#endif
