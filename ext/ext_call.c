/* SPDX-License-Identifier: MIT */
/* Dispatch of SQL functions and checks of their arguments. */
#include "ext/ext_call.h"

#include "ext/ext_error.h"
#include "ext/ext_value.h"
#include "ext/ext_wait.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

/* Bytes of a call, and of each argument of it, that the journal tells. */
enum { NOTE_SIZE = HW_EVENT_DETAIL_SIZE - 1, NOTE_ARGUMENT_MAX = 64 };

static bool has_effect(const struct ext_call *call)
{
    return (call->function->flags & SQLITE_DIRECTONLY) != 0;
}

static void check_argument_count(struct ext_call *call)
{
    const struct ext_function *function = call->function;
    int min = function->arguments_min;
    int max = function->arguments_max;

    if (call->argc >= min && call->argc <= max) {
        return;
    }
    if (min == max) {
        ext_call_refuse(call, "%s() takes %d argument%s, not %d: %s", function->name, min,
                        min == 1 ? "" : "s", call->argc, function->signature);
    } else {
        ext_call_refuse(call, "%s() takes %d to %d arguments, not %d: %s", function->name, min, max,
                        call->argc, function->signature);
    }
}

/* Run the function, again and again while it meets the transaction of another connection: a call
 * that fails changes nothing. */
static void call_run(struct ext_call *call)
{
    struct ext_wait wait = {.timeout = NULL};

    call->probe = (struct ext_probe){.db = call->session->db};
    hw_buffer_init(&call->buffer, &ext_allocator);
    do {
        call->status = HW_OK;
        call->cluster = NULL;
        call->buffer.size = 0;
        call->function->run(call);
        if (call->cluster != NULL) {
            hw_cluster_set_interrupt(call->cluster, NULL);
        }
        ext_probe_release(&call->probe);
    } while (call->cluster != NULL &&
             ext_wait_unlock(call->session, &wait, &call->status, &call->error));
    hw_buffer_release(&call->buffer);
}

/* A call as it was typed, as far as there is room. */
struct note {
    char *text;
    size_t size;
};

static void note_bytes(struct note *note, const char *bytes, size_t size)
{
    size_t room = NOTE_SIZE - note->size;

    size = size < room ? size : room;
    memcpy(note->text + note->size, bytes, size);
    note->size += size;
}

static void note_word(struct note *note, const char *word)
{
    note_bytes(note, word, strlen(word));
}

/* As SQL writes it, cut behind a whole character where it is long. */
static void note_text(struct note *note, const char *text)
{
    size_t size = strlen(text);

    if (size > NOTE_ARGUMENT_MAX) {
        size = NOTE_ARGUMENT_MAX;
        while (size > 0 && ((unsigned char)text[size] & 0xC0) == 0x80) {
            size--;
        }
    }
    note_word(note, "'");
    for (size_t i = 0; i < size; i++) {
        note_bytes(note, "''", text[i] == '\'' ? 1 : 0);
        note_bytes(note, text + i, 1);
    }
    note_word(note, text[size] == '\0' ? "'" : "...'");
}

static void note_argument(struct note *note, sqlite3_value *value)
{
    const char *text;
    char number[32];

    switch (sqlite3_value_type(value)) {
    case SQLITE_NULL:
        note_word(note, "NULL");
        return;
    case SQLITE_INTEGER:
        (void)snprintf(number, sizeof number, "%lld", (long long)sqlite3_value_int64(value));
        note_word(note, number);
        return;
    case SQLITE_FLOAT:
        (void)sqlite3_snprintf(sizeof number, number, "%!.15g", sqlite3_value_double(value));
        note_word(note, number);
        return;
    case SQLITE_BLOB:
        (void)snprintf(number, sizeof number, "x'...' (%d)", sqlite3_value_bytes(value));
        note_word(note, number);
        return;
    default:
        text = (const char *)sqlite3_value_text(value);
        note_text(note, text == NULL ? "" : text);
    }
}

