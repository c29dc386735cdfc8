/* switchboard backup */
#include <sys/stat.h>

#include "command.h"
#include "nouns.h"
#include "output.h"
#include "store/upkeep.h"

int backup_run(struct invocation *call) {
    const char *path = call->operands[0];
    struct stat copy = {0};
    enum store_result result = store_backup(call->store, path);
    if (result == STORE_CONFLICT)
        return fail("%s; a backup never overwrites a file", store_reason(call->store));
    if (result != STORE_OK)
        return fail_store(call, result);
    stat(path, &copy);
    struct json_writer json = object_start(call);
    json_write_text(&json, "database", call->config.database_name);
    json_write_text(&json, "file", path);
    json_write_integer(&json, "bytes", copy.st_size);
    return object_print(call, &json, "%s: %lld bytes, checked", path, (long long)copy.st_size);
}
