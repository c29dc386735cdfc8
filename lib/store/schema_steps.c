#include "store/schema_steps.h"

/* Heartbeats have a host. The old ones are dropped: a courier writes another within seconds. */
static const char *const to_6[] = {
    "DROP TABLE heartbeat",
    "CREATE TABLE heartbeat (name TEXT NOT NULL, host TEXT NOT NULL DEFAULT '', "
    "pid INTEGER NOT NULL, beat_at INTEGER NOT NULL, keys TEXT NOT NULL DEFAULT '', "
    "clock_ahead_ms INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (name, host)) STRICT",
    NULL,
};

const struct schema_step schema_steps[] = {
    {6, to_6, NULL},
    {0},
};
