/* The types of events that a webhook can select (spec 6). From this table come what the API and the
 * CLI accept, the schema EventType of the reference, and the list of the dashboard; the build
 * prints which page and which translation lacks a type. */
#ifndef SWITCHBOARD_STORE_EVENT_TYPE_H
#define SWITCHBOARD_STORE_EVENT_TYPE_H

/* ON: a webhook that selects no types gets it. The meaning is the first sentence of the type's
 * section in doc/api/events.md. */
#define EVENT_TYPES(ROW)                                                                           \
    ROW(ON, "message.received", "A new incoming message.")                                         \
    ROW(ON, "lead.created", "A new lead.")                                                         \
    ROW(OFF, "message.status", "A status of a sent message.")                                      \
    ROW(OFF, "contact.erased", "A contact was erased.")                                            \
    ROW(OFF, "template.status", "A template changed at the platform.")                             \
    ROW(OFF, "outgoing.finished", "A queued send has an outcome.")                                 \
    ROW(OFF, "campaign.changed", "A campaign changed its state.")

/* The names of one state as words, each after a space: EVENT_TYPES_ON is " message.received ...".
 */
#define EVENT_TYPES_ON  EVENT_TYPES(EVENT_TYPE_IF_ON)
#define EVENT_TYPES_OFF EVENT_TYPES(EVENT_TYPE_IF_OFF)

#define EVENT_TYPE_IF_ON(state, name, meaning)  EVENT_TYPE_ON_##state(name)
#define EVENT_TYPE_IF_OFF(state, name, meaning) EVENT_TYPE_OFF_##state(name)
#define EVENT_TYPE_ON_ON(name)                  " " name
#define EVENT_TYPE_ON_OFF(name)
#define EVENT_TYPE_OFF_ON(name)
#define EVENT_TYPE_OFF_OFF(name) " " name

#define EVENT_TYPE_NAME(state, name, meaning)    name,
#define EVENT_TYPE_MEANING(state, name, meaning) meaning,
#define EVENT_TYPE_ONE(state, name, meaning)     +1
enum { EVENT_TYPE_COUNT = 0 EVENT_TYPES(EVENT_TYPE_ONE) };

#endif
