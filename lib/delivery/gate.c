#include "delivery/gate.h"

#include <stdio.h>
#include <string.h>

/* Whether `webhook_id` is after `last` and before `next` in the circular order of all ids. */
static bool is_between(const char *last, const char *webhook_id, const char *next) {
    bool is_behind = strcmp(webhook_id, last) > 0, is_before = strcmp(webhook_id, next) < 0;
    return strcmp(last, next) < 0 ? is_behind && is_before : is_behind || is_before;
}

bool gate_admits(struct gate *gate, bool has_room, const char *webhook_id, size_t load,
                 uint64_t pass) {
    bool has_next = *gate->next && pass - gate->refused_in <= 1;
    bool is_turn = !has_next || strcmp(gate->next, webhook_id) == 0 ||
                   (!load && is_between(gate->last, webhook_id, gate->next));
    if (is_turn && has_room)
        return true;
    if (is_turn && !load) {
        snprintf(gate->next, sizeof gate->next, "%s", webhook_id);
        gate->refused_in = pass;
    }
    return false;
}

void gate_enter(struct gate *gate, const char *webhook_id, size_t load) {
    gate_forgo(gate, webhook_id);
    if (!load)
        snprintf(gate->last, sizeof gate->last, "%s", webhook_id);
}

void gate_forgo(struct gate *gate, const char *webhook_id) {
    if (strcmp(gate->next, webhook_id) == 0)
        *gate->next = '\0';
}