/* Before the function runs: to ask for a value's text may move what it has asked for. */
static void note_call(struct ext_call *call)
{
    struct note note = {.text = call->typed};
    bool is_full;

    note_word(&note, call->function->name);
    note_word(&note, "(");
    for (int i = 0; i < call->argc; i++) {
        note_word(&note, i == 0 ? "" : ", ");
        note_argument(&note, call->argv[i]);
    }
    note_word(&note, ")");
    is_full = note.size == NOTE_SIZE;
    while (is_full && ((unsigned char)note.text[note.size - 1] & 0x80) != 0) {
        note.size--; /* Of a character that was cut. */
    }
    note.text[note.size] = '\0';
}

static void dispatch(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    const struct ext_client *client = sqlite3_user_data(context);
    struct ext_call call = {.context = context,
                            .session = (struct ext_session *)client->owner,
                            .function = client->definition,
                            .argc = argc,
                            .argv = argv,
                            .status = HW_OK};

    check_argument_count(&call);
    if (call.status == HW_OK) {
        if (has_effect(&call)) {
            note_call(&call);
        }
        call_run(&call);
    }
    if (call.status != HW_OK) {
        ext_error_to_context(context, &call.error);
    }
}

int ext_call_register(struct ext_session *session, const struct ext_function *function)
{
    struct ext_client *client = ext_client_create(&session->owner, function);

    return client == NULL ? SQLITE_NOMEM
                          : sqlite3_create_function_v2(session->db, function->name, -1,
                                                       SQLITE_UTF8 | function->flags, client,
                                                       dispatch, NULL, NULL, ext_client_destroy);
}

void ext_call_unregister(sqlite3 *db, const struct ext_function *function)
{
    (void)sqlite3_create_function_v2(db, function->name, -1, SQLITE_UTF8, NULL, NULL, NULL, NULL,
                                     NULL);
}

void ext_call_refuse(struct ext_call *call, const char *format, ...)
{
    char text[HW_ERROR_MESSAGE_SIZE_BYTES];
    va_list args;

    if (call->status == HW_OK) {
        va_start(args, format);
        (void)vsnprintf(text, sizeof text, format, args);
        va_end(args);
        call->status = ext_error_invalid(&call->error, "%s", text);
    }
}

bool ext_call_is_missing(const struct ext_call *call, int index)
{
    return index >= call->argc || sqlite3_value_type(call->argv[index]) == SQLITE_NULL;
}

void ext_call_refuse_argument(struct ext_call *call, int index, const char *name,
                              const char *wanted)
{
    char described[EXT_VALUE_TEXT_SIZE];

    ext_call_refuse(call, "%s(): %s must be %s, not %s: %s", call->function->name, name, wanted,
                    ext_value_describe(call->argv[index], described), call->function->signature);
}

const char *ext_call_text(struct ext_call *call, int index, const char *name)
{
    const char *text;

    if (call->status != HW_OK) {
        return NULL;
    }
    if (sqlite3_value_type(call->argv[index]) != SQLITE_TEXT) {
        ext_call_refuse_argument(call, index, name, "text");
        return NULL;
    }
    text = (const char *)sqlite3_value_text(call->argv[index]);
    if (text == NULL) {
        call->status = hw_error_no_memory(&call->error, name);
        return NULL;
    }
    /* The core takes text that ends at its NUL: what comes after one would be ignored. */
    if (strlen(text) != (size_t)sqlite3_value_bytes(call->argv[index])) {
        ext_call_refuse(call, "%s(): %s must not contain a NUL character", call->function->name,
                        name);
        return NULL;
    }
    if (!hw_utf8_is_text((const uint8_t *)text, strlen(text))) {
        ext_call_refuse(call, "%s(): %s is no UTF-8", call->function->name, name);
        return NULL;
    }
    return text;
}

const char *ext_call_optional_text(struct ext_call *call, int index, const char *name)
{
    return ext_call_is_missing(call, index) ? NULL : ext_call_text(call, index, name);
}

int64_t ext_call_integer(struct ext_call *call, int index, const char *name)
{
    int64_t number = 0;

    if (call->status == HW_OK && !ext_value_integer(call->argv[index], &number)) {
        ext_call_refuse_argument(call, index, name, "an integer");
    }
    return number;
}

int64_t ext_call_optional_integer(struct ext_call *call, int index, const char *name,
                                  int64_t missing)
{
    return ext_call_is_missing(call, index) ? missing : ext_call_integer(call, index, name);
}

