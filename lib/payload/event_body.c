#include "payload/event_body.h"

#include "payload/campaign_json.h"
#include "payload/outgoing_json.h"
#include "payload/person_json.h"

static void write_raw(struct json_writer *w, const char *name, struct slice json) {
    if (json.n)
        json_write_raw(w, name, json);
}

static void write_template(struct json_writer *w, const struct template_change *template) {
    json_write_object(w, "template");
    json_write_text(w, "id", template->id);
    json_write_text(w, "name", template->name);
    json_write_text(w, "language", template->language);
    json_write_text(w, "category", template->category);
    json_write_end(w);
    json_write_text(w, "change", template->change);
    json_write_text(w, "status", template->status);
    json_write_text(w, "quality", template->quality);
    json_write_text(w, "previous", template->previous);
    json_write_text(w, "reason", template->reason);
    json_write_raw(w, "raw", template->raw);
}

static void write_campaign(struct json_writer *w, const struct campaign_change *change,
                           int64_t now) {
    json_write_object(w, "campaign");
    campaign_json_write(w, &change->campaign, now);
    campaign_json_write_counts(w, &change->campaign, change->counts, change->count);
    json_write_end(w);
}

/* The objects of which an event has one at most. */
static void write_subject(struct json_writer *w, const struct store_event *event) {
    if (event->template)
        write_template(w, event->template);
    if (event->outgoing)
        outgoing_json_write_queued(w, "outgoing", event->outgoing);
    if (event->campaign)
        write_campaign(w, event->campaign, event->now);
}

struct slice event_body(struct arena *arena, const struct store_event *event) {
    struct json_writer w;
    if (event->is_forward)
        return SLICE("{\"object\":\"whatsapp_business_account\",\"entry\":[]}");
    json_write_start_object(&w, arena);
    json_write_text(&w, "type", event->type);
    json_write_time(&w, "timestamp", event->now);
    json_write_object(&w, "data");
    json_write_integer(&w, "sequence", event->sequence);
    if (event->source)
        json_write_text(&w, "source", event->source);
    if (event->account_id) {
        json_write_text(&w, "accountId", event->account_id);
        json_write_text(&w, "wabaid", event->waba_id);
        json_write_text(&w, "phoneNumberId", event->phone_number_id);
        contact_json_write(&w, &event->contact);
        json_write_text(&w, "threadId", event->thread_id);
    }
    write_raw(&w, "message", event->message);
    write_raw(&w, "status", event->status);
    write_raw(&w, "referral", event->referral);
    write_raw(&w, "leadEvent", event->lead_event);
    write_subject(&w, event);
    if (event->source)
        json_write_text(&w, "messageId", event->wamid);
    return json_written(&w);
}
