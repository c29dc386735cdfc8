/* A minimal CGI: the cost of a process per request, without the gateway's code. */
#include <stdio.h>
#include <unistd.h>

int main(void) {
    static const char answer[] = "Content-Type: application/json; charset=utf-8\r\n"
                                 "Content-Length: 35\r\n\r\n"
                                 "{\"success\":true,\"data\":{\"ok\":true}}";
    return write(STDOUT_FILENO, answer, sizeof answer - 1) < 0;
}
