/* A person as the platform names them. */
#ifndef SWITCHBOARD_STORE_STORE_IDENTITY_H
#define SWITCHBOARD_STORE_STORE_IDENTITY_H

/* NULL where the platform does not name it. */
struct store_identity {
    const char *phone; /* digits */
    const char *bsuid, *parent_bsuid;
    const char *username; /* without @ */
    const char *name;
};

#endif
