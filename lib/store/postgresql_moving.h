/* Internal to the store: moving from and to PostgreSQL. */
#ifndef SWITCHBOARD_STORE_POSTGRESQL_MOVING_H
#define SWITCHBOARD_STORE_POSTGRESQL_MOVING_H

#include "store/mover.h"

extern const struct mover postgresql_mover;

#endif
