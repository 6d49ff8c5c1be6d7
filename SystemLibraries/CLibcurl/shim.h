#pragma once
// libcurl is opened when the first request goes out, not linked: it and the thirty libraries behind it cost each start of a command
// 6 ms, also one that stays off the network. Its variadic functions get one wrapper for each type of value.
#define CURL_DISABLE_TYPECHECK 1
#include <curl/curl.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

struct libcurl_functions {
  __typeof__(curl_global_init) *global_init;
  __typeof__(curl_easy_init) *easy_init;
  __typeof__(curl_easy_perform) *easy_perform;
  __typeof__(curl_easy_reset) *easy_reset;
  __typeof__(curl_easy_cleanup) *easy_cleanup;
  __typeof__(curl_easy_setopt) *easy_setopt;
  __typeof__(curl_easy_getinfo) *easy_getinfo;
  __typeof__(curl_easy_strerror) *easy_strerror;
  __typeof__(curl_slist_append) *slist_append;
  __typeof__(curl_slist_free_all) *slist_free_all;
  __typeof__(curl_multi_init) *multi_init;
  __typeof__(curl_multi_setopt) *multi_setopt;
  __typeof__(curl_multi_add_handle) *multi_add_handle;
  __typeof__(curl_multi_remove_handle) *multi_remove_handle;
  __typeof__(curl_multi_perform) *multi_perform;
  __typeof__(curl_multi_poll) *multi_poll;
  __typeof__(curl_multi_wakeup) *multi_wakeup;
  __typeof__(curl_multi_info_read) *multi_info_read;
  __typeof__(curl_multi_cleanup) *multi_cleanup;
};

typedef size_t (*libcurl_data_callback)(char *, size_t, size_t, void *);

/// Opens the library and finds every function; returns NULL, or what is missing in words that live as long as the thread asks for no
/// further library.
static inline const char *libcurl_open(struct libcurl_functions *lib, const char *name) {
  void *image = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!image) return dlerror();
