/* A minimal FastCGI program of a pool: the cost of Apache, the connection and the protocol. */
#include <fcgiapp.h>
#include <signal.h>

#include "web/next_connection.h"

static bool never(void) {
    return false;
}

int main(void) {
    static const char answer[] = "Content-Type: application/json; charset=utf-8\r\n"
                                 "Content-Length: 35\r\n\r\n"
                                 "{\"success\":true,\"data\":{\"ok\":true}}";
    FCGX_Request request;
    signal(SIGPIPE, SIG_IGN);
    next_connection_open();
    FCGX_Init();
    FCGX_InitRequest(&request, -1, 0);
    while ((request.ipcFd = next_connection_await(request.ipcFd, never)) >= 0) {
        request.keepConnection = 1; /* else libfcgi closes it at once */
        if (FCGX_Accept_r(&request) >= 0) {
            while (FCGX_GetChar(request.in) >=
                   0) /* else the end of the input is the next request */
                ;
            FCGX_PutStr(answer, sizeof answer - 1, request.out);
        }
        FCGX_Finish_r(&request);
    }
    return 0;
}
