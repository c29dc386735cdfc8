#include "base/config_path.h"

#include "base/config.h"

#define VARIABLE "SWITCHBOARD_CONFIG"

const struct manual_item config_path_environment[] = {
    {VARIABLE, "the configuration file, without --config"},
    {0},
};

const struct manual_item config_path_files[] = {
    {"../conf/switchboard.conf",
     "the configuration file beside the program, without --config and\n" VARIABLE},
    {CONFIG_DEFAULT_PATH, "the configuration file without any of these"},
    {0},
};

const char *config_path_of(const char *option) {
    return option ? option : config_find();
}
