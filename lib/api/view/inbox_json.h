/* Threads, messages and contacts as the answers of the inbox have them. */
#ifndef SWITCHBOARD_API_INBOX_JSON_H
#define SWITCHBOARD_API_INBOX_JSON_H

#include "base/json.h"
#include "store/inbox.h"
#include "web/request.h"

/* The platform accepts other messages than templates for so long after the contact's last one. */
enum { SERVICE_WINDOW_MS = 24 * 60 * 60 * 1000 };

/* Writes the time of the last message, `lastMessageAt`; null for 0: only campaigns have written. */
void inbox_write_last_time(struct json_writer *w, int64_t last_message_at);

/* Each writes one value; `name` as for json_write_object. A thread is written for the caller: that
 * a member types is for the others. */
void inbox_write_thread(const struct request *rq, struct json_writer *w, const char *name,
                        const struct inbox_thread *thread);
void inbox_write_message(struct json_writer *w, const char *name, const struct message *message);

/* Writes the members of an object that the caller starts and ends, so that it can add others. */
void inbox_write_message_members(struct json_writer *w, const struct message *message);
void inbox_write_contact_members(struct json_writer *w, const struct contact *contact);

/* Writes the member `inbox`: how much there is to do. */
void inbox_write_counts(struct json_writer *w, const struct inbox_counts *counts);

/* Writes the member `blocks`. */
void inbox_write_blocks(struct json_writer *w, const struct contact_block *blocks, size_t count);

#endif
