/* The descriptors that the service manager keeps while a service restarts (FDSTORE in
 * sd_notify(3)). */
#ifndef SWITCHBOARD_DESCRIPTOR_STORE_H
#define SWITCHBOARD_DESCRIPTOR_STORE_H

/* The name of each of them in LISTEN_FDNAMES of the next process (sd_listen_fds_with_names(3)). */
#define DESCRIPTOR_STORE_NAME "connection"

/* Returns a socket to the service manager, or -1: there is none that takes descriptors. */
int descriptor_store_open(void);

/* Has the service manager close what it still keeps: duplicates of the descriptors that it has
 * passed. Without this a client would not notice that its connection was closed. */
void descriptor_store_clear(int store);

/* Has the service manager keep a duplicate of `fd`. If it does not take it, the connection ends
 * with this process. */
void descriptor_store_add(int store, int fd);

#endif
