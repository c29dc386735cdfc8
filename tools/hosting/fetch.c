/* fetch: an HTTP client for install.sh, since a host may have neither curl nor wget.
 *
 *     fetch URL [HEADER...]      each HEADER as `Name: value`
 *
 * Prints one line `STATUS LOCATION SERVER`, where `-` stands for a header that the answer lacks;
 * then the first 4,000 bytes of the answer's body. Follows no redirect. The status is 000 when
 * there is no answer; then the reason follows. $CA_FILE names the trusted certificates, if not
 * those of /etc/ssl/certs. */
#include <curl/curl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST = 4000, SECONDS = 20 };

static char body[LONGEST];
static size_t length;

static size_t keep(char *bytes, size_t size, size_t n, void *context) {
    size_t given = size * n, room = sizeof body - length;
    (void)context;
    memcpy(body + length, bytes, given < room ? given : room);
    length += given < room ? given : room;
    return given;
}

static const char *header_of(CURL *curl, const char *name) {
    struct curl_header *header;
    CURLHcode code = curl_easy_header(curl, name, 0, CURLH_HEADER, -1, &header);
    return code == CURLHE_OK && *header->value ? header->value : "-";
}

static int print(CURL *curl, long status, const char *text, size_t n) {
    const char *location = NULL;
    curl_easy_getinfo(curl, CURLINFO_REDIRECT_URL, &location);
    printf("%03ld %s %s\n", status, location ? location : "-", header_of(curl, "Server"));
    fwrite(text, 1, n, stdout);
    return fflush(stdout) == 0 ? 0 : 1;
}

int main(int argc, char **argv) {
    struct curl_slist *headers = NULL;
    char reason[CURL_ERROR_SIZE] = "";
    long status = 0;
    if (argc < 2) {
        fputs("usage: fetch URL [HEADER...]\n", stderr);
        return 2;
    }
    for (int i = 2; i < argc; i++)
        headers = curl_slist_append(headers, argv[i]);
    CURL *curl = curl_easy_init();
    curl_easy_setopt(curl, CURLOPT_URL, argv[1]);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_PROXY, "");
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)SECONDS);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reason);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, keep);
    const char *ca_file = getenv("CA_FILE");
    curl_easy_setopt(curl, CURLOPT_CAINFO, ca_file && *ca_file ? ca_file : NULL);
    curl_easy_setopt(curl, CURLOPT_CAPATH, "/etc/ssl/certs");
    CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    const char *why = *reason ? reason : curl_easy_strerror(code);
    const bool is_answered = code == CURLE_OK;
    int result = print(curl, is_answered ? status : 0, is_answered ? body : why,
                       is_answered ? length : strlen(why));
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
    return result;
}
