/* hold: locks files as the turns of logins are locked (lib/api/login.c), until its standard input
 * ends.
 *
 *     hold FILE...
 *     hold FILE@BYTE...   one byte alone, as the turns of searches (lib/api/message_search.c)
 *
 * Prints `held` when all are locked. Exit status: 1 when one cannot be locked.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char byte;
    for (int i = 1; i < argc; i++) {
        char *byte_at = strrchr(argv[i], '@');
        if (byte_at) {
            *byte_at = '\0';
            lock.l_start = strtoll(byte_at + 1, NULL, 10);
            lock.l_len = 1;
        }
        int fd = open(argv[i], O_RDWR | O_CREAT | O_CLOEXEC, 0660);
        if (fd < 0 || fcntl(fd, F_OFD_SETLK, &lock) != 0) {
            perror(argv[i]);
            return 1;
        }
    }
    puts("held");
    fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        ;
    return 0;
}
