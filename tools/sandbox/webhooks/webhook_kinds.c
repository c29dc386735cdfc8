#include "webhooks/webhook_kinds.h"

#include <string.h>

/* The sender and the time of an inbound message: the start of each element. */
#define FROM                                                                                       \
    "'from':'${phone}','from_user_id':'${bsuid}','from_parent_user_id':'${parentBsuid}',"          \
    "'group_id':'${groupId}','id':'${id}','timestamp':'${timestamp}',"
#define REPLY "'context':{'from':'${line}','id':'${context}'},"
#define MEDIA                                                                                      \
    "'mime_type':'${mediaType}','sha256':'${mediaSha256}','id':'${mediaId}','url':'${mediaUrl}'"
#define STATUS_OF(STATUS)                                                                          \
    "{'id':'${id}','status':'" STATUS "','timestamp':'${timestamp}','recipient_id':'${phone}',"    \
    "'recipient_user_id':'${bsuid}','recipient_parent_user_id':'${parentBsuid}',"                  \
    "'biz_opaque_callback_data':'${callbackData}'"
#define PRICING                                                                                    \
    ",'pricing':{'billable':true,'pricing_model':'PMP','type':'regular','category':'utility'}"
#define MESSAGES(NAME, ELEMENT)                                                                    \
    { NAME, "messages", "messages", CONTACT_INBOUND, ELEMENT, NULL, NULL }
#define MEDIAS(NAME, TYPE, ELEMENT)                                                                \
    { NAME, "messages", "messages", CONTACT_INBOUND, ELEMENT, TYPE, NULL }
#define SYSTEM(NAME, ELEMENT)                                                                      \
    { NAME, "messages", "messages", CONTACT_NONE, ELEMENT, NULL, NULL }

