#include "api/view/inbox_json.h"

#include "api/auth.h"
#include "payload/person_json.h"
#include "store/typing.h"

void inbox_write_contact_members(struct json_writer *w, const struct contact *contact) {
    json_write_text(w, "id", contact->id);
    json_write_text(w, "accountId", contact->account_id);
    contact_write_person(w, contact);
    json_write_text(w, "parentUserId", contact->parent_bsuid);
    json_write_time(w, "createdAt", contact->created_at);
    json_write_time(w, "updatedAt", contact->updated_at);
}

void inbox_write_message_members(struct json_writer *w, const struct message *message) {
    json_write_text(w, "id", message->id);
    json_write_text(w, "wamid", message->wamid);
    json_write_text(w, "threadId", message->thread_id);
    json_write_text(w, "lineId", message->line_id);
    json_write_text(w, "direction", message->direction);
    json_write_text(w, "source", message->source);
    json_write_text(w, "type", message->type);
    json_write_text(w, "status", message->status);
    json_write_time(w, "statusAt", message->status_at);
    json_write_time(w, "timestamp", message->timestamp);
    json_write_text(w, "contextWamid", message->context_wamid);
    json_write_raw(w, "body", message->body);
    json_write_raw(w, "error", message->error);
    actor_json_write(w, "by", &message->by);
    json_write_integer(w, "change", message->change);
}

void inbox_write_message(struct json_writer *w, const char *name, const struct message *message) {
    json_write_object(w, name);
    inbox_write_message_members(w, message);
    json_write_end(w);
}

static void write_line(struct json_writer *w, const struct line *line) {
    json_write_object(w, "line");
    json_write_text(w, "id", line->id);
    json_write_text(w, "phoneNumberId", line->phone_number_id);
    json_write_text(w, "phoneNumber", line->phone_number);
    json_write_text(w, "name", line->name);
    json_write_time_or_null(w, "archivedAt", line->archived_at);
    json_write_end(w);
}

/* Writes what is to be done. */
static void write_work(struct json_writer *w, const struct inbox_thread *thread) {
    json_write_integer(w, "unread", thread->unread);
    json_write_time_or_null(w, "waitingSince", thread->waiting_since);
    json_write_time_or_null(w, "failedAt", thread->failed_at);
    json_write_time_or_null(w, "doneAt", thread->done_at);
}

void inbox_write_last_time(struct json_writer *w, int64_t last_message_at) {
    json_write_time_or_null(w, "lastMessageAt", last_message_at ? last_message_at : INT64_MAX);
}

/* Writes the times and the last message. */
static void write_activity(struct json_writer *w, const struct inbox_thread *thread) {
    inbox_write_last_time(w, thread->last_message_at);
    if (thread->last_inbound_at == INT64_MIN)
        json_write_null(w, "windowEndsAt");
    else
        json_write_time(w, "windowEndsAt", thread->last_inbound_at + SERVICE_WINDOW_MS);
    if (thread->last.id)
        inbox_write_message(w, "lastMessage", &thread->last);
    else
        json_write_null(w, "lastMessage");
}

/* A notice of a clock that was ahead would count too long. */
static bool is_typing(const struct request *rq, const struct inbox_thread *thread) {
    const char *self = rq->caller->session.member_id;
    return thread->typing.id && thread->typing_until > rq->now &&
           thread->typing_until <= rq->now + TYPING_MS &&
           !(self && strcmp(self, thread->typing.id) == 0);
}

static void write_typing(const struct request *rq, struct json_writer *w,
                         const struct inbox_thread *thread) {
    if (!is_typing(rq, thread)) {
        json_write_null(w, "typing");
        return;
    }
    json_write_object(w, "typing");
    actor_json_write(w, "by", &thread->typing);
    json_write_time(w, "until", thread->typing_until);
    json_write_end(w);
}

void inbox_write_thread(const struct request *rq, struct json_writer *w, const char *name,
                        const struct inbox_thread *thread) {
    json_write_object(w, name);
    json_write_text(w, "id", thread->id);
    json_write_array(w, "formerIds");
    for (size_t i = 0; i < thread->former_count; i++)
        json_write_text(w, NULL, thread->former_ids[i]);
    json_write_end(w);
    write_line(w, &thread->line);
    json_write_object(w, "contact");
    inbox_write_contact_members(w, &thread->contact);
    json_write_end(w);
    write_work(w, thread);
    actor_json_write(w, "assignee", &thread->assignee);
    write_typing(rq, w, thread);
    if (thread->notes_change == INT64_MAX)
        json_write_null(w, "notesChange");
    else
        json_write_integer(w, "notesChange", thread->notes_change);
    json_write_bool(w, "isBlocked", thread->is_blocked);
    write_activity(w, thread);
    json_write_integer(w, "change", thread->change);
    json_write_end(w);
}

void inbox_write_counts(struct json_writer *w, const struct inbox_counts *counts) {
    json_write_object(w, "inbox");
    json_write_integer(w, "unread", counts->unread);
    json_write_integer(w, "waiting", counts->waiting);
    json_write_integer(w, "failed", counts->failed);
    json_write_time_or_null(w, "waitingSince", counts->waiting_since);
    json_write_end(w);
}

void inbox_write_blocks(struct json_writer *w, const struct contact_block *blocks, size_t count) {
    json_write_array(w, "blocks");
    for (size_t i = 0; i < count; i++) {
        json_write_object(w, NULL);
        json_write_text(w, "lineId", blocks[i].line_id);
        json_write_time(w, "createdAt", blocks[i].created_at);
        json_write_end(w);
    }
    json_write_end(w);
}
