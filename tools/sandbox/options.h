/* The command line. */
#ifndef SANDBOX_OPTIONS_H
#define SANDBOX_OPTIONS_H

#include <stdint.h>

struct options {
    uint16_t port;
    const char *port_file;
};

/* Reads the command line into *options and the settings. Ends the program after --help with status
 * 0, and after a wrong option with status 2. */
void options_read(struct options *options, int argc, char **argv);

#endif
