/* SPDX-License-Identifier: MIT */
/*
 * What stands in the parentheses of CREATE VIRTUAL TABLE ... USING highwater(...).
 *
 *     partitions=3, replication.factor=2, "cleanup.policy" = 'compact,delete'
 *     topic=orders, partition=0, value.type=blob
 *     transactional=1                       with either
 *
 * Names and values may be quoted as SQL quotes them, with any white space around.
 */
#ifndef EXT_TOPIC_ARGUMENTS_H
#define EXT_TOPIC_ARGUMENTS_H

#include "ext/config_list.h"
#include "ext/ext_value.h"

struct topic_arguments {
    char *topic;                  /* An existing topic; NULL: the table's own. */
    int64_t partition;            /* Of the existing topic; -1: all. */
    int64_t partitions;           /* 0: the default. */
    int64_t replication_factor;   /* 0: the default. */
    enum ext_bytes_type key_type; /* Of the column, however the topic came to be. */
    enum ext_bytes_type value_type;
    bool has_key_type;
    bool has_value_type;
    bool is_transactional;
    bool is_transactional_given;
    struct ext_config_list configs;
};

/*
 * Read the arguments. Errors, all of which name the argument: HW_NO_MEMORY; HW_REFUSED with
 * INVALID_REQUEST or INVALID_CONFIG: no "=", an unknown name (with the nearest known one), one that
 * is given twice, a number that is none, arguments that exclude each other. Release in any case.
 */
enum hw_status topic_arguments_read(struct topic_arguments *arguments, int argc,
                                    const char *const *argv, struct hw_error *error);

/* The same for a table that was created before: it takes what it can and ignores the rest, so that
 * the table can always be dropped. Errors: HW_NO_MEMORY. */
enum hw_status topic_arguments_recall(struct topic_arguments *arguments, int argc,
                                      const char *const *argv, struct hw_error *error);

void topic_arguments_release(struct topic_arguments *arguments);

#endif /* EXT_TOPIC_ARGUMENTS_H */
