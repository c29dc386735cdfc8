/* Integrators at random: sends of every sort, with and without Idempotency-Key,
 * uploads, downloads and reads. */
#ifndef SOAK_CLIENTS_H
#define SOAK_CLIENTS_H

/* Run until the world's end, and some seconds longer for keyed sends whose outcome is not known. */
void clients_start(void);

/* Waits for the last of them. */
void clients_join(void);

#endif
