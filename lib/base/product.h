/* Name and version of this program, and the date of the version, which the manual pages have. */
#ifndef SWITCHBOARD_PRODUCT_H
#define SWITCHBOARD_PRODUCT_H

#define SWITCHBOARD_NAME    "switchboard"
#define SWITCHBOARD_VERSION "0.1.0"
#define SWITCHBOARD_DATE    "2026-11-22"

#endif
