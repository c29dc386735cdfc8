/* Arenas and buffers: alignment, growth, caps, and use after a reset. */
#include <setjmp.h>
#include <stddef.h>

#include "base/buffer.h"
#include "compare.h"

static jmp_buf refused;

static void on_exhausted(void) {
    longjmp(refused, 1);
}

/* Whether an arena of `cap` bytes refuses an allocation of `size`. */
static bool refuses(size_t cap, size_t size) {
    static struct arena arena;
    volatile bool was_refused = false;
    arena_init(&arena, cap, on_exhausted);
    if (setjmp(refused))
        was_refused = true;
    else
        arena_alloc(&arena, size);
    arena_free(&arena);
    return was_refused;
}

static void check_caps(void) {
    CHECK(!refuses(100000, 100));
    CHECK(!refuses(100000, 90000)); /* larger than the first block */
    CHECK(refuses(100000, 100001));
    CHECK(refuses(100000, SIZE_MAX));
    CHECK(refuses(100000, SIZE_MAX - 15));
    CHECK(refuses(0, 1));
    CHECK(refuses(1, 1)); /* smaller than one aligned piece */
    CHECK(!refuses(16, 1));

    struct arena arena;
    volatile size_t taken = 0;
    arena_init(&arena, 1000000, on_exhausted);
    if (!setjmp(refused))
        for (;; taken += 1000)
            arena_alloc(&arena, 1000);
    CHECK(taken > 900000 && taken <= 1000000);
    CHECK(arena.total <= 1000000);
    arena_reset(&arena);
    if (setjmp(refused))
        check(false, "%s", "refused after a reset");
    else
        arena_alloc(&arena, 500000);
    arena_free(&arena);
    CHECK_INTEGER(arena.total, 0);
}

static void check_pieces(void) {
    struct arena arena;
    arena_init(&arena, 1024 * 1024, NULL);
    char *last = NULL;
    for (size_t size = 0; size < 600; size++) {
        char *p = arena_alloc(&arena, size);
        CHECK((uintptr_t)p % 16 == 0 && p != last);
        for (size_t i = 0; i < size; i++)
            CHECK(p[i] == 0);
        memset(p, 0xa5, size); /* the next piece must be zero and separate */
        last = p;
    }
    arena_reset(&arena);
    char *again = arena_alloc(&arena, 1000);
    for (size_t i = 0; i < 1000; i++)
        CHECK(again[i] == 0);
    CHECK_TEXT(arena_copy(&arena, SLICE("some text")), "some text");
    CHECK_TEXT(arena_copy(&arena, (struct slice){NULL, 0}), "");
    CHECK_TEXT(arena_printf(&arena, "%s-%05d", "x", 42), "x-00042");
    CHECK_TEXT(arena_printf(&arena, "%s", ""), "");
    arena_free(&arena);
}

static void check_growth(void) {
    struct arena arena;
    arena_init(&arena, 1024 * 1024, NULL);
    char *p = arena_alloc(&arena, 10);
    memcpy(p, "0123456789", 10);
    CHECK(arena_grow(&arena, p, 10, 1000) == p); /* the newest piece grows in place */
    char *other = arena_alloc(&arena, 1);
    char *moved = arena_grow(&arena, p, 1000, 2000);
    CHECK(moved != p && memcmp(moved, "0123456789", 10) == 0 && *other == 0);
    char *large = arena_grow(&arena, moved, 2000, 100000);
    CHECK(memcmp(large, "0123456789", 10) == 0);
    char *fresh = arena_grow(&arena, NULL, 0, 64);
    CHECK(fresh != NULL);
    arena_free(&arena);
}

