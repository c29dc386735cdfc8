#include "api/template_find.h"

#include "api/list.h"

/* The platform's filter `name` matches parts of names, so there may be several pages. */
enum { PAGE = 100, MOST_PAGES = 60 };

/* The templates of one name. */
struct found {
    struct json_writer languages; /* the array of them */
    size_t count;
    const char *id;     /* of the last one that has the language */
    struct json item;   /* that one */
    const char *fields; /* that each has; NULL: those by which it is found */
};

static void take(struct request *rq, struct json item, struct slice name, struct slice language,
                 struct found *found) {
    struct slice own = json_string(json_get(item, "language"), rq->arena);
    if (!slice_equal(json_string(json_get(item, "name"), rq->arena), name) ||
        (language.n && !slice_equal(own, language)))
        return;
    found->id = json_text(json_get(item, "id"), rq->arena);
    json_write_string(&found->languages, NULL, own);
    found->item = item;
    found->count++;
}

static int find_all(struct request *rq, const struct store_account *account, struct slice name,
                    struct slice language, struct found *found) {
    struct graph_page page;
    struct graph_page_request wanted = {.waba_id = account->waba_id,
                                        .edge = "message_templates",
                                        .fields =
                                            found->fields ? found->fields : "id,name,language",
                                        .name = arena_copy(rq->arena, name),
                                        .limit = PAGE};
    for (int pages = 0; pages < MOST_PAGES; pages++) {
        if (list_get_page_halving(rq, account, &wanted, &page))
            return -1;
        for (struct json item = json_first(page.items); json_is(item); item = json_next(item))
            take(rq, item, name, language, found);
        wanted.after = json_count(page.items) ? graph_page_next(rq->arena, &page) : NULL;
        if (!wanted.after)
            return 0;
    }
    return 0;
}

int template_check_name(struct request *rq, const struct store_account *account,
                        struct slice name) {
    struct found found = {0};
    json_write_start(&found.languages, rq->arena);
    json_write_array(&found.languages, NULL);
    if (find_all(rq, account, name, (struct slice){NULL, 0}, &found))
        return -1;
    return found.count ? 0 : fail(rq, NOT_FOUND, "Template not found");
}

const char *template_find_id(struct request *rq, const struct store_account *account,
                             struct slice name, struct slice language) {
    struct found found = {0};
    json_write_start(&found.languages, rq->arena);
    json_write_object(&found.languages, NULL);
    json_write_array(&found.languages, "languages");
    if (find_all(rq, account, name, language, &found))
        return NULL;
    json_write_end(&found.languages);
    json_write_end(&found.languages);
    if (found.count == 1 && found.id)
        return found.id;
    if (found.count > 1)
        fail_with_details(
            rq, CONFLICT, json_written(&found.languages),
            "The template has several languages: name one in the parameter language.");
    else
        fail(rq, NOT_FOUND, "Template not found");
    return NULL;
}

int template_find(struct request *rq, const struct store_account *account, struct slice name,
                  struct slice language, const char *fields, struct json *template) {
    struct found found = {.fields = fields};
    json_write_start(&found.languages, rq->arena);
    json_write_array(&found.languages, NULL);
    if (find_all(rq, account, name, language, &found))
        return -1;
    *template = found.item;
    return found.count ? 0 : fail(rq, NOT_FOUND, "Template not found");
}