const struct webhook_kind webhook_kinds[] = {
    MESSAGES("text", "{" FROM "'type':'text','text':{'body':'${text}'}}"),
    MESSAGES("text_reply", "{" REPLY FROM "'type':'text','text':{'body':'${text}'}}"),
    MESSAGES("text_forwarded",
             "{'context':{'forwarded':true}," FROM "'type':'text','text':{'body':'${text}'}}"),
    MESSAGES("group_text", "{" FROM "'type':'text','text':{'body':'${text}'}}"),
    MEDIAS("image", "image/jpeg",
           "{" FROM "'type':'image','image':{'caption':'${text}'," MEDIA "}}"),
    MEDIAS("video", "video/", "{" FROM "'type':'video','video':{'caption':'${text}'," MEDIA "}}"),
    MEDIAS("audio", "audio/", "{" FROM "'type':'audio','audio':{" MEDIA ",'voice':false}}"),
    MEDIAS("voice", "audio/", "{" FROM "'type':'audio','audio':{" MEDIA ",'voice':true}}"),
    MEDIAS("document", "application/",
           "{" FROM "'type':'document','document':{'caption':'${text}','filename':'menu.pdf'," MEDIA
           "}}"),
    MEDIAS("sticker", "image/webp",
           "{" FROM "'type':'sticker','sticker':{" MEDIA ",'animated':false}}"),
    MESSAGES("location", "{" FROM "'type':'location','location':{'latitude':52.5163,'longitude':"
                         "13.3777,'name':'Tea room','address':'Gate Square 1',"
                         "'url':'https://tea.example/map'}}"),
    MESSAGES("location_bare",
             "{" FROM "'type':'location','location':{'latitude':-33.8568,'longitude':151.2153}}"),
    MESSAGES("contacts", "{" FROM "'type':'contacts','contacts':[{'name':{'first_name':'Zo\\u00eb',"
                         "'last_name':'Fern','formatted_name':'Zo\\u00eb Fern'},'org':{'company':"
                         "'Fern & Co'},'phones':[{'phone':'+1 (650) 555-0177','wa_id':"
                         "'16505550177','type':'CELL'}],'emails':[{'email':'zoe@fern.example',"
                         "'type':'WORK'}],'origin':'other'}]}"),
    MESSAGES("contacts_request",
             "{" REPLY FROM "'type':'contacts','contacts':[{'name':{'formatted_name':'${name}'},"
             "'phones':[{'phone':'+16505550188','wa_id':'16505550188'}],'origin':"
             "'contact_request'}]}"),
    MESSAGES("button_reply",
             "{" REPLY FROM "'type':'interactive','interactive':{'type':'button_reply',"
             "'button_reply':{'id':'yes','title':'${title}'}}}"),
    MESSAGES("list_reply",
             "{" REPLY FROM "'type':'interactive','interactive':{'type':'list_reply','list_reply':{"
             "'id':'oolong','title':'${title}','description':'Half a pound'}}}"),
    MESSAGES("nfm_reply",
             "{" REPLY FROM "'type':'interactive','interactive':{'type':'nfm_reply','nfm_reply':{"
             "'name':'flow','body':'Sent','response_json':'${flowResponse}'}}}"),
    MESSAGES("button",
             "{" REPLY FROM "'type':'button','button':{'payload':'${title}','text':'${title}'}}"),
    MESSAGES("order", "{" FROM "'type':'order','order':{'catalog_id':'510000000000001','text':"
                      "'${text}','product_items':[{'product_retailer_id':'tea-7','quantity':2,"
                      "'item_price':12.5,'currency':'EUR'},{'product_retailer_id':'cup-1',"
                      "'quantity':1,'item_price':9,'currency':'EUR'}]}}"),
    MESSAGES("reaction", "{" FROM "'type':'reaction','reaction':{'message_id':'${context}',"
                         "'emoji':'\\ud83c\\udf75'}}"),
    MESSAGES("reaction_removed",
             "{" FROM "'type':'reaction','reaction':{'message_id':'${context}'}}"),
    MESSAGES("reaction_emptied",
             "{" FROM "'type':'reaction','reaction':{'message_id':'${context}','emoji':''}}"),
    MESSAGES("unsupported", "{" FROM "'errors':['@error'],'type':'unsupported','unsupported':{"
                            "'type':'poll'}}"),
    MESSAGES("unknown", "{" FROM "'type':'unknown','errors':['@error']}"),
    MESSAGES("edit", "{" FROM "'type':'edit','edit':{'original_message_id':'${context}','message':{"
                     "'type':'text','text':{'body':'${text}'}}}}"),
    MESSAGES("revoke", "{" FROM "'type':'revoke','revoke':{'original_message_id':'${context}'}}"),
    MESSAGES("referral",
             "{'referral':{'source_url':'https://fb.me/tea-ad','source_id':'620000000000001',"
             "'source_type':'ad','body':'Fresh leaves every week','headline':'Blue Kettle',"
             "'media_type':'image','image_url':'https://tea.example/ad.jpg','ctwa_clid':"
             "'${clickId}','welcome_message':{'text':'How can we help?'}}," FROM
             "'type':'text','text':{'body':'${text}'}}"),
    MESSAGES("referral_status_ad",
             "{'referral':{'source_url':'https://fb.me/tea-status','source_id':'620000000000002',"
             "'source_type':'ad','body':'Fresh leaves','headline':'Blue Kettle','media_type':"
             "'video','video_url':'https://tea.example/ad.mp4','thumbnail_url':"
             "'https://tea.example/ad-small.jpg'}," FROM
             "'type':'text','text':{'body':'${text}'}}"),
    MESSAGES("referred_product",
             "{'context':{'from':'${line}','id':'${context}','referred_product':{'catalog_id':"
             "'510000000000001','product_retailer_id':'tea-7'}}," FROM
             "'type':'text','text':{'body':'${text}'}}"),
    {"interactive_missing", "messages", "messages", CONTACT_INBOUND,
     "{" FROM "'type':'interactive'}", NULL, "{'errors':['@error']}"},

    SYSTEM("user_changed_number",
           "{'from':'${phone}','id':'${id}','timestamp':'${timestamp}','type':'system','system':{"
           "'body':'User ${name} changed from ${phone} to ${newPhone}','wa_id':'${newPhone}',"
           "'user_id':'${newBsuid}','previous_user_id':'${bsuid}','parent_user_id':"
           "'${newParentBsuid}','previous_parent_user_id':'${parentBsuid}','type':"
           "'user_changed_number'}}"),
    SYSTEM("user_changed_user_id",
           "{'id':'${id}','timestamp':'${timestamp}','type':'system','system':{'body':"
           "'User ${name} changed their user id','user_id':'${newBsuid}','previous_user_id':"
           "'${bsuid}','parent_user_id':'${newParentBsuid}','previous_parent_user_id':"
           "'${parentBsuid}','type':'user_changed_user_id'}}"),
    SYSTEM("user_changed_user_id_2",
           "{'id':'${id}','timestamp':'${timestamp}','type':'system','system':{'body':"
           "'User ${name} changed from ${bsuid} to ${newBsuid}','user_id':'${newBsuid}',"
           "'parent_user_id':'${newParentBsuid}','type':'user_changed_user_id'}}"),
    {"user_id_update", "user_id_update", "user_id_update", CONTACT_UPDATED,
     "{'wa_id':'${phone}','detail':'User id for ${name} has been updated.','user_id':{'previous':"
     "'${bsuid}','current':'${newBsuid}'},'parent_user_id':{'previous':'${parentBsuid}',"
     "'current':'${newParentBsuid}'},'timestamp':'${timestamp}'}",
     NULL, NULL},
    SYSTEM("number_changed_legacy",
           "{'from':'${phone}','id':'${id}','timestamp':'${timestamp}','type':'system','system':{"
           "'body':'User ${name} changed from ${phone} to ${newPhone}','wa_id':'${newPhone}',"
           "'type':'user_changed_number'}}"),
    SYSTEM("number_changed_old",
           "{'from':'${phone}','id':'${id}','timestamp':'${timestamp}','type':'system','system':{"
           "'body':'${name} changed from ${phone} to ${newPhone}','new_wa_id':'${newPhone}',"
           "'type':'user_changed_number'}}"),
    MESSAGES("identity_changed",
             "{" FROM "'type':'system','system':{'body':'${name} changed their security code',"
             "'identity':'Zm9ybQ==','type':'customer_identity_changed'},'identity':{"
             "'acknowledged':false,'created_timestamp':'${timestamp}','hash':'Zm9ybQ=='}}"),

    {"status_sent", "messages", "statuses", CONTACT_SENT,
     STATUS_OF("sent") ",'conversation':{'id':'c0ffee17','expiration_timestamp':'${timestamp}',"
                       "'origin':{'type':'utility'}}" PRICING "}",
     NULL, NULL},
    {"status_delivered", "messages", "statuses", CONTACT_INBOUND,
     STATUS_OF("delivered") ",'conversation':{'id':'c0ffee17','origin':{'type':'utility'}}" PRICING
                            "}",
     NULL, NULL},
    {"status_read", "messages", "statuses", CONTACT_INBOUND, STATUS_OF("read") "}", NULL, NULL},
    {"status_played", "messages", "statuses", CONTACT_INBOUND, STATUS_OF("played") "}", NULL, NULL},
    {"status_failed", "messages", "statuses", CONTACT_NONE,
     "{'id':'${id}','status':'failed','timestamp':'${timestamp}','recipient_id':'${phone}',"
     "'recipient_user_id':'${bsuidOnly}','recipient_parent_user_id':'${parentBsuidOnly}',"
     "'biz_opaque_callback_data':'${callbackData}','errors':['@error']}",
     NULL, NULL},
    {"status_group", "messages", "statuses", CONTACT_NONE,
     "{'id':'${id}','status':'delivered','timestamp':'${timestamp}','recipient_id':'${groupId}',"
     "'recipient_type':'group','recipient_participant_id':'${phone}',"
     "'recipient_participant_user_id':'${bsuid}','recipient_participant_parent_user_id':"
     "'${parentBsuid}'}",
     NULL, NULL},
    {"value_errors", "messages", "errors", CONTACT_NONE, "'@error'", NULL, NULL},

    {"template_status", "message_template_status_update", NULL, CONTACT_NONE,
     "{'event':'${event}','message_template_id':'#{templateId}','message_template_name':"
     "'${templateName}','message_template_language':'${language}','reason':'NONE',"
     "'message_template_category':'UTILITY'}",
     NULL, NULL},
    {"template_status_null_reason", "message_template_status_update", NULL, CONTACT_NONE,
     "{'event':'FLAGGED','message_template_id':'#{templateId}','message_template_name':"
     "'${templateName}','message_template_language':'${language}','reason':null,'disable_info':{"
     "'disable_date':'May 2, 2026'}}",
     NULL, NULL},
    {"template_quality", "message_template_quality_update", NULL, CONTACT_NONE,
     "{'previous_quality_score':'GREEN','new_quality_score':'YELLOW','message_template_id':"
     "'#{templateId}','message_template_name':'${templateName}','message_template_language':"
     "'${language}'}",
     NULL, NULL},
    {"flow_status", "flows", NULL, CONTACT_NONE,
     "{'event':'FLOW_STATUS_CHANGE','message':'The status of the flow changed','flow_id':"
     "'${flowId}','old_status':'DRAFT','new_status':'${event}'}",
     NULL, NULL},
    {"account_update", "account_update", NULL, CONTACT_NONE,
     "{'event':'VERIFIED_ACCOUNT','phone_number':'${line}'}", NULL, NULL},
    {"phone_quality", "phone_number_quality_update", NULL, CONTACT_NONE,
     "{'display_phone_number':'${line}','event':'UPGRADE','current_limit':'TIER_10K'}", NULL, NULL},
    {"unknown_field", "tea_ceremony", NULL, CONTACT_NONE,
     "{'messaging_product':'whatsapp','leaves':[{'kind':'sencha','steps':3}]}", NULL, NULL},

    {"user_preferences", "user_preferences", "user_preferences", CONTACT_INBOUND,
     "{'wa_id':'${phone}','user_id':'${bsuid}','parent_user_id':'${parentBsuid}','detail':"
     "'User requested to ${event} marketing messages','category':'marketing_messages','value':"
     "'${event}','timestamp':'#{timestamp}'}",
     NULL, NULL},
    {"lead_submitted", "automatic_events", "automatic_events", CONTACT_NONE,
     "{'id':'${id}','event_name':'LeadSubmitted','timestamp':'#{timestamp}','ctwa_clid':"
     "'${clickId}'}",
     NULL, NULL},
    {"purchase", "automatic_events", "automatic_events", CONTACT_NONE,
     "{'id':'${id}','event_name':'Purchase','timestamp':'#{timestamp}','ctwa_clid':'${clickId}',"
     "'custom_data':{'currency':'EUR','value':34.5}}",
     NULL, NULL},
    {"echo", "smb_message_echoes", "message_echoes", CONTACT_INBOUND,
     "{'from':'${line}','to':'${phone}','to_user_id':'${bsuid}','to_parent_user_id':"
     "'${parentBsuid}','id':'${id}','timestamp':'${timestamp}','type':'text','text':{'body':"
     "'${text}'}}",
     NULL, NULL},
    {"history", "history", "history", CONTACT_NONE,
     "{'metadata':{'phase':0,'chunk_order':1,'progress':60},'threads':[{'id':'${phone}','context':{"
     "'wa_id':'${phone}','user_id':'${bsuid}','parent_user_id':'${parentBsuid}','username':"
     "'${username}'},'messages':[{'from':'${phone}','from_user_id':'${bsuid}','id':'${id}',"
     "'timestamp':'${timestamp}','type':'text','text':{'body':'${text}'},'history_context':{"
     "'status':'READ'}},{'from':'${line}','to':'${phone}','to_user_id':'${bsuid}','id':'${id}2',"
     "'timestamp':'${timestamp}','type':'media_placeholder','history_context':{'status':"
     "'DELIVERED'}}]}]}",
     NULL, NULL},
    {"history_media", "history", "messages", CONTACT_INBOUND,
     "{" FROM "'type':'image','image':{'caption':'${text}'," MEDIA "}}", "image/jpeg", NULL},
    {"history_declined", "history", "history", CONTACT_NONE,
     "{'errors':[{'code':2593109,'title':'History sharing is turned off','message':"
     "'History sharing is turned off','error_data':{'details':'The business did not share its "
     "history.'}}]}",
     NULL, NULL},
    {"app_state_add", "smb_app_state_sync", "state_sync", CONTACT_NONE,
     "{'type':'contact','contact':{'full_name':'${name}','first_name':'${name}','phone_number':"
     "'${phone}','user_id':'${bsuid}','parent_user_id':'${parentBsuid}','username':"
     "'${username}'},'action':'add','metadata':{'timestamp':'${timestamp}'}}",
     NULL, NULL},
    {"app_state_remove", "smb_app_state_sync", "state_sync", CONTACT_NONE,
     "{'type':'contact','contact':{'phone_number':'${phone}','user_id':'${bsuid}'},'action':"
     "'remove','metadata':{'timestamp':'${timestamp}'}}",
     NULL, NULL},
    {NULL, NULL, NULL, CONTACT_NONE, NULL, NULL, NULL},
};

const struct webhook_kind *webhook_kind_find(const char *name) {
    for (const struct webhook_kind *kind = webhook_kinds; kind->name; kind++)
        if (name && strcmp(kind->name, name) == 0)
            return kind;
    return NULL;
}

void webhook_kinds_list(struct buffer *out) {
    buffer_add_text(out, "[");
    for (const struct webhook_kind *kind = webhook_kinds; kind->name; kind++)
        buffer_printf(out, "%s{\"kind\":\"%s\",\"field\":\"%s\"}", kind == webhook_kinds ? "" : ",",
                      kind->name, kind->field);
    buffer_add_text(out, "]");
}
