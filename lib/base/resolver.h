/* Resolution of host names in a confined process. */
#ifndef SWITCHBOARD_RESOLVER_H
#define SWITCHBOARD_RESOLVER_H

/* Loads the modules that nsswitch.conf(5) names for hosts. The C library would load them at the
 * first look-up, but a confined process cannot map executable memory. When all modules are part of
 * the C library, it only reads that file. Call it before confine. */
void resolver_prepare(void);

#endif
