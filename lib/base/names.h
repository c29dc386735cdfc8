/* Resolving names in a confined process. */
#ifndef SWITCHBOARD_NAMES_H
#define SWITCHBOARD_NAMES_H

/* Loads the modules that nsswitch.conf(5) names for hosts, which the C library would load at the
 * first look-up: a confined process may map no code. Costs one read of the file where it names only
 * those that are part of the C library. Before confine. */
void names_prepare(void);

#endif
