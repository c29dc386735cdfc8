/* Internal to the store: moving from and to PostgreSQL. */
#ifndef SWITCHBOARD_ENGINE_POSTGRESQL_MOVING_H
#define SWITCHBOARD_ENGINE_POSTGRESQL_MOVING_H

#include "engine/mover.h"

extern const struct mover postgresql_mover;

#endif
