/* switchboard plan */
#include "base/clock.h"
#include "command.h"
#include "nouns.h"
#include "output.h"
#include "store/admin.h"

/* The plan is stored as given. Warns if the gateway will refuse the user's requests (spec 5.5). */
static void warn_of_plan(const struct store_new_plan *plan) {
    if (plan->is_addon)
        return;
    if (strcmp(plan->name, "Premium") != 0 && strcmp(plan->name, "Enterprise") != 0)
        warn("only a primary plan named exactly Premium or Enterprise opens the API; requests of "
             "%s will be answered with 403 DEVELOPER_PLAN_REQUIRED",
             plan->email);
    if (plan->ends_at <= plan->now)
        warn("this plan has ended; requests of %s will be answered with 403 PLAN_EXPIRED",
             plan->email);
}

int plan_set(struct invocation *call) {
    struct store_new_plan plan = {
        .email = call->operands[0],
        .name = call->operands[1],
        .is_addon = call->options[OPTION_ADDON] != NULL,
        .ends_at = INT64_MAX,
        .now = call->now,
    };
    if (call->options[OPTION_ENDS])
        clock_parse(call->options[OPTION_ENDS], &plan.ends_at);
    enum store_result result = store_set_plan(call->store, &plan);
    if (result != STORE_OK)
        return fail_row(call, result, ROW_USER, plan.email);
    warn_of_plan(&plan);
    const char *ends = time_text(&call->arena, plan.ends_at);
    struct json_writer json = object_start(call);
    json_write_text(&json, "email", plan.email);
    json_write_text(&json, "name", plan.name);
    json_write_bool(&json, "isAddon", plan.is_addon);
    json_write_time_or_null(&json, "endsAt", plan.ends_at);
    return object_print(call, &json, "%s of %s: %s, %s%s", plan.is_addon ? "add-on" : "plan",
                        plan.email, plan.name, ends ? "until " : "no end", ends ? ends : "");
}