#define LIBCURL_FIND(function) \
  if (!(lib->function = (__typeof__(lib->function))dlsym(image, "curl_" #function))) \
    return "it has no function curl_" #function
  LIBCURL_FIND(global_init);
  LIBCURL_FIND(easy_init);
  LIBCURL_FIND(easy_perform);
  LIBCURL_FIND(easy_reset);
  LIBCURL_FIND(easy_cleanup);
  LIBCURL_FIND(easy_setopt);
  LIBCURL_FIND(easy_getinfo);
  LIBCURL_FIND(easy_strerror);
  LIBCURL_FIND(slist_append);
  LIBCURL_FIND(slist_free_all);
  LIBCURL_FIND(multi_init);
  LIBCURL_FIND(multi_setopt);
  LIBCURL_FIND(multi_add_handle);
  LIBCURL_FIND(multi_remove_handle);
  LIBCURL_FIND(multi_perform);
  LIBCURL_FIND(multi_poll);
  LIBCURL_FIND(multi_wakeup);
  LIBCURL_FIND(multi_info_read);
  LIBCURL_FIND(multi_cleanup);
#undef LIBCURL_FIND
  return NULL;
}

static inline CURLcode libcurl_global_init(const struct libcurl_functions *lib) {
  return lib->global_init(CURL_GLOBAL_DEFAULT);
}

static inline CURL *libcurl_easy_init(const struct libcurl_functions *lib) { return lib->easy_init(); }
static inline CURLcode libcurl_easy_perform(const struct libcurl_functions *lib, CURL *easy) { return lib->easy_perform(easy); }
static inline void libcurl_easy_reset(const struct libcurl_functions *lib, CURL *easy) { lib->easy_reset(easy); }
static inline void libcurl_easy_cleanup(const struct libcurl_functions *lib, CURL *easy) { lib->easy_cleanup(easy); }

static inline CURLcode libcurl_set_long(const struct libcurl_functions *lib, CURL *easy, CURLoption option, long value) {
  return lib->easy_setopt(easy, option, value);
}
static inline CURLcode libcurl_set_size(const struct libcurl_functions *lib, CURL *easy, CURLoption option, curl_off_t value) {
  return lib->easy_setopt(easy, option, value);
}
static inline CURLcode libcurl_set_string(
    const struct libcurl_functions *lib, CURL *easy, CURLoption option, const char *value) {
  return lib->easy_setopt(easy, option, value);
}
static inline CURLcode libcurl_set_pointer(
    const struct libcurl_functions *lib, CURL *easy, CURLoption option, const void *value) {
  return lib->easy_setopt(easy, option, value);
}
static inline CURLcode libcurl_set_list(
    const struct libcurl_functions *lib, CURL *easy, CURLoption option, struct curl_slist *value) {
  return lib->easy_setopt(easy, option, value);
}
static inline CURLcode libcurl_set_callback(
    const struct libcurl_functions *lib, CURL *easy, CURLoption option, libcurl_data_callback value) {
  return lib->easy_setopt(easy, option, value);
}

/// No scheme but http and https, whatever else the library can do.
static inline CURLcode libcurl_set_web_only(const struct libcurl_functions *lib, CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075500
  return lib->easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  return lib->easy_setopt(easy, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
}

/// Giving up a request does not wait for the name service.
static inline CURLcode libcurl_set_quick_exit(const struct libcurl_functions *lib, CURL *easy) {
#if LIBCURL_VERSION_NUM >= 0x075700
  return lib->easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
#else
  return CURLE_OK;
#endif
}

static inline long libcurl_info_long(const struct libcurl_functions *lib, CURL *easy, CURLINFO info) {
  long value = 0;
  return lib->easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}
static inline void *libcurl_private(const struct libcurl_functions *lib, CURL *easy) {
  char *value = NULL;
  return lib->easy_getinfo(easy, CURLINFO_PRIVATE, &value) == CURLE_OK ? value : NULL;
}
static inline const char *libcurl_strerror(const struct libcurl_functions *lib, CURLcode code) {
  return lib->easy_strerror(code);
}

static inline struct curl_slist *libcurl_slist_append(
    const struct libcurl_functions *lib, struct curl_slist *list, const char *text) {
  return lib->slist_append(list, text);
}
static inline void libcurl_slist_free(const struct libcurl_functions *lib, struct curl_slist *list) {
  lib->slist_free_all(list);
}

static inline CURLM *libcurl_multi_init(const struct libcurl_functions *lib) { return lib->multi_init(); }
static inline void libcurl_multi_cleanup(const struct libcurl_functions *lib, CURLM *multi) { lib->multi_cleanup(multi); }
static inline CURLMcode libcurl_multi_set_long(
    const struct libcurl_functions *lib, CURLM *multi, CURLMoption option, long value) {
  return lib->multi_setopt(multi, option, value);
}
static inline CURLMcode libcurl_multi_add(const struct libcurl_functions *lib, CURLM *multi, CURL *easy) {
  return lib->multi_add_handle(multi, easy);
}
static inline CURLMcode libcurl_multi_remove(const struct libcurl_functions *lib, CURLM *multi, CURL *easy) {
  return lib->multi_remove_handle(multi, easy);
}
static inline CURLMcode libcurl_multi_perform(const struct libcurl_functions *lib, CURLM *multi) {
  int running = 0;
  return lib->multi_perform(multi, &running);
}
static inline CURLMcode libcurl_multi_poll(const struct libcurl_functions *lib, CURLM *multi, int milliseconds) {
  int ready = 0;
  return lib->multi_poll(multi, NULL, 0, milliseconds, &ready);
}
/// Whether the network has something, without waiting.
static inline bool libcurl_multi_is_ready(const struct libcurl_functions *lib, CURLM *multi) {
  int ready = 0;
  return lib->multi_poll(multi, NULL, 0, 0, &ready) != CURLM_OK || ready > 0;
}
static inline CURLMcode libcurl_multi_wakeup(const struct libcurl_functions *lib, CURLM *multi) {
  return lib->multi_wakeup(multi);
}

/// The next request that is over, and how; NULL if there is none.
static inline CURL *libcurl_next_done(const struct libcurl_functions *lib, CURLM *multi, CURLcode *code) {
  int left = 0;
  CURLMsg *message;
  while ((message = lib->multi_info_read(multi, &left))) {
    if (message->msg != CURLMSG_DONE) continue;
    *code = message->data.result;
    return message->easy_handle;
  }
  return NULL;
}
