/* Which configuration file a program that is started by a command line reads. */
#ifndef SWITCHBOARD_CONFIG_PATH_H
#define SWITCHBOARD_CONFIG_PATH_H

#include "base/process/manual.h"

/* For the manual pages and --help of these programs. */
extern const struct manual_item config_path_environment[], config_path_files[];

/* Returns the path given by --config; NULL: that of config_find. */
const char *config_path_of(const char *option);

#endif
