#include "graph_target.h"

#include "flow_list.h"
#include "media_object.h"
#include "template_list.h"

static const char *const type_names[] = {"",
                                         "User",
                                         "WhatsAppBusinessAccount",
                                         "WhatsAppBusinessPhoneNumber",
                                         "WhatsAppMedia",
                                         "WhatsAppFlow",
                                         "WhatsAppMessageTemplate"};

const char *target_type(enum node node) {
    return type_names[node];
}

struct target target_find(const char *id, const char *token) {
    struct target target = {.node = NODE_NONE, .id = id};
    if (strcmp(id, "me") == 0) {
        target.node = NODE_ME;
        return target;
    }
    if ((target.account = account_by_waba(id)))
        target.node = NODE_WABA;
    else if ((target.account = account_by_phone(id, &target.phone)))
        target.node = NODE_PHONE;
    else if ((target.account = media_owner(id)))
        target.node = NODE_MEDIA;
    else if ((target.account = flow_owner(id)))
        target.node = NODE_FLOW;
    else if ((target.account = template_owner(id)))
        target.node = NODE_TEMPLATE;
    if (!target.account || strcmp(target.account->token, token) != 0)
        target.node = NODE_NONE;
    return target;
}
