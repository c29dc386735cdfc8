/* The checks of doctor for what stands before the gateway: a firewall such as ModSecurity, a front
 * end such as nginx, rules of another site. Each request is one that a client or the platform
 * makes, without a valid token or signature, so the gateway's answer is known: 401 in its own form.
 */
#include <stdlib.h>
#include <string.h>

#include "doctor_site.h"

#define TOKEN "X-API-Token: of-doctor"
#define JSON  "Content-Type: application/json"
#define SIGNATURE                                                                                  \
    "X-Hub-Signature-256: "                                                                        \
    "sha256=0000000000000000000000000000000000000000000000000000000000000000"

enum {
    JSON_SIZE = 256 * 1024, /* a template or a long list of rows; firewalls stop at 128 KiB */
    IMAGE_SIZE = 14 * 1024 * 1024, /* a video within the platform's 16 MB */
};

/* What an incoming message looks like. Rules of firewalls take `profile.name` for the name of a
 * file, and what people write for an attack. */
static const char message[] =
    "{\"object\":\"whatsapp_business_account\",\"entry\":[{\"id\":\"0\",\"changes\":[{\"field\":"
    "\"messages\",\"value\":{\"messaging_product\":\"whatsapp\",\"metadata\":{"
    "\"display_phone_number\":\"15550000000\",\"phone_number_id\":\"0\"},\"contacts\":[{"
    "\"profile\":{"
    "\"name\":\"O'Hara\"},\"wa_id\":\"15550000001\"}],\"messages\":[{\"from\":\"15550000001\","
    "\"id\":"
    "\"wamid.doctor\",\"timestamp\":\"1700000000\",\"type\":\"text\",\"text\":{\"body\":"
    "\"<script>alert(1)</script> it's 1 or 2; select a size from the list\"}}]}}]}]}";

static const char text[] = "{\"phoneNumberId\":\"0\",\"to\":\"15550000001\",\"text\":"
                           "\"1 union select password from users; -- <script>\"}";

static const char image[] = "\x89PNG\r\n\x1a\n an image of doctor";

/* A request, and what does not work where it does not arrive. */
struct probe {
    struct site_question question;
    size_t padded;      /* the size that the body is filled up to; 0: as it is */
    const char *answer; /* a part of the gateway's answer */
    enum level level;
    const char *broken;
};

#define BODY(text) .body = (text), .length = sizeof(text) - 1

static const struct probe probes[] = {
    {.question = {.method = "POST",
                  .path = "/platform/webhook",
                  .headers = {JSON, SIGNATURE},
                  BODY(message)},
     .answer = "app secret", /* is wrong for the signature, or is not configured */
     .level = FAIL,
     .broken = "messages of customers do not arrive"},
    {.question =
         {.method = "POST", .path = "/v2/messages/send/text", .headers = {JSON, TOKEN}, BODY(text)},
     .answer = "Invalid API token",
     .level = FAIL,
     .broken = "texts with such words cannot be sent"},
    {.question = {.path = "/v2/openapi.json"},
     .answer = "\"openapi\"",
     .level = FAIL,
     .broken = "the reference is not served"},
    {.question = {.method = "POST",
                  .path = "/v26.0/0/messages",
                  .headers = {JSON, "Authorization: Bearer of-doctor"},
                  BODY(text)},
     .answer = "OAuthException",
     .level = FAIL,
     .broken = "programs that speak the platform's form cannot send"},
    {.question = {.method = "PATCH", .path = "/v2/lines/0", .headers = {JSON, TOKEN}, BODY("{}")},
     .answer = "Invalid API token",
     .level = FAIL,
     .broken = "lines and webhooks cannot be changed by the API"},
    {.question = {.method = "DELETE", .path = "/v2/webhooks/config", .headers = {TOKEN}},
     .answer = "Invalid API token",
     .level = FAIL,
     .broken = "webhooks, templates and media cannot be deleted by the API"},
    {.question = {.method = "POST",
                  .path = "/v2/media/upload",
                  .headers = {"Content-Type: image/png", TOKEN},
                  BODY(image)},
     .answer = "Invalid API token",
     .level = FAIL,
     .broken = "files cannot be uploaded as a body; as a form they may be"},
    {.question = {.method = "POST",
                  .path = "/v2/messages/send/text",
                  .headers = {JSON, TOKEN, "Expect:"},
                  BODY(text)},
     .padded = JSON_SIZE,
     .answer = "Invalid API token",
     .level = WARN,
     .broken = "payloads over 128 KB may be refused"},
    {.question = {.method = "POST",
                  .path = "/v2/media/upload",
                  .headers = {"Content-Type: image/png", TOKEN, "Expect:"},
                  BODY(image)},
     .padded = IMAGE_SIZE,
     .answer = "Invalid API token",
     .level = WARN,
     .broken = "large files cannot be uploaded; the platform takes 16 MB of video, 100 MB of "
               "documents"},
};

