/* schema.sql, compiled in as it stands. */
#ifndef SWITCHBOARD_STORE_SCHEMA_H
#define SWITCHBOARD_STORE_SCHEMA_H

extern const char schema_sql[];

#endif
