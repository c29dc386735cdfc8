#include "base/config_path.h"

#include <stdlib.h>

#include "base/config.h"

#define VARIABLE "SWITCHBOARD_CONFIG"

const struct manual_item config_path_environment[] = {
    {VARIABLE, "the configuration file, without --config"},
    {0},
};

const struct manual_item config_path_files[] = {
    {CONFIG_DEFAULT_PATH, "the configuration file, without --config and " VARIABLE},
    {0},
};

const char *config_path_of(const char *option) {
    const char *from_environment = getenv(VARIABLE);
    if (option)
        return option;
    return from_environment && *from_environment ? from_environment : CONFIG_DEFAULT_PATH;
}
