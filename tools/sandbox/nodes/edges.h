/* The nodes of the platform and their edges: what control and the server do not reach. Each
 * function answers one method of a node or an edge, in the file whose name stands above it. All
 * calls are made under the lock of the state, those that change it under the write lock. */
#ifndef SANDBOX_EDGES_H
#define SANDBOX_EDGES_H

#include "state/graph_target.h"
#include "wire/node_fields.h"

/* What accounts have blocked, and their QR codes; their owners are numbers. */
extern struct collection blocked_users, qr_codes;

/* What a method does with a node (name "") or with one of its edges. */
struct edge {
    const char *method;
    enum node node;
    const char *name; /* with a slash at its end: the edge and one more segment */
    void (*answer)(struct exchange *exchange, const struct target *target);
};

/* Every method of every node and edge, ended by a NULL method (graph_edges.c). */
extern const struct edge graph_edges[];

/* Answers a request whose version and token are valid (graph_dispatch.c). */
void graph_dispatch(struct exchange *exchange);

/* app_node.c: GET /app; GET /{app}/subscriptions, the webhook of the app, which needs the token of
 * the app; GET /debug_token, what the token in `input_token` may do. */
void app_show(struct exchange *exchange, const struct target *target);
void app_subscriptions(struct exchange *exchange, const struct target *target);
void app_subscriptions_refuse(struct exchange *exchange, const struct target *target);
void token_debug(struct exchange *exchange, const struct target *target);

/* waba_node.c: GET /{waba-id}, and of it subscribed_apps. */
void waba_show(struct exchange *exchange, const struct target *target);
void subscription_list(struct exchange *exchange, const struct target *target);

/* phone_node.c: GET /{phone-number-id} and GET /{waba-id}/phone_numbers. */
void phone_show(struct exchange *exchange, const struct target *target);
void phone_list(struct exchange *exchange, const struct target *target);

/* The fields of a number. */
extern const struct node_shape phone_shape;

/* Appends all numbers of an account to `out` as {data: [...]}, each with all its fields. */
void phone_print_all(struct buffer *out, const struct account *account);

/* message_send.c: POST /{phone-number-id}/messages and marketing_messages. */
void message_send(struct exchange *exchange, const struct target *target);
void marketing_send(struct exchange *exchange, const struct target *target);

/* media_upload.c: POST /{phone-number-id}/media, whose body is the upload of the exchange. */
void upload_answer(struct exchange *exchange, const struct target *target);

/* business_profile.c: GET and POST /{phone-number-id}/whatsapp_business_profile. */
void profile_show(struct exchange *exchange, const struct target *target);
void profile_change(struct exchange *exchange, const struct target *target);

/* Appends the profile as {data: [...]}. */
void profile_print(struct buffer *out, const char *phone_id);

/* registration.c: POST /{phone-number-id}/register, deregister, request_code and verify_code. */
void registration_register(struct exchange *exchange, const struct target *target);
void registration_deregister(struct exchange *exchange, const struct target *target);
void registration_request_code(struct exchange *exchange, const struct target *target);
void registration_verify_code(struct exchange *exchange, const struct target *target);

/* Sets the PIN of a number. */
void registration_set_pin(struct exchange *exchange, const struct target *target, const char *pin);

/* Whether the number may send; else answers with error 133010. */
bool registration_check(struct exchange *exchange, const char *phone_id);

/* Returns how many registrations of the number have ended. */
int registration_ended(const char *phone_id);

/* Appends the fields of a number that depend on its registration, each after a comma. */
void registration_print(struct buffer *out, const char *phone_id);

/* phone_settings.c: GET and POST /{phone-number-id}/settings and whatsapp_commerce_settings. */
void phone_settings_show(struct exchange *exchange, const struct target *target);
void phone_settings_change(struct exchange *exchange, const struct target *target);
void commerce_settings_show(struct exchange *exchange, const struct target *target);
void commerce_settings_change(struct exchange *exchange, const struct target *target);

/* conversational_automation.c: POST /{phone-number-id}/conversational_automation: the welcome
 * message, the prompts and the commands; what a request leaves out stays. */
void automation_change(struct exchange *exchange, const struct target *target);

/* Appends the member conversational_automation of a number after a comma, once it was set. */
void automation_print(struct buffer *out, const char *phone_id);

