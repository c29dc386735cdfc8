/* switchboard restore */
#include "command.h"
#include "nouns.h"
#include "output.h"
#include "store/upkeep.h"

int restore_run(struct invocation *call) {
    const char *path = call->operands[0], *database = call->config.database_name;
    struct store_restoration done;
    enum store_result result = store_restore(call->config.database, path, &done, &call->store);
    if (result == STORE_CONFLICT || result == STORE_NOT_FOUND)
        return fail("%s", store_reason(call->store));
    if (result != STORE_OK)
        return fail_store(call, result);
    const char *kept =
        done.has_former ? arena_printf(&call->arena, "%s.before-restore", database) : NULL;
    struct json_writer json = object_start(call);
    json_write_text(&json, "database", database);
    json_write_text(&json, "file", path);
    json_write_text(&json, "formerDatabase", kept);
    json_write_integer(&json, "version", done.version);
    return object_print(call, &json, "%s now has the content of %s%s%s%s", database, path,
                        kept ? "; its former content is in " : "", kept ? kept : "",
                        done.is_older ? "\nIts schema version is older: run `switchboard init` now"
                                      : "");
}