static void check_buffers(void) {
    struct arena arena;
    arena_init(&arena, 64 * 1024 * 1024, NULL);
    struct buffer buffer = buffer_in(&arena);
    CHECK_SLICE(buffer_slice(&buffer), SLICE(""));
    buffer_add_text(&buffer, "");
    CHECK_TEXT(buffer.p, "");
    buffer_add_text(&buffer, "a");
    buffer_add_char(&buffer, '\0');
    buffer_add_slice(&buffer, SLICE("bc"));
    buffer_add_slice(&buffer, (struct slice){NULL, 0});
    buffer_printf(&buffer, "%d%s", 7, "");
    CHECK_SLICE(buffer_slice(&buffer), SLICE("a\0bc7"));
    CHECK(buffer.p[buffer.n] == '\0');

    struct buffer one = buffer_in(&arena), two = buffer_in(&arena);
    for (int i = 0; i < 100000; i++) { /* two buffers that grow in turn do not overlap */
        buffer_printf(&one, "%06d", i);
        buffer_add_char(&two, (char)('a' + i % 26));
    }
    CHECK_INTEGER(one.n, 600000);
    CHECK_INTEGER(two.n, 100000);
    CHECK(memcmp(one.p + 6 * 54321, "054321", 6) == 0);
    CHECK(two.p[54321] == 'a' + 54321 % 26);
    CHECK_INTEGER(strlen(two.p), 100000);

    char *room = buffer_reserve(&two, 5000);
    memset(room, 'z', 5000);
    two.n += 5000;
    buffer_add_char(&two, '!');
    CHECK(two.p[104999] == 'z' && two.p[105000] == '!' && two.p[105001] == '\0');
    arena_free(&arena);
}

/* Allocations within a reservation take no further memory from the system. */
static void check_reserve(void) {
    struct arena arena;
    arena_init(&arena, 1024 * 1024, NULL);
    for (size_t used = 0; used < 20000; used += 4000) {
        arena_alloc(&arena, used);
        arena_reserve(&arena, 10000);
        size_t taken = arena.total;
        for (int i = 0; i < 10; i++)
            arena_alloc(&arena, 992);
        CHECK(arena.total == taken);
    }
    arena_free(&arena);
}

/* An arena in memory of the caller stays within it, and arena_free does not free that memory. */
static void check_given(void) {
    _Alignas(max_align_t) static char memory[1024];
    struct arena arena;
    arena_init_in(&arena, memory, sizeof memory);
    struct buffer text = buffer_in(&arena);
    for (int i = 0; i < 400; i++)
        buffer_add_char(&text, 'x');
    CHECK(text.p > memory && text.p + text.n < memory + sizeof memory);
    CHECK(arena.total < sizeof memory);
    arena_reset(&arena);
    CHECK_TEXT(arena_copy(&arena, SLICE("again")), "again");
    arena_free(&arena);
    memset(memory, 0, sizeof memory);
}

static void check_slices(void) {
    struct slice rest = SLICE("a=b=c");
    CHECK_SLICE(slice_cut(&rest, '='), SLICE("a"));
    CHECK_SLICE(rest, SLICE("b=c"));
    CHECK_SLICE(slice_cut(&rest, '&'), SLICE("b=c"));
    CHECK_INTEGER(rest.n, 0);
    CHECK_SLICE(slice_cut(&rest, '&'), SLICE(""));
    CHECK_SLICE(slice_trim(SLICE(" \t a b\t ")), SLICE("a b"));
    CHECK_SLICE(slice_trim(SLICE(" \t ")), SLICE(""));
    CHECK_SLICE(slice_skip(SLICE("abc"), 9), SLICE(""));
    CHECK(slice_starts(SLICE("abc"), SLICE("ab")) && slice_starts(SLICE("abc"), SLICE("")));
    CHECK(!slice_starts(SLICE("ab"), SLICE("abc")));
    CHECK(slice_equal(SLICE(""), slice_of(NULL)) && !slice_of(NULL).p);
    CHECK(!slice_equal(SLICE("ab"), SLICE("abc")) && !slice_equal(SLICE("a\0b"), SLICE("a\0c")));
}

int main(void) {
    check_caps();
    check_pieces();
    check_growth();
    check_buffers();
    check_reserve();
    check_given();
    check_slices();
    return check_failures();
}
