/* SPDX-License-Identifier: MIT */
/*
 * Configuration: one table of every setting that has an effect here, by its Kafka name, with type,
 * default, range, scope and meaning (config_table.c). A topic's own value wins over the cluster's,
 * that over the default, which may depend on the protocol in force. Values are kept as the text
 * that hw_config shows.
 *
 * A second table says of Kafka's other settings why they have no effect: they are refused with that
 * reason, so that nobody believes in a setting that does nothing.
 */
#ifndef HW_CONFIG_CONFIG_H
#define HW_CONFIG_CONFIG_H

#include "core/base/types.h"
#include "core/log/log.h"
#include "core/replication/quota.h"
#include "core/replication/settings.h"

enum hw_config_scope {
    HW_CONFIG_CLUSTER, /* Only for the cluster as a whole. */
    HW_CONFIG_TOPIC    /* For a topic; set on the cluster it is the default of all topics. */
};

enum hw_config_type {
    HW_CONFIG_INTEGER, /* minimum..maximum */
    HW_CONFIG_BOOLEAN, /* true or false; 1 and 0 are taken too. */
    HW_CONFIG_CHOICE,  /* One of `choices`. */
    HW_CONFIG_CHOICES, /* One or more of `choices`, with commas; kept in the order of `choices`. */
    HW_CONFIG_VARIANT, /* The name of a protocol variant. */
    HW_CONFIG_REPLICAS /* A list of throttled replicas (core/replication/quota.h). */
};

/* Of a setting that is added to a time of the clock. */
#define HW_CONFIG_PERIOD_MS_MAX (INT64_MAX / 4)

/* One row of the table. */
struct hw_config_entry {
    const char *name;
    const char *default_value; /* In its normal form. NULL: none. */
    const char *description;   /* One line, with the range. */
    /* Kafka's name of the same setting on a broker, accepted too; or NULL. */
    const char *broker_name;
    const char *wall_default; /* With clock=wall, where it differs; else NULL. */
    /* Names separated by '|'. "x=y": x is taken too and kept as y. */
    const char *choices;
    int64_t minimum;
    int64_t maximum;
    enum hw_config_scope scope;
    enum hw_config_type type;
};

/* Values that were set, in the order of the table; NULL: not set. */
struct hw_config_values {
    const struct hw_allocator *allocator;
    char **values; /* One for each entry of the table; NULL until the first is set. */
};

/* The table, in order of name. */
size_t hw_config_count(void);
const struct hw_config_entry *hw_config_entry_at(size_t index);

/* Why Kafka's setting of this name has no effect here, or NULL if the name is none of those. */
const char *hw_config_no_effect_reason(const char *name);

/*
 * Find a setting by its name, or by its broker name. Errors: HW_REFUSED with INVALID_CONFIG: the
 * message has the nearest known name ("did you mean ...?"), or says why Kafka's setting of that
 * name has no effect here.
 */
enum hw_status hw_config_find(const char *name, size_t *index, struct hw_error *error);

void hw_config_values_init(struct hw_config_values *values, const struct hw_allocator *allocator);
void hw_config_values_release(struct hw_config_values *values);

/* Of a value in its normal form, with its NUL: lists of throttled replicas are the longest. */
enum { HW_CONFIG_NORMAL_SIZE = HW_THROTTLED_LIST_MAX };

/* The normal form of a value that the entry can have. Errors: HW_REFUSED with INVALID_CONFIG (says
 * what is allowed). */
enum hw_status hw_config_check(size_t index, const char *value, char normal[HW_CONFIG_NORMAL_SIZE],
                               struct hw_error *error);

/*
 * Check `value` against the entry's type and range and keep it in its normal form; NULL takes it
 * back. Spaces around it do not matter, as in Kafka. Errors: HW_REFUSED with INVALID_CONFIG (says
 * what is allowed); HW_NO_MEMORY. Nothing changes then.
 */
enum hw_status hw_config_set(struct hw_config_values *values, size_t index, const char *value,
                             struct hw_error *error);

/* The default of an entry under the protocol that the cluster's values name. NULL if none. */
const char *hw_config_default(const struct hw_config_values *cluster, size_t index);

/* The text in force for a topic (own values) of a cluster; `topic` may be NULL. NULL if not set and
 * without a default. */
const char *hw_config_value(const struct hw_config_values *cluster,
                            const struct hw_config_values *topic, size_t index);

/* Typed access by name; the name must be in the table with that type. */
int64_t hw_config_int64(const struct hw_config_values *cluster,
                        const struct hw_config_values *topic, const char *name);
bool hw_config_bool(const struct hw_config_values *cluster, const struct hw_config_values *topic,
                    const char *name);
const char *hw_config_text(const struct hw_config_values *cluster,
                           const struct hw_config_values *topic, const char *name);

/* Whether the cluster's choice of that name is that word. */
bool hw_config_is(const struct hw_config_values *cluster, const char *name, const char *word);

/* The values that the layers below need, resolved. */
struct hw_settings hw_config_settings(const struct hw_config_values *cluster,
                                      const struct hw_config_values *topic);
struct hw_log_config hw_config_log(const struct hw_config_values *cluster,
                                   const struct hw_config_values *topic);

#endif /* HW_CONFIG_CONFIG_H */
