/* hunter: sends signals to processes that run for milliseconds only.
 *
 *     hunter PID COUNT SIGNAL[,SIGNAL] PAUSE_MS PATIENCE_MS SEED
 *
 * Polls for children of PID and sends SIGNAL to COUNT of them, a random number of microseconds
 * after each was found; the second signal, if given, follows PAUSE_MS later. Ends after PATIENCE_MS
 * at the latest and prints the number of processes signalled.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "history.h"

enum { GAME_MAX = 256, LATE_US = 4000 };

/* Writes the children of a process, at most `room`, and returns their number. */
static int children_of(long pid, long *children, int room) {
    char path[64], text[4096];
    int count = 0;
    snprintf(path, sizeof path, "/proc/%ld/task/%ld/children", pid, pid);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    text[n > 0 ? n : 0] = '\0';
    char *end = text;
    for (char *at = text; count < room; at = end) {
        long child = strtol(at, &end, 10);
        if (end == at)
            break;
        children[count++] = child;
    }
    return count;
}

int main(int argc, char **argv) {
    if (argc != 7) {
        fputs("usage: hunter PID COUNT SIGNAL[,SIGNAL] PAUSE_MS PATIENCE_MS SEED\n", stderr);
        return 2;
    }
    long parent = strtol(argv[1], NULL, 10), wanted = strtol(argv[2], NULL, 10);
    char *second;
    int first_signal = (int)strtol(argv[3], &second, 10);
    int second_signal = *second ? (int)strtol(second + 1, NULL, 10) : 0;
    long pause = strtol(argv[4], NULL, 10);
    int64_t until = history_now() + strtol(argv[5], NULL, 10);
    struct dice dice = dice_of(strtoull(argv[6], NULL, 10), 400);
    long met = 0, last = 0;
    while (met < wanted && history_now() < until) {
        long game[GAME_MAX];
        int count = children_of(parent, game, GAME_MAX);
        if (!count || game[count - 1] == last) {
            usleep(50);
            continue;
        }
        long chosen = game[throw_dice(&dice, (unsigned)count)];
        usleep(throw_dice(&dice, LATE_US));
        if (chosen == last || kill((pid_t)chosen, first_signal) != 0)
            continue;
        last = chosen;
        met++;
        if (second_signal) {
            sleep_ms(pause);
            kill((pid_t)chosen, second_signal);
        }
    }
    printf("%ld\n", met);
    return 0;
}
