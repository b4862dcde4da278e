/* SPDX-License-Identifier: MIT */
#include "ext/tables/explore_options.h"

#include "ext/ext_error.h"
#include "ext/ext_json.h"
#include "ext/ext_registry.h"

#include <string.h>

SQLITE_EXTENSION_INIT3

/* A whole number in [least, most]. */
static enum hw_status options_number(const struct ext_json_member *member, int64_t least,
                                     int64_t most, int64_t *number, struct hw_error *error)
{
    if (ext_json_integer(member, number) && *number >= least && *number <= most) {
        return HW_OK;
    }
    return ext_error_invalid(error, "hw_explore(): %s must be a whole number, %lld to %lld",
                             member->name, (long long)least, (long long)most);
}

static enum hw_status visit_action(void *context, const struct ext_json_member *member,
                                   struct hw_error *error)
{
    struct explore_options *read = context;
    struct hw_buffer names;
    enum hw_status status = HW_OK;

    for (int i = 0; member->json != NULL && i < HW_EXPLORE_ACTIONS; i++) {
        if (strcmp(member->json, hw_explore_action_name((enum hw_explore_action_kind)i)) == 0) {
            read->options.actions |= 1U << i;
            return HW_OK;
        }
    }
    hw_buffer_init(&names, &ext_allocator);
    for (int i = 0; i < HW_EXPLORE_ACTIONS && status == HW_OK; i++) {
        status = hw_buffer_append_format(&names, error, "%s%s", i == 0 ? "" : ", ",
                                         hw_explore_action_name((enum hw_explore_action_kind)i));
    }
    status = status == HW_OK
                 ? ext_error_invalid(error, "hw_explore(): no action named %.40s; there are %.*s",
                                     member->json == NULL ? "null" : member->json, (int)names.size,
                                     (const char *)names.bytes)
                 : status;
    hw_buffer_release(&names);
    return status;
}

static enum hw_status visit_promise(void *context, const struct ext_json_member *member,
                                    struct hw_error *error)
{
    struct explore_options *read = context;
    uint32_t promise;

    if (member->json == NULL || !hw_promises_parse(member->json, &promise) || promise == 0) {
        return ext_error_invalid(error,
                                 "hw_explore(): no promise named %.40s; hw_help lists them (kind "
                                 "promise)",
                                 member->json == NULL ? "null" : member->json);
    }
    read->options.promises |= promise;
    return HW_OK;
}

static enum hw_status visit_config(void *context, const struct ext_json_member *member,
                                   struct hw_error *error)
{
    struct explore_options *read = context;
    size_t place = read->options.config_count;
    const char *value = member->json == NULL ? "" : member->json;

    if (place == EXPLORE_CONFIGS_MAX || strlen(member->name) >= EXPLORE_CONFIG_SIZE ||
        strlen(value) >= EXPLORE_CONFIG_SIZE) {
        return ext_error_invalid(error, "hw_explore(): configs has at most %d settings of %d bytes",
                                 (int)EXPLORE_CONFIGS_MAX, (int)EXPLORE_CONFIG_SIZE - 1);
    }
    memcpy(read->texts[place][0], member->name, strlen(member->name) + 1);
    memcpy(read->texts[place][1], value, strlen(value) + 1);
    read->configs[place] =
        (struct hw_explore_config){.name = read->texts[place][0], .value = read->texts[place][1]};
    read->options.configs = read->configs;
    read->options.config_count++;
    return HW_OK;
}

/* Names, which the visitor notes as bits: none would be all. */
static enum hw_status options_list(struct explore_options *read, uint32_t *bits,
                                   const struct ext_json_member *member, ext_json_visit *visit,
                                   struct hw_error *error)
{
    enum hw_status status = HW_OK;

    *bits = 0;
    if (strcmp(member->type, "array") == 0) {
        status = ext_json_walk_elements(read->db, member, visit, read, error);
    }
    return status == HW_OK && *bits == 0
               ? ext_error_invalid(error, "hw_explore(): %s must be a list of names, one or more",
                                   member->name)
               : status;
}

static enum hw_status options_acks(struct explore_options *read,
                                   const struct ext_json_member *member, struct hw_error *error)
{
    bool is_all = member->json != NULL && strcmp(member->json, "all") == 0;
    bool is_one = member->json != NULL && strcmp(member->json, "1") == 0;

    read->options.acks = is_one ? 1 : HW_ACKS_ALL;
    return is_all || is_one ? HW_OK
                            : ext_error_invalid(error, "hw_explore(): acks must be \"all\" or 1");
}

static enum hw_status options_word(struct explore_options *read,
                                   const struct ext_json_member *member, struct hw_error *error)
{
    struct hw_explore_options *options = &read->options;
    const char *text = member->json == NULL ? "" : member->json;

    if (strcmp(member->name, "mode") == 0) {
        options->is_walk = strcmp(text, "walk") == 0;
        return options->is_walk || strcmp(text, "search") == 0
                   ? HW_OK
                   : ext_error_invalid(error, "hw_explore(): mode must be \"search\" or \"walk\"");
    }
    if (strcmp(member->name, "elections") == 0) {
        options->elections_apart = strcmp(text, "apart") == 0;
        return options->elections_apart
                   ? HW_OK
                   : ext_error_invalid(
                         error, "hw_explore(): elections must be a whole number, or \"apart\"");
    }
    if (strcmp(member->name, "topic") == 0) {
        if (strcmp(member->type, "text") != 0 || text[0] == '\0' ||
            strlen(text) > HW_TOPIC_NAME_MAX) {
            return ext_error_invalid(error, "hw_explore(): topic must be a topic's name");
        }
        memcpy(read->topic, text, strlen(text) + 1);
        return HW_OK;
    }
    return ext_error_invalid(
        error,
        "hw_explore(): no option named %.40s; there are new, configs, topic, partition, "
        "actions, acks, promises, records, epochs, crashes, lossy_crashes, "
        "fences, elections, shrinks, cuts, drops, checkpoints, ticks, transactions, "
        "duplicates, producer_fences, depth, states, "
        "seconds, memory, symmetry, skips, messages, verify, mode, seed",
        member->name);
}

