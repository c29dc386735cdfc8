/* The text of schema.sql, compiled into the program. */
#ifndef SWITCHBOARD_STORE_SCHEMA_H
#define SWITCHBOARD_STORE_SCHEMA_H

extern const char schema_sql[];

#endif