/* business_encryption.c: GET and POST /{phone-number-id}/whatsapp_business_encryption: the public
 * key by which flows encrypt. Its signature ends with the registration of the number. */
void encryption_show(struct exchange *exchange, const struct target *target);
void encryption_change(struct exchange *exchange, const struct target *target);

/* callback_override.c: the callback URLs that an account or a number has instead of that of the
 * app. POST and DELETE /{waba-id}/subscribed_apps; an account whose subscription was deleted gets
 * webhooks nevertheless. */
void subscription_add(struct exchange *exchange, const struct target *target);
void subscription_remove(struct exchange *exchange, const struct target *target);

/* Appends {data: [...]}, the apps that are subscribed to the account. */
void subscription_print(struct buffer *out, const char *waba_id);

/* Sets or deletes the callback of a number by the parameter webhook_configuration. */
void override_set(struct exchange *exchange, const struct target *target,
                  const cJSON *configuration);

/* Appends the callback URLs of a number as an object {application, whatsapp_business_account,
 * phone_number}. */
void override_print(struct buffer *out, const char *waba_id, const char *phone_id);

/* blocked_user.c: GET, POST and DELETE /{phone-number-id}/block_users. */
void blocked_user_list(struct exchange *exchange, const struct target *target);
void blocked_user_add(struct exchange *exchange, const struct target *target);
void blocked_user_remove(struct exchange *exchange, const struct target *target);

/* Whether the number with the id `line` has blocked the user, who is named by digits or a BSUID. */
bool blocked_user_find(struct arena *arena, const char *line, const char *user);

/* qr_code.c: GET and POST /{phone-number-id}/message_qrdls, and GET and DELETE of one code, which
 * is the segment after it. */
void qr_code_list(struct exchange *exchange, const struct target *target);
void qr_code_put(struct exchange *exchange, const struct target *target);
void qr_code_show(struct exchange *exchange, const struct target *target);
void qr_code_delete(struct exchange *exchange, const struct target *target);

/* template_write.c: POST and DELETE /{waba-id}/message_templates; a new one has the status PENDING,
 * and one that POST /{template-id} changed has it again. DELETE takes a name, and hsm_id for one
 * language. */
void template_create(struct exchange *exchange, const struct target *target);
void template_change(struct exchange *exchange, const struct target *target);
void template_unpause(struct exchange *exchange, const struct target *target);
void template_delete(struct exchange *exchange, const struct target *target);

/* The control call: merges the members of the request into the template with this id, such as
 * {status:"APPROVED"}. A change of status, quality_score or category sends a webhook: *waits is
 * true if the exchange is answered after it. Returns NULL, or the text of an error. */
const char *template_control(struct exchange *exchange, const char *id, bool *waits);

/* template_analytics.c: GET /{waba-id}/template_analytics: how often templates were sent, arrived,
 * were read, and had a quick reply tapped, on each day. */
void analytics_show(struct exchange *exchange, const struct target *target);

/* flow_write.c: POST /{waba-id}/flows (name, categories, and further flow_json, publish,
 * clone_flow_id, endpoint_uri), POST and DELETE /{flow-id}, its publish, deprecate and assets. */
void flow_create(struct exchange *exchange, const struct target *target);
void flow_change(struct exchange *exchange, const struct target *target);
void flow_publish(struct exchange *exchange, const struct target *target);
void flow_deprecate(struct exchange *exchange, const struct target *target);
void flow_delete(struct exchange *exchange, const struct target *target);
void flow_assets_show(struct exchange *exchange, const struct target *target);
void flow_assets_put(struct exchange *exchange, const struct target *target);

/* upload_session.c: resumable uploads of files for templates and profiles, whose bytes are counted,
 * not stored. POST /{app}/uploads (file_length, file_type, file_name) starts one; GET answers with
 * the position up to which it has the file; POST adds the body at the position in the header
 * file_offset, and at the end answers with the handle of the file. */
void session_create(struct exchange *exchange, const struct target *target);
void session_show(struct exchange *exchange, const struct target *target);
void session_feed(struct exchange *exchange, const struct target *target);

/* Returns the account of the session with this id (`upload:...`), or NULL. */
const struct account *session_owner(const char *id);

/* Delete what these keep of all numbers and accounts. */
void blocked_user_clear(void);
void qr_code_clear(void);
void session_clear(void);

#endif
