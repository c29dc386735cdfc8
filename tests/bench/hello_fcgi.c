/* A minimal FastCGI program: the cost of Apache, the socket and the protocol. */
#include <fcgiapp.h>

int main(void) {
    static const char answer[] = "Content-Type: application/json; charset=utf-8\r\n"
                                 "Content-Length: 35\r\n\r\n"
                                 "{\"success\":true,\"data\":{\"ok\":true}}";
    FCGX_Request request;
    FCGX_Init();
    FCGX_InitRequest(&request, 0, 0);
    while (FCGX_Accept_r(&request) >= 0) {
        FCGX_PutStr(answer, sizeof answer - 1, request.out);
        FCGX_Finish_r(&request);
    }
    return 0;
}
