#include "sizing.h"

enum {
    SAMPLE_MS = 100,        /* the time between samples */
    WAITING_SAMPLE_MS = 10, /* the same after one in which a connection waited */
    SHORT_SAMPLES = 5,      /* in a row before the pool grows, so that it ignores a burst */
    SHRINK_MS = 1000,       /* the time between two processes that end because it is calm */
};

/* Half as many processes again, and one more. */
static void grow(struct sizing *sizing) {
    sizing->size += sizing->size / 2 + 1;
    if (sizing->size > sizing->most)
        sizing->size = sizing->most;
    sizing->short_samples = 0;
}

int64_t sizing_sample(struct sizing *sizing, bool is_waiting, bool is_short, int64_t now) {
    if (is_waiting)
        sizing->calm_since = now;
    sizing->short_samples = is_short ? sizing->short_samples + 1 : 0;
    if (sizing->short_samples >= SHORT_SAMPLES && sizing->size < sizing->most) {
        grow(sizing);
    } else if (sizing->size > sizing->least && now - sizing->calm_since > sizing->calm_ms) {
        sizing->size--;
        sizing->calm_since += SHRINK_MS;
    }
    return is_waiting ? WAITING_SAMPLE_MS : SAMPLE_MS;
}
