/* SPDX-License-Identifier: MIT */
/*
 * Configuration: one table of every setting that has an effect here, by its Kafka name, with type,
 * default, range, scope and meaning. A topic's own value wins over the cluster's, that over the
 * default. Values are kept as the text that hw_config shows.
 */
#ifndef HW_CLUSTER_CONFIG_H
#define HW_CLUSTER_CONFIG_H

#include "core/base/buffer.h"
#include "core/base/types.h"
#include "core/log/log.h"
#include "core/replication/settings.h"

enum hw_config_scope {
    HW_CONFIG_CLUSTER, /* Only for the cluster as a whole. */
    HW_CONFIG_TOPIC    /* For a topic; set on the cluster it is the default of all topics. */
};

/* One row of the table. */
struct hw_config_entry {
    const char *name;
    const char *default_value; /* NULL: none. */
    enum hw_config_scope scope;
    const char
        *broker_name; /* Kafka's name of the same setting on a broker, accepted too; or NULL. */
    const char *description; /* One line, with the range. */
};

/* Values that were set, in the order of the table; NULL: not set. */
struct hw_config_values {
    const struct hw_allocator *allocator;
    char **values; /* One for each entry of the table; NULL until the first is set. */
};

size_t hw_config_count(void);
const struct hw_config_entry *hw_config_entry_at(size_t index);

/*
 * Find a setting by its name, or by its broker name. Errors: HW_REFUSED with INVALID_CONFIG: the
 * message has the nearest known name ("did you mean ...?"), or says why Kafka's setting of that
 * name has no effect here.
 */
enum hw_status hw_config_find(const char *name, size_t *index, struct hw_error *error);

void hw_config_values_init(struct hw_config_values *values, const struct hw_allocator *allocator);
void hw_config_values_release(struct hw_config_values *values);

/*
 * Check `value` against the entry's type and range and keep it in its normal form; NULL takes it
 * back. Errors: HW_REFUSED with INVALID_CONFIG (says what is allowed); HW_NO_MEMORY. Nothing
 * changes then.
 */
enum hw_status hw_config_set(struct hw_config_values *values, size_t index, const char *value,
                             struct hw_error *error);

/* The text in force for a topic (own values) of a cluster; `topic` may be NULL. NULL if not set. */
const char *hw_config_value(const struct hw_config_values *cluster,
                            const struct hw_config_values *topic, size_t index);

/* Typed access by name; the name must be in the table with that type. */
int64_t hw_config_int64(const struct hw_config_values *cluster,
                        const struct hw_config_values *topic, const char *name);
bool hw_config_bool(const struct hw_config_values *cluster, const struct hw_config_values *topic,
                    const char *name);
const char *hw_config_text(const struct hw_config_values *cluster,
                           const struct hw_config_values *topic, const char *name);

/* The values that the layers below need, resolved. */
struct hw_settings hw_config_settings(const struct hw_config_values *cluster,
                                      const struct hw_config_values *topic);
struct hw_log_config hw_config_log(const struct hw_config_values *cluster,
                                   const struct hw_config_values *topic);

#endif /* HW_CLUSTER_CONFIG_H */
