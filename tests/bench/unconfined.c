/* Replaces confine.c in programs without confinement, to measure its cost. */
#include "base/process/confine.h"

const char *confine_meaning(enum need need) {
    (void)need;
    return "everything";
}

void confine_memory(void) {
}

void confine(unsigned needs, bool listens, const char *config_path, const struct config *config) {
    (void)needs, (void)listens, (void)config_path, (void)config;
}
