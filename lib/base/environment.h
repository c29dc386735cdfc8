/* The process's environment, which under CGI its caller has made, for a setgid program any user. */
#ifndef SWITCHBOARD_ENVIRONMENT_H
#define SWITCHBOARD_ENVIRONMENT_H

/* Removes every variable but a request's and those named SWITCHBOARD_*, so that no library finds
 * one: SSLKEYLOGFILE makes libcurl write session keys to a file, RES_OPTIONS and LOCALDOMAIN change
 * how names are resolved, http_proxy where requests go. First thing in the
 * main of a CGI; the courier and the CLI run with the rights of the user who starts them and keep
 * theirs. */
void environment_limit(void);

#endif
