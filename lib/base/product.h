/* What this program is called. */
#ifndef SWITCHBOARD_VERSION_H
#define SWITCHBOARD_VERSION_H

#define SWITCHBOARD_NAME    "switchboard"
#define SWITCHBOARD_VERSION "0.1.0"

#endif
