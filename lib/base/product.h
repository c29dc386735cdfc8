/* Name and version of this program. */
#ifndef SWITCHBOARD_PRODUCT_H
#define SWITCHBOARD_PRODUCT_H

#define SWITCHBOARD_NAME    "switchboard"
#define SWITCHBOARD_VERSION "0.1.0"

#endif