static enum hw_status options_bound(struct explore_options *read,
                                    const struct ext_json_member *member, bool *is_known,
                                    struct hw_error *error)
{
    struct hw_explore_options *options = &read->options;
    int64_t number = 0;
    struct {
        const char *name;
        int64_t *value;
        int64_t least;
        int64_t most;
    } const bounds[] = {{"depth", &options->depth, 1, 1000},
                        {"states", &options->states, 1, 4000000000},
                        {"seconds", &options->seconds, 1, 1000000},
                        {"memory", &options->memory_bytes, 1 << 20, (int64_t)1 << 40},
                        {"partition", &options->partition, 0, INT32_MAX}};

    *is_known = true;
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++) {
        if (strcmp(member->name, bounds[i].name) == 0) {
            return options_number(member, bounds[i].least, bounds[i].most, bounds[i].value, error);
        }
    }
    for (int i = 0; i < HW_EXPLORE_BUDGETS; i++) {
        if (strcmp(member->name, hw_explore_budget_name((enum hw_explore_budget)i)) == 0 &&
            strcmp(member->type, "text") != 0) {
            return options_number(member, 0, 200, &options->budgets[i], error);
        }
    }
    if (strcmp(member->name, "new") == 0) {
        enum hw_status status = options_number(member, 1, 8, &number, error);

        options->new_brokers = (int32_t)number;
        return status;
    }
    if (strcmp(member->name, "seed") == 0) {
        enum hw_status status = options_number(member, INT64_MIN, INT64_MAX, &number, error);

        options->seed = (uint64_t)number;
        read->has_seed = true;
        return status;
    }
    *is_known = false;
    return HW_OK;
}

static enum hw_status options_switch(struct explore_options *read,
                                     const struct ext_json_member *member, bool *is_known,
                                     struct hw_error *error)
{
    struct hw_explore_options *options = &read->options;
    struct {
        const char *name;
        bool *value;
    } const switches[] = {{"symmetry", &options->symmetry},
                          {"skips", &options->skips},
                          {"messages", &options->messages},
                          {"verify", &options->verifies}};

    for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++) {
        if (strcmp(member->name, switches[i].name) == 0) {
            *is_known = true;
            return ext_json_boolean(member, switches[i].value)
                       ? HW_OK
                       : ext_error_invalid(error, "hw_explore(): %s must be true or false",
                                           member->name);
        }
    }
    return HW_OK;
}

static enum hw_status visit_option(void *context, const struct ext_json_member *member,
                                   struct hw_error *error)
{
    struct explore_options *read = context;
    bool is_known;
    enum hw_status status = options_bound(read, member, &is_known, error);

    read->is_of_search = read->is_of_search || strcmp(member->name, "symmetry") == 0 ||
                         strcmp(member->name, "memory") == 0 || strcmp(member->name, "verify") == 0;
    if (status != HW_OK || is_known) {
        return status;
    }
    if (strcmp(member->name, "actions") == 0) {
        return options_list(read, &read->options.actions, member, visit_action, error);
    }
    if (strcmp(member->name, "configs") == 0) {
        return strcmp(member->type, "object") == 0
                   ? ext_json_walk_elements(read->db, member, visit_config, read, error)
                   : ext_error_invalid(error, "hw_explore(): configs must be an object, "
                                              "{\"min.insync.replicas\":2}");
    }
    if (strcmp(member->name, "promises") == 0) {
        return options_list(read, &read->options.promises, member, visit_promise, error);
    }
    if (strcmp(member->name, "acks") == 0) {
        return options_acks(read, member, error);
    }
    status = options_switch(read, member, &is_known, error);
    if (status != HW_OK || is_known) {
        return status;
    }
    return options_word(read, member, error);
}

/* What goes together, once all is known. */
static enum hw_status options_check(const struct explore_options *read, struct hw_error *error)
{
    const struct hw_explore_options *options = &read->options;

    if (options->new_brokers > 0 && (read->topic[0] != '\0' || options->partition >= 0)) {
        return ext_error_invalid(error, "hw_explore(): topic and partition are of this cluster: a "
                                        "new one has the topic t, with one partition");
    }
    if (options->new_brokers == 0 && options->config_count > 0) {
        return ext_error_invalid(error,
                                 "hw_explore(): configs are those of a new cluster: this one "
                                 "has its own, which configure() sets");
    }
    if (options->is_walk ? read->is_of_search : read->has_seed) {
        return ext_error_invalid(error, options->is_walk
                                            ? "hw_explore(): a walk keeps no states: leave out "
                                              "symmetry, memory and verify"
                                            : "hw_explore(): seed goes with \"mode\":\"walk\"");
    }
    return HW_OK;
}

enum hw_status explore_options_read(struct explore_options *read, sqlite3 *db,
                                    sqlite3_value *options, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    *read = (struct explore_options){.options = hw_explore_options_usual(), .db = db};
    read->options.partition = -1;
    if (options != NULL && sqlite3_value_type(options) != SQLITE_NULL) {
        status = ext_json_walk(db, options, "options", visit_option, read, error);
    }
    if (status == HW_OK) {
        status = options_check(read, error);
    }
    read->options.topic = read->topic[0] == '\0' ? NULL : read->topic;
    read->options.partition = read->options.partition < 0 ? 0 : read->options.partition;
    return status;
}