static const char firewall[] =
    "a firewall of the host refuses it: switch it off for this host (cPanel: Security, "
    "ModSecurity; "
    "Plesk: Web Application Firewall), or have the administrator load modsecurity.conf of the "
    "archive";

static const char *reason(const struct site *site, long status) {
    switch (status) {
    case 301:
    case 302:
    case 307:
    case 308:
        return arena_printf(site->arena, "it is redirected to %s: give the platform that URL",
                            site->location ? site->location : "nowhere");
    case 403:
    case 406:
    case 418:
    case 429: return firewall;
    case 405:
    case 501:
        return "the web server or a firewall before the gateway refuses the method: the host must "
               "allow GET, POST, PUT, PATCH and DELETE";
    case 413:
        return "the host limits the size of a body: client_max_body_size of nginx, "
               "SecRequestBodyLimit of ModSecurity, or LimitRequestBody";
    case 200:
    case 404:
        return "another program answers it: in .htaccess the block `# BEGIN switchboard` must "
               "stand before all other rules";
    default:
        return "no program of the gateway answered: the web server's error log names the reason";
    }
}

/* Returns the body of the probe, filled up with spaces. NULL: no memory. */
static char *fill(const struct probe *probe) {
    char *body = malloc(probe->padded);
    if (body) {
        memset(body, ' ', probe->padded);
        memcpy(body, probe->question.body, probe->question.length);
    }
    return body;
}

/* Returns whether the request reached the gateway, after adding a line if it did not. */
static bool arrives(struct site *site, const struct probe *probe) {
    struct site_question question = probe->question;
    char *filled = probe->padded ? fill(probe) : NULL;
    if (probe->padded && !filled) {
        report_add(site->report, FAIL, "front", "out of memory");
        return false;
    }
    if (filled)
        question.body = filled, question.length = probe->padded;
    const char *method = question.method ? question.method : "GET";
    const long status = site_ask(site, &question);
    free(filled);
    if (status && strstr(site->body, probe->answer))
        return true;
    if (status)
        report_add(site->report, probe->level, "front",
                   "%s %s%s is answered %ld: %s. Until then %s", method, question.path,
                   probe->padded ? " with a large body" : "", status, reason(site, status),
                   probe->broken);
    else
        report_add(site->report, probe->level, "front", "%s %s%s: %s. Until then %s", method,
                   question.path, probe->padded ? " with a large body" : "", site->body,
                   probe->broken);
    return false;
}

void site_check_front(struct site *site) {
    bool all = true;
    if (site->is_silent)
        report_add(site->report, WARN, "front",
                   "the web server stopped answering: run doctor again to see which requests "
                   "arrive");
    for (size_t i = 0; i < sizeof probes / sizeof *probes && !site->is_silent; i++)
        all = arrives(site, &probes[i]) && all;
    if (all && !site->is_silent)
        report_add(site->report, OK, "front",
                   "requests of each kind arrive: webhooks, texts, PATCH, DELETE, files, 14 MB");
}
