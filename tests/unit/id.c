/* lib/base/id.h */
#include "base/id.h"

#include <stdlib.h>

#include "check.h"

int main(void) {
    static char ids[1000][ID_SIZE];
    char first[ID_SIZE], late[ID_SIZE], early[ID_SIZE];
    id_make(first, "evt_", INT64_C(1790000000000));
    check(strlen(first) == 30 && strncmp(first, "evt_01m3250v00", 14) == 0, "%s", first);
    check(strspn(first + 4, "0123456789abcdefghjkmnpqrstvwxyz") == 26, "%s", first);
    for (size_t i = 0; i < 1000; i++) {
        id_make(ids[i], "evt_", INT64_C(1790000000000));
        check(strcmp(i ? ids[i - 1] : first, ids[i]) < 0, "%s after %s", ids[i], first);
    }
    id_make(late, "evt_", INT64_C(1790000000001));
    check(strcmp(ids[999], late) < 0, "a later millisecond: %s", late);
    check(strncmp(ids[999] + 14, late + 14, 10) != 0, "new random bits: %s", late);
    id_make(early, "evt_", INT64_C(1789999999999));
    check(strcmp(early, first) < 0, "an earlier one: %s", early);
    return check_failures();
}
