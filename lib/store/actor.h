/* Who did something, as rows that keep it have it. */
#ifndef SWITCHBOARD_STORE_ACTOR_H
#define SWITCHBOARD_STORE_ACTOR_H

struct actor {
    const char *id;   /* NULL: the main token */
    const char *name; /* as it is shown, also after the actor was deleted */
};

#endif
