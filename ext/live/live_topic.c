/* SPDX-License-Identifier: MIT */
#include "ext/live/live_topic.h"

#include "ext/ext_argument.h"
#include "ext/ext_error.h"
#include "ext/live/live_properties.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

static const char allowed[] =
    "a table may name topic, connection or bootstrap.servers, isolation, key.type, value.type and "
    "live.timeout.ms";

static const char *const secret_parts[] = {"password", "secret", ".pem",      "token",
                                           "sasl.",    "ssl.",   "oauthbear", "assertion"};

static bool is_secret(const char *name)
{
    for (size_t i = 0; i < sizeof secret_parts / sizeof secret_parts[0]; i++) {
        if (strstr(name, secret_parts[i]) != NULL) {
            return true;
        }
    }
    return false;
}

static enum hw_status read_text(char **text, const char *name, const char *value,
                                struct hw_error *error)
{
    if (*text != NULL) {
        return ext_error_invalid(error, "%s is given twice", name);
    }
    if (value[0] == '\0') {
        return ext_error_invalid(error, "%s must not be empty", name);
    }
    *text = sqlite3_mprintf("%s", value);
    return *text == NULL ? hw_error_no_memory(error, name) : HW_OK;
}

static enum hw_status read_type(enum ext_bytes_type *type, const char *name, const char *value,
                                struct hw_error *error)
{
    return ext_bytes_type_read(value, type)
               ? HW_OK
               : ext_error_invalid(error, "%s must be auto, text or blob", name);
}

static enum hw_status read_isolation(struct live_arguments *arguments, const char *value,
                                     struct hw_error *error)
{
    arguments->has_mode = ext_isolation_read(value, &arguments->mode);
    return arguments->has_mode
               ? HW_OK
               : ext_error_invalid(error, "isolation must be read_uncommitted or read_committed");
}

static enum hw_status refuse_name(const char *name, struct hw_error *error)
{
    if (is_secret(name)) {
        return ext_error_invalid(
            error,
            "%.60s does not belong into a schema, where everybody can read it: "
            "give it to live_connect(name, properties), and the table "
            "connection=name",
            name);
    }
    return ext_error_invalid(error,
                             "there is no argument \"%.60s\": %s; other properties go to "
                             "live_connect(name, properties)",
                             name, allowed);
}

static enum hw_status read_argument(struct live_arguments *arguments, const char *name,
                                    const char *value, struct hw_error *error)
{
    if (strcmp(name, "topic") == 0) {
        return read_text(&arguments->topic, name, value, error);
    }
    if (strcmp(name, "connection") == 0) {
        return read_text(&arguments->connection, name, value, error);
    }
    if (strcmp(name, "bootstrap.servers") == 0) {
        return read_text(&arguments->servers, name, value, error);
    }
    if (strcmp(name, "isolation") == 0) {
        return read_isolation(arguments, value, error);
    }
    if (strcmp(name, "key.type") == 0) {
        return read_type(&arguments->key_type, name, value, error);
    }
    if (strcmp(name, "value.type") == 0) {
        return read_type(&arguments->value_type, name, value, error);
    }
    if (strcmp(name, "live.timeout.ms") == 0) {
        return live_properties_timeout(value, &arguments->timeout_ms)
                   ? HW_OK
                   : ext_error_invalid(error, "live.timeout.ms must be a number of milliseconds "
                                              "from 1 to a day");
    }
    return refuse_name(name, error);
}

static enum hw_status read_one(struct live_arguments *arguments, const char *text,
                               struct hw_error *error)
{
    char *name = NULL;
    char *value = NULL;
    enum hw_status status = HW_OK;

    if (strchr(text, '=') == NULL) {
        /* Not shown: it may be the half of a secret. */
        return ext_error_invalid(error, "an argument is not name=value: %s", allowed);
    }
    status = ext_argument_split(text, allowed, &name, &value, error);
    if (status == HW_OK) {
        status = read_argument(arguments, name, value, error);
    }
    sqlite3_free(name);
    sqlite3_free(value);
    return status;
}

enum hw_status live_arguments_read(struct live_arguments *arguments, int argc,
                                   const char *const *argv, bool is_strict, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    *arguments = (struct live_arguments){.mode = HW_READ_UNCOMMITTED};
    for (int i = 0; status == HW_OK && i < argc; i++) {
        status = ext_argument_is_blank(argv[i]) ? HW_OK : read_one(arguments, argv[i], error);
        status = is_strict || status == HW_NO_MEMORY ? status : HW_OK;
    }
    if (status == HW_OK && is_strict &&
        (arguments->connection == NULL) == (arguments->servers == NULL)) {
        return ext_error_invalid(error, "a live table needs connection=name, the name that "
                                        "live_connect() gave, or bootstrap.servers='host:9092': "
                                        "one of them");
    }
    return status;
}

void live_arguments_release(struct live_arguments *arguments)
{
    sqlite3_free(arguments->topic);
    sqlite3_free(arguments->connection);
    sqlite3_free(arguments->servers);
    *arguments = (struct live_arguments){.topic = NULL};
}

enum hw_status live_topic_cluster(const struct live_topic *table, struct live_cluster **cluster,
                                  int *timeout_ms, struct hw_error *error)
{
    const struct live_arguments *arguments = &table->arguments;
    enum hw_status status;

    if (arguments->connection != NULL) {
        status = live_session_find(table->vtab.live, arguments->connection, cluster, error);
    } else {
        status = live_session_find_allowed(
            table->vtab.live, arguments->servers == NULL ? "" : arguments->servers, cluster, error);
    }
    if (status == HW_OK) {
        *timeout_ms = arguments->timeout_ms > 0 ? arguments->timeout_ms : (*cluster)->timeout_ms;
    }
    return status;
}
