/* One client who changes the webhook configurations of both users, and so knows what it must find
 * there. The codes go to code.tsv, what is not as it should be to strange.tsv. */
#ifndef SOAK_CONFIGURATOR_H
#define SOAK_CONFIGURATOR_H

void configurator_start(void);

/* Waits for its end, soon after the world's. */
void configurator_join(void);

#endif
