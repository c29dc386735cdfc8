/* hold: locks files as the turns of logins are locked (lib/api/login.c), until its standard input
 * ends.
 *
 *     hold FILE...
 *
 * Prints `held` when all are locked. Exit status: 1 when one cannot be locked.
 */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char byte;
    for (int i = 1; i < argc; i++) {
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
