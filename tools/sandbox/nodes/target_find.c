#include "nodes/target_find.h"

#include "nodes/upload_session.h"
#include "state/flow_list.h"
#include "state/media_object.h"
#include "state/template_list.h"

static const char *const type_names[] = {[NODE_NONE] = "",
                                         [NODE_ME] = "User",
                                         [NODE_APP] = "Application",
                                         [NODE_DEBUG_TOKEN] = "debug_token",
                                         [NODE_WABA] = "WhatsAppBusinessAccount",
                                         [NODE_PHONE] = "WhatsAppBusinessPhoneNumber",
                                         [NODE_MEDIA] = "WhatsAppMedia",
                                         [NODE_FLOW] = "WhatsAppFlow",
                                         [NODE_TEMPLATE] = "WhatsAppMessageTemplate",
                                         [NODE_UPLOAD] = "UploadSession"};

const char *target_type(enum node node) {
    return type_names[node];
}

/* Returns the node of a name that each token has, or NODE_NONE. */
static enum node named_node(const char *id) {
    static const struct {
        const char *name;
        enum node node;
    } names[] = {
        {"me", NODE_ME}, {"app", NODE_APP}, {APP_ID, NODE_APP}, {"debug_token", NODE_DEBUG_TOKEN}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].name, id) == 0)
            return names[i].node;
    return NODE_NONE;
}

static const struct account *owner_find(const char *id, struct target *target) {
    static const struct {
        enum node node;
        const struct account *(*owner)(const char *id);
    } owners[] = {{NODE_WABA, account_by_waba},
                  {NODE_MEDIA, media_owner},
                  {NODE_FLOW, flow_owner},
                  {NODE_TEMPLATE, template_owner},
                  {NODE_UPLOAD, session_owner}};
    const struct account *account = account_by_phone(id, &target->phone);
    target->node = NODE_PHONE;
    for (size_t i = 0; !account && i < sizeof owners / sizeof *owners; i++) {
        account = owners[i].owner(id);
        target->node = owners[i].node;
    }
    return account;
}

struct target target_find(const char *id, const char *token) {
    struct target target = {.node = named_node(id), .id = id};
    if (target.node != NODE_NONE) {
        target.account = account_by_token(token);
        return target;
    }
    target.account = owner_find(id, &target);
    if (!target.account || strcmp(target.account->token, token) != 0)
        target.node = NODE_NONE;
    return target;
}
