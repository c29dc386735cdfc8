#include "store/schema_steps.h"

const struct schema_step schema_steps[] = {
    {0},
};
