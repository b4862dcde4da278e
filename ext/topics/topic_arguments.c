/* SPDX-License-Identifier: MIT */
/* Which arguments there are, and what may stand together. */
#include "ext/topics/topic_arguments.h"

#include "ext/ext_argument.h"
#include "ext/ext_error.h"

#include <ctype.h>
#include <string.h>

SQLITE_EXTENSION_INIT3

static const char *const own_names[] = {"partitions",   "replication.factor", "topic",
                                        "partition",    "key.type",           "value.type",
                                        "transactional"};

static const char allowed[] = "allowed are partitions, replication.factor, topic, partition, "
                              "key.type, value.type, transactional, and topic configs: SELECT name "
                              "FROM hw_config WHERE scope = 'topic'";

/* `invalid` is Kafka's name of the error that the value is none. */
static enum hw_status read_count(const char *name, const char *value, int64_t minimum,
                                 enum hw_kafka_error invalid, int64_t *number,
                                 struct hw_error *error)
{
    int64_t sum = 0;
    const char *at = value;

    /* Ten digits are more than any of these numbers may have. */
    while (isdigit((unsigned char)*at) && at - value < 10) {
        sum = sum * 10 + (*at++ - '0');
    }
    if (at == value || *at != '\0' || sum < minimum) {
        return hw_error_refuse(error, invalid, "%s must be a number from %d on, not \"%.60s\"",
                               name, (int)minimum, value);
    }
    *number = sum;
    return HW_OK;
}

/* The core knows the names of configs and what is like them; these words are ours. */
static enum hw_status add_config(struct topic_arguments *arguments, const char *name,
                                 const char *value, struct hw_error *error)
{
    for (size_t i = 0; i < sizeof own_names / sizeof own_names[0]; i++) {
        if (hw_edit_distance(name, own_names[i]) <= 2) {
            return hw_error_refuse(error, HW_KAFKA_INVALID_CONFIG,
                                   "there is no argument \"%.60s\", did you mean \"%s\"? %s", name,
                                   own_names[i], allowed);
        }
    }
    return ext_config_list_add(&arguments->configs, name, value, error);
}

static enum hw_status given_twice(const char *name, struct hw_error *error)
{
    return ext_error_invalid(error, "%s is given twice", name);
}

static enum hw_status read_type(const char *name, const char *value, bool *is_given,
                                enum ext_bytes_type *type, struct hw_error *error)
{
    if (*is_given) {
        return given_twice(name, error);
    }
    *is_given = ext_bytes_type_read(value, type);
    return *is_given ? HW_OK
                     : ext_error_invalid(error, "%s must be auto, text or blob, not \"%.60s\"",
                                         name, value);
}

static enum hw_status add_argument(struct topic_arguments *arguments, const char *name,
                                   const char *value, struct hw_error *error)
{
    if (strcmp(name, "partitions") == 0) {
        return arguments->partitions != 0 ? given_twice(name, error)
                                          : read_count(name, value, 1, HW_KAFKA_INVALID_PARTITIONS,
                                                       &arguments->partitions, error);
    }
    if (strcmp(name, "replication.factor") == 0) {
        return arguments->replication_factor != 0
                   ? given_twice(name, error)
                   : read_count(name, value, 1, HW_KAFKA_INVALID_REPLICATION_FACTOR,
                                &arguments->replication_factor, error);
    }
    if (strcmp(name, "partition") == 0) {
        return arguments->partition >= 0 ? given_twice(name, error)
                                         : read_count(name, value, 0, HW_KAFKA_INVALID_REQUEST,
                                                      &arguments->partition, error);
    }
    if (strcmp(name, "topic") == 0) {
        if (arguments->topic != NULL) {
            return given_twice(name, error);
        }
        arguments->topic = sqlite3_mprintf("%s", value);
        return arguments->topic == NULL ? hw_error_no_memory(error, "a topic's name") : HW_OK;
    }
    if (strcmp(name, "key.type") == 0) {
        return read_type(name, value, &arguments->has_key_type, &arguments->key_type, error);
    }
    if (strcmp(name, "value.type") == 0) {
        return read_type(name, value, &arguments->has_value_type, &arguments->value_type, error);
    }
    if (strcmp(name, "transactional") == 0) {
        if (arguments->is_transactional_given) {
            return given_twice(name, error);
        }
        if (strcmp(value, "0") != 0 && strcmp(value, "1") != 0) {
            return ext_error_invalid(error, "transactional must be 0 or 1, not \"%.60s\"", value);
        }
        arguments->is_transactional_given = true;
        arguments->is_transactional = value[0] == '1';
        return HW_OK;
    }
    return add_config(arguments, name, value, error);
}

static enum hw_status read_argument(struct topic_arguments *arguments, const char *text,
                                    struct hw_error *error)
{
    char *name = NULL;
    char *value = NULL;
    enum hw_status status = ext_argument_split(text, allowed, &name, &value, error);

    if (status == HW_OK) {
        status = add_argument(arguments, name, value, error);
    }
    sqlite3_free(name);
    sqlite3_free(value);
    return status;
}

static void init(struct topic_arguments *arguments)
{
    *arguments = (struct topic_arguments){.topic = NULL, .partition = -1};
    ext_config_list_init(&arguments->configs);
}

enum hw_status topic_arguments_read(struct topic_arguments *arguments, int argc,
                                    const char *const *argv, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    init(arguments);
    for (int i = 0; status == HW_OK && i < argc; i++) {
        status = ext_argument_is_blank(argv[i]) ? HW_OK : read_argument(arguments, argv[i], error);
    }
    if (status != HW_OK) {
        return status;
    }
    if (arguments->topic == NULL && arguments->partition >= 0) {
        return ext_error_invalid(error, "partition=n needs topic=name: it opens one partition of "
                                        "an existing topic; partitions=n creates a new one");
    }
    if (arguments->topic != NULL &&
        (arguments->partitions != 0 || arguments->replication_factor != 0 ||
         arguments->configs.count != 0)) {
        return ext_error_invalid(
            error, "topic=name opens an existing topic: beside it only "
                   "partition=n, key.type, value.type and transactional=1 may stand; configure() "
                   "changes its configs");
    }
    return HW_OK;
}

enum hw_status topic_arguments_recall(struct topic_arguments *arguments, int argc,
                                      const char *const *argv, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    init(arguments);
    for (int i = 0; status != HW_NO_MEMORY && i < argc; i++) {
        status = read_argument(arguments, argv[i], error);
    }
    return status == HW_NO_MEMORY ? HW_NO_MEMORY : HW_OK;
}

void topic_arguments_release(struct topic_arguments *arguments)
{
    sqlite3_free(arguments->topic);
    ext_config_list_release(&arguments->configs);
    arguments->topic = NULL;
}
