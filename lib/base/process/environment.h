/* The environment of the process. The caller of a CGI sets it; for a setgid program that can be any
 * user. */
#ifndef SWITCHBOARD_ENVIRONMENT_H
#define SWITCHBOARD_ENVIRONMENT_H

/* Removes every variable except the CGI variables of the request and those named SWITCHBOARD_*.
 * Others change how libraries work: SSLKEYLOGFILE makes libcurl write session keys to a file,
 * RES_OPTIONS and LOCALDOMAIN change how host names are resolved, http_proxy redirects requests.
 * Call it first in the main of a CGI. The courier and the CLI have the rights of the user who
 * starts them and do not call it. */
void environment_limit(void);

#endif
