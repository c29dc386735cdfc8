/* The recipient of a message: a phone, a business-scoped user id (BSUID), or both (spec 2.3). */
#ifndef SWITCHBOARD_RECIPIENT_H
#define SWITCHBOARD_RECIPIENT_H

#include "web/field.h"

/* Whether the text has the form of a BSUID: CC.ALNUM or CC.ENT.ALNUM, where CC is two capital
 * letters and ALNUM 1 to 128 letters and digits. */
bool recipient_is_bsuid(struct slice text);

/* The same with letters in upper or lower case. */
bool recipient_is_bsuid_in_any_case(struct slice text);

/* Returns the digits of `phone` without all other characters (spec 2.3), in `arena`. */
char *recipient_digits(struct arena *arena, struct slice phone);

/* Returns what sends to a recipient are stored by: a BSUID as it is, of a phone the digits. */
const char *recipient_stored(struct arena *arena, struct slice text);

/* Whether all readers find the digits of recipient_digits in the text: it consists of digits,
 * spaces, brackets, and + - . /, in ASCII or as Unicode has them too. Of letters (1-800-FLOWERS),
 * digits of other scripts, and signs before an extension (`,` `;` `#` `x`) some make other digits.
 */
bool recipient_is_plain_phone(struct slice text);

/* The rules of the fields `to` and `recipient`. A BSUID in `to`, in upper or lower case, is
 * refused: its digits would be the phone of another person, and the platform would answer 200. */
extern const struct text_rule recipient_to_rule, recipient_bsuid_rule;

/* The rule of a query that takes either. */
extern const struct text_rule recipient_any_rule;

extern const char *const recipient_names[]; /* to, recipient */

/* clang-format off */
/* The fields of a recipient: `to`, `recipient`, or both. */
#define RECIPIENT_FIELDS                                                                           \
    {.name = "to", .type = FIELD_STRING, .rule = &recipient_to_rule},                              \
    {.name = "recipient", .type = FIELD_STRING, .rule = &recipient_bsuid_rule},                    \
    {.type = FIELD_ONE_OF, .names = recipient_names}
/* clang-format on */

#endif
