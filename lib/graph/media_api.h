/* Uploads and downloads of the platform's media. Files are streamed: no function here holds a whole
 * file in memory. */
#ifndef SWITCHBOARD_GRAPH_MEDIA_H
#define SWITCHBOARD_GRAPH_MEDIA_H

#include "graph/call.h"

/* A multipart form with texts and one file, as the platform takes media and Flow JSON (RFC 7578).
 */
struct upload_form {
    struct slice head, tail; /* the bytes before and after those of the file */
    const char *type;        /* the Content-Type of the form */
};

/* A part before the file. Its bytes are written as they are, so a value from a client must have
 * been checked, as the media type of an upload is. */
struct upload_text {
    const char *name, *value;
};

/* Returns the form; everything in it lives in `arena`. `texts` ends with a NULL name. The file's
 * part is called `file`; `file_name` may have any bytes, `file_type` is a
 * media type that was checked. */
struct upload_form upload_form_make(struct arena *arena, const struct upload_text *texts,
                                    const char *file_name, const char *file_type);

/* A file to upload to the platform. */
struct graph_upload {
    const char *phone_number_id; /* the id of the line that it is uploaded for */
    const char *token;           /* the platform access token; never logged */
    const char *type;            /* the MIME type of the file, without parameters */
    const char *name;            /* the name of the file, any text */
    struct graph_source source;  /* of its bytes, whose number is known */
};

/* Uploads the file and waits for the answer: at most 5 s to connect; then the call fails when no
 * byte is transferred for 30 s. TLS, redirects and proxies as in graph_call; the file is sent at
 * most once. Directories, control characters, quotes and backslashes are removed from the name. The
 * strings and the body of the answer live in `arena`. */
void graph_upload(const struct config *config, struct arena *arena,
                  const struct graph_upload *upload, struct graph_answer *answer);

/* The head of a download's answer. The strings live in the arena; NULL: there is no such header. */
struct graph_head {
    int status;
    const char *type, *range, *accepts_ranges; /* Content-Type, Content-Range, Accept-Ranges */
    int64_t length;                            /* bytes; -1: no Content-Length */
};

/* A file to download from the platform. */
struct graph_download {
    const char *url;
    const char *token;
    const char *range;       /* the value of a Range header; NULL: the whole file */
    struct graph_head *head; /* set before the first write, and for every complete answer */

    /* Receives bytes of the body of a 200 or 206. Returns 0, or -1 to abort the call. */
    int (*write)(void *context, struct slice bytes);
    void *context;
};

/* Downloads the file and waits, with the timeouts of graph_upload. The URL must have the scheme,
 * host and port of `graph_base_url`, or a host of `media_hosts` and https or the scheme of
 * `graph_base_url`; otherwise no request is sent and the answer is a failure. The body of a 200 or
 * 206 goes to `write`; `answer` then has an empty body. */
void graph_download(const struct config *config, struct arena *arena,
                    const struct graph_download *download, struct graph_answer *answer);

/* A download beside other calls, on one handle of libcurl's multi interface. */
struct graph_receiving {
    CURL *curl; /* reused for the next one; NULL: none yet */
    struct graph_download download;
    struct transfer transfer;
    struct graph_answer answer; /* valid after graph_receiving_end */
    CURLU *url;
    bool has_head;
};

/* Starts `receiving->download` on `multi`, whose CURLINFO_PRIVATE is `context`. What the download
 * points to must stay valid until graph_receiving_end. Returns false when it cannot be started: the
 * answer is then a failure. */
bool graph_receiving_start(struct graph_receiving *receiving, CURLM *multi,
                           const struct config *config, struct arena *arena, void *context);

/* Removes the download from `multi` and fills its answer from libcurl's result `code`. */
void graph_receiving_end(struct graph_receiving *receiving, CURLM *multi, CURLcode code);

#endif
