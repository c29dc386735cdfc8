/* Samples: files that the platform's reviewers see in the header of a template. They are uploaded
 * by a session of the application that the account's token belongs to; the handle of the file
 * stands in the template's `example.header_handle`. */
#ifndef SWITCHBOARD_SAMPLE_H
#define SWITCHBOARD_SAMPLE_H

#include "api/auth.h"
#include "api/media/upload.h"

/* Uploads the file, whose size is known, with the account's token: asks for the application, starts
 * a session, and sends the bytes while they arrive. Returns 0 with the handle, which lives in the
 * request's memory; or -1 after failing the request: as upload_stated_type and as upstream_call,
 * 400 when no type of the file is known, 502 for an answer of another form. */
int sample_upload(struct upload *upload, const struct store_account *account, const char **handle);

#endif
