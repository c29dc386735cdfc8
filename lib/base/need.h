/* What an executable declares that it needs; confine.h takes everything else away. */
#ifndef SWITCHBOARD_NEED_H
#define SWITCHBOARD_NEED_H

/* What an executable may need. Reading its own configuration, writing its log and answering are
 * always possible. */
enum need {
    NEEDS_NOTHING = 0,
    READS_DATABASE = 1 << 0,  /* the database as it was opened before */
    WRITES_DATABASE = 1 << 1, /* all files beside the database */
    CALLS_PLATFORM = 1 << 2,  /* sockets to the network, threads that resolve names */
    SPOOLS_FILES = 1 << 3,    /* files in spool_dir */
    WAKES_COURIER = 1 << 4,   /* a unix datagram */
    DETECTS_TYPES = 1 << 5,   /* a child that does nothing but look at a file (confine_detector) */
    IS_RESIDENT = 1 << 6, /* the courier: configuration, keys and log are replaced while it runs, it
                             takes signals from a descriptor, and has a socket by the database */
    USES_KEYS = 1 << 7,   /* the key file: tokens and codes are sealed or opened */
};

#endif
