/* probe: a CGI with which install.sh finds out how the web server starts programs. Prints its user
 * and which of the two headers with a token reached it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *arrived(const char *name) {
    const char *value = getenv(name);
    return value && strstr(value, "switchboard-probe") ? "yes" : "no";
}

int main(void) {
    printf("Content-Type: text/plain\n\nuser %ld\nauthorization %s\nx-api-token %s\n",
           (long)geteuid(), arrived("HTTP_AUTHORIZATION"), arrived("HTTP_X_API_TOKEN"));
    return fflush(stdout) == 0 ? 0 : 1;
}
