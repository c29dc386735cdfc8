#include "state/node_answer.h"

#include "state/access_token.h"
#include "state/graph_target.h"
#include "state/node_state.h"
#include "text/json_merge.h"
#include "text/json_print.h"

static const char kind[] = "answer";

static bool is_node(const char *id) {
    return strcmp(id, APP_ID) == 0 || account_by_waba(id) || account_by_phone(id, NULL) ||
           token_check(id) != TOKEN_UNKNOWN;
}

const char *node_answer_put(const char *id, const cJSON *json) {
    if (!is_node(id))
        return "there is no such account, number, app or access token";
    if (!cJSON_IsObject(json))
        return "the body is no object";
    if (!json->child)
        node_state_delete(kind, id);
    else if (!node_state_write(kind, id, json))
        return "the object is too large";
    return NULL;
}

void node_answer_print(struct buffer *out, const char *id, struct slice whole) {
    cJSON *kept = node_state_read(kind, id, "{}");
    if (!kept->child) {
        buffer_add_slice(out, whole);
    } else {
        cJSON *node = cJSON_ParseWithLength(whole.p, whole.n);
        json_merge(node, kept);
        json_print(out, node);
        cJSON_Delete(node);
    }
    cJSON_Delete(kept);
}
