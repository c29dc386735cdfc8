/* The identities of a person in a webhook payload. */
#ifndef SWITCHBOARD_STORE_STORE_IDENTITY_H
#define SWITCHBOARD_STORE_STORE_IDENTITY_H

/* A member is NULL where the payload does not have it. */
struct store_identity {
    const char *phone; /* digits */
    const char *bsuid, *parent_bsuid;
    const char *username; /* without @ */
    const char *name;
};

#endif
