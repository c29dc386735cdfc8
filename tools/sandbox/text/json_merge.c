#include "text/json_merge.h"

#include <stdbool.h>

void json_merge(cJSON *target, const cJSON *patch) {
    const cJSON *item;
    cJSON_ArrayForEach(item, patch) {
        cJSON *known = cJSON_GetObjectItemCaseSensitive(target, item->string);
        if (cJSON_IsNull(item)) {
            cJSON_DeleteItemFromObjectCaseSensitive(target, item->string);
        } else if (cJSON_IsObject(item) && cJSON_IsObject(known)) {
            json_merge(known, item);
        } else if (known) {
            cJSON_ReplaceItemInObjectCaseSensitive(target, item->string,
                                                   cJSON_Duplicate(item, true));
        } else {
            cJSON_AddItemToObject(target, item->string, cJSON_Duplicate(item, true));
        }
    }
}

void json_set(cJSON *object, const char *name, cJSON *value) {
    cJSON_DeleteItemFromObjectCaseSensitive(object, name);
    if (value)
        cJSON_AddItemToObject(object, name, value);
}