int64_t ext_call_end(struct ext_call *call, int index, const char *name, bool or_client)
{
    int64_t number = HW_CLUSTER_CONTROLLER;

    if (call->status != HW_OK || ext_value_is_word(call->argv[index], "controller")) {
        return number;
    }
    if (or_client && ext_value_is_word(call->argv[index], "client")) {
        return HW_CLUSTER_CLIENT;
    }
    if (!ext_value_integer(call->argv[index], &number) || (or_client && number < 0)) {
        ext_call_refuse_argument(call, index, name,
                                 or_client ? "a broker's id, 'controller' or 'client'"
                                           : "a broker's id or 'controller'");
    }
    return number;
}

bool ext_call_optional_word(struct ext_call *call, int index, const char *name, const char *word)
{
    const char *text = ext_call_optional_text(call, index, name);
    char wanted[EXT_VALUE_TEXT_SIZE];

    if (text == NULL) {
        return false;
    }
    if (strcmp(text, word) != 0) {
        (void)snprintf(wanted, sizeof wanted, "'%s'", word);
        ext_call_refuse_argument(call, index, name, wanted);
    }
    return true;
}

void ext_call_options(struct ext_call *call, int index, ext_json_visit *visit, void *context)
{
    if (call->status == HW_OK && !ext_call_is_missing(call, index)) {
        call->status = ext_json_walk(call->session->db, call->argv[index], "options", visit,
                                     context, &call->error);
    }
}

const char *ext_call_scope(struct ext_call *call, int index, int64_t *partition)
{
    const char *topic = ext_call_optional_text(call, index, "topic");

    *partition = -1;
    if (ext_call_is_missing(call, index + 1)) {
        return topic;
    }
    if (topic == NULL) {
        ext_call_refuse(call, "%s(): a partition needs a topic: %s", call->function->name,
                        call->function->signature);
    }
    *partition = ext_call_integer(call, index + 1, "partition");
    if (*partition < 0) {
        ext_call_refuse_argument(call, index + 1, "partition", "0 or more");
    }
    return topic;
}

/* Refuse the call where the connection may only read; asked once in a statement. */
static void check_writable(struct ext_call *call)
{
    /* Negative: kept with the statement until it ends, and of no argument. */
    enum { EXT_CALL_AUXDATA = -0x6877 };
    static const char may_write[] = "may write";

    if (call->status != HW_OK || sqlite3_get_auxdata(call->context, EXT_CALL_AUXDATA) != NULL) {
        return;
    }
    call->status = ext_session_check_writable(call->session, &call->error);
    if (call->status == HW_OK) {
        call->status = ext_query_only_check(call->session->db, &call->error);
    }
    if (call->status == HW_OK) {
        sqlite3_set_auxdata(call->context, EXT_CALL_AUXDATA, (void *)(uintptr_t)may_write, NULL);
    }
}

bool ext_call_lock(struct ext_call *call)
{
    struct ext_cluster *cluster = NULL;

    if (has_effect(call)) {
        check_writable(call);
    }
    if (call->status == HW_OK) {
        call->status = ext_session_cluster(call->session, &cluster, &call->error);
    }
    if (call->status != HW_OK) {
        return false;
    }
    call->cluster = has_effect(call) ? ext_cluster_lock_now(cluster) : ext_cluster_lock(cluster);
    hw_cluster_set_interrupt(
        call->cluster,
        &(struct hw_interrupt){.is_asked = ext_probe_is_interrupted, .context = &call->probe});
    if (has_effect(call) && !call->is_noted) { /* It may be tried again. */
        hw_cluster_note_call(call->cluster, call->typed);
        call->is_noted = true;
    }
    return true;
}

void ext_call_return_integer(struct ext_call *call, int64_t number)
{
    if (call->status == HW_OK) {
        sqlite3_result_int64(call->context, number);
    }
}

void ext_call_return_text(struct ext_call *call, const char *text)
{
    if (call->status == HW_OK) {
        if (text == NULL) {
            sqlite3_result_null(call->context);
        } else {
            ext_result_text(call->context, text, strlen(text));
        }
    }
}

void ext_call_return_buffer(struct ext_call *call)
{
    if (call->status == HW_OK) {
        ext_result_text(call->context,
                        call->buffer.size == 0 ? "" : (const char *)call->buffer.bytes,
                        call->buffer.size);
    }
}
