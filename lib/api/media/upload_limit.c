#include "api/media/upload_limit.h"

int upload_fail_too_large(struct request *rq) {
    return fail(rq, TOO_LARGE, "The file is larger than %d bytes (100 MB); send a smaller one.",
                UPLOAD_LIMIT);
}
