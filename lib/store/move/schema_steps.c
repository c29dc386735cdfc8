#include "engine/schema.h"

const int schema_version = 1;

const struct schema_step schema_steps[] = {{0}};
