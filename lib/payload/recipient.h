/* Whom a message goes to: a phone, a business-scoped user id (BSUID), or both (spec 2.3). */
#ifndef SWITCHBOARD_RECIPIENT_H
#define SWITCHBOARD_RECIPIENT_H

#include "web/field.h"

/* Whether the text has the form of a BSUID: CC.alphanumeric or CC.ENT.alphanumeric, 1 to 128. */
bool recipient_is_bsuid(struct slice text);

/* The digits of a phone; everything else is stripped (spec 2.3). */
char *recipient_digits(struct arena *arena, struct slice phone);

/* The checks of the fields `to` and `recipient`. A BSUID in `to`, in any case of letters, is
 * refused: stripped to digits it would be another person's phone, and the platform would answer
 * 200. */
const char *recipient_check_to(struct slice text);
const char *recipient_check_bsuid(struct slice text);

extern const char *const recipient_names[]; /* to, recipient */

/* The rows that every table of a sending route has (spec 4.3). */
#define SEND_FIELDS                                                                                \
    {.name = "phoneNumberId", .type = FIELD_STRING, .required = true},                             \
        {.name = "to", .type = FIELD_STRING, .check = recipient_check_to},                         \
        {.name = "recipient", .type = FIELD_STRING, .check = recipient_check_bsuid},               \
        {.type = FIELD_ONE_OF, .names = recipient_names}, {                                        \
        .name = "contextMessageWamid", .type = FIELD_STRING                                        \
    }

#endif
