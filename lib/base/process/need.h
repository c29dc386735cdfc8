/* The permissions that an executable declares; confine.h drops all others. */
#ifndef SWITCHBOARD_NEED_H
#define SWITCHBOARD_NEED_H

#define ZONE_DIRECTORY "/usr/share/zoneinfo" /* of READS_ZONES */

/* A permission. Every executable may read its configuration, write its log, answer, and count in
 * the file of the counters, which it mapped before the confinement (counters.h). */
enum need {
    NEEDS_NOTHING = 0,
    READS_DATABASE = 1 << 0,   /* the database, opened before the confinement */
    WRITES_DATABASE = 1 << 1,  /* if the database is a file, all files in its directory */
    CALLS_PLATFORM = 1 << 2,   /* USES_NETWORK: requests to the platform */
    SPOOLS_FILES = 1 << 3,     /* files in spool_dir */
    NOTIFIES_COURIER = 1 << 4, /* a datagram to the courier's wake socket */
    DETECTS_TYPES = 1 << 5,    /* a child process that detects a file's type (confine_detector) */
    IS_RESIDENT = 1 << 6,      /* the courier: its configuration, keys and log are replaced while it
                                  runs; it reads signals from a descriptor (signalfd(2)), and its
                                  wake socket is in run_dir */
    USES_KEYS = 1 << 7,        /* the key file, to encrypt or decrypt tokens and codes */
    CALLS_WEBHOOKS = 1 << 8,   /* USES_NETWORK: requests to the URLs that users set */
    KEEPS_RECORDS = 1 << 13,   /* new files in pending_dir; the courier reads and removes them. The
                                  bits between are those of syscalls.h */

    READS_ARCHIVE = 1 << 14, /* the files of media_archive */
    KEEPS_ARCHIVE = 1 << 15, /* the sender: it writes and removes them, and makes directories */

    READS_ZONES = 1 << 16, /* the files of time zones */

    /* inotify(7) of a file that its user may read, for the write-ahead log (wake.h): it shows
     * when a file is written, not what it has */
    WATCHES_LOG = 1 << 17,

    /* A need of network sockets, and of threads that resolve host names. */
    USES_NETWORK = CALLS_PLATFORM | CALLS_WEBHOOKS,
};

#endif
