/* The only client that changes the webhook configurations of both users, so that it can check them.
 * Writes all codes to code.tsv and unexpected configurations to strange.tsv. */
#ifndef SOAK_CONFIGURATOR_H
#define SOAK_CONFIGURATOR_H

void configurator_start(void);

/* Waits until the thread has ended, soon after world.end. */
void configurator_join(void);

#endif
