#include "engine/schema.h"

const struct schema_table schema_tables[SCHEMA_TABLES] = {
    {.name = "user", .part = PART_REQUIRED, .is_small = true, .has_counters = true},
    {.name = "api_token", .part = PART_REQUIRED, .is_small = true},
    {.name = "plan", .part = PART_REQUIRED, .is_small = true},
    {.name = "account", .part = PART_REQUIRED, .is_small = true},
    {.name = "line", .part = PART_REQUIRED, .is_small = true},
    {.name = "settings_version", .part = PART_OPTIONAL, .is_local = true},
    {.name = "webhook", .is_small = true},
};
