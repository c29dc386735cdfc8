/* API clients: random sends of every kind, with and without Idempotency-Key, uploads, downloads and
 * reads. */
#ifndef SOAK_CLIENTS_H
#define SOAK_CLIENTS_H

/* Starts the client threads. They run until world.end, and some seconds longer for sends with a key
 * whose outcome is unknown. */
void clients_start(void);

/* Waits until all client threads have ended. */
void clients_join(void);

#endif
