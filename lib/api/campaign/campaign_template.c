#include "api/campaign/campaign_template.h"

void campaign_write_template(struct json_writer *out, const struct store_campaign *campaign,
                             struct slice components) {
    json_write_text(out, "name", campaign->template_name);
    json_write_object(out, "language");
    json_write_text(out, "code", campaign->language);
    json_write_end(out);
    json_write_raw(out, "components", components);
}
