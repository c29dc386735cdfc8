#include "api/template_find.h"

#include "api/list.h"

/* The platform's filter `name` matches parts of names, so there may be several pages. */
enum { PAGE = 100, MOST_PAGES = 60 };

/* The templates of one name. */
struct found {
    struct json_writer languages; /* an object with the array of them */
    size_t count;
    struct json item; /* the last one that has the language */
};

static void take(struct request *rq, struct json item, struct slice name, struct slice language,
                 struct found *found) {
    struct slice own = json_string(json_get(item, "language"), rq->arena);
    if (!slice_equal(json_string(json_get(item, "name"), rq->arena), name) ||
        (language.n && !slice_equal(own, language)))
        return;
    json_write_string(&found->languages, NULL, own);
    found->item = item;
    found->count++;
}

/* Finds the templates, with these members. Fails the request when there is none. */
static int find_all(struct request *rq, const struct store_account *account, struct slice name,
                    struct slice language, const char *fields, struct found *found) {
    struct graph_page page;
    struct graph_page_request wanted = {.waba_id = account->waba_id,
                                        .edge = "message_templates",
                                        .fields = fields,
                                        .name = arena_copy(rq->arena, name),
                                        .limit = PAGE};
    *found = (struct found){0};
    json_write_start_object(&found->languages, rq->arena);
    json_write_array(&found->languages, "languages");
    for (int pages = 0; pages < MOST_PAGES; pages++) {
        if (list_get_page(rq, account, &wanted, true, &page))
            return -1;
        for (struct json item = json_first(page.items); json_is(item); item = json_next(item))
            take(rq, item, name, language, found);
        wanted.after = json_count(page.items) ? graph_page_next(rq->arena, &page) : NULL;
        if (!wanted.after)
            break;
    }
    return found->count ? 0 : fail(rq, NOT_FOUND, "Template not found");
}

const char *template_find_id(struct request *rq, const struct store_account *account,
                             struct slice name, struct slice language) {
    struct found found;
    if (find_all(rq, account, name, language, "id,name,language", &found))
        return NULL;
    const char *id = found.count == 1 ? json_text(json_get(found.item, "id"), rq->arena) : NULL;
    if (found.count > 1)
        fail_with_details(
            rq, CONFLICT, json_written(&found.languages),
            "The template has several languages: name one in the parameter language.");
    else if (!id)
        fail(rq, NOT_FOUND, "Template not found");
    return id;
}

int template_find(struct request *rq, const struct store_account *account, struct slice name,
                  struct slice language, const char *fields, struct json *template) {
    struct found found;
    const int failed = find_all(rq, account, name, language, fields, &found);
    *template = found.item;
    return failed;
}
