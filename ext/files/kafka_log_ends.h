/* SPDX-License-Identifier: MIT */
/* Log ends of the partitions that lie beside one of an internal topic: for lag. Each is read once. */
#ifndef EXT_KAFKA_LOG_ENDS_H
#define EXT_KAFKA_LOG_ENDS_H

#include "ext/ext_session.h"

struct kafka_log_ends {
    struct hw_byte_map keys; /* Names of partitions' directories. */
    hw_offset_t *ends;
    size_t capacity;
};

void kafka_log_ends_init(struct kafka_log_ends *log_ends);
void kafka_log_ends_release(struct kafka_log_ends *log_ends);

/* Where to look: the directories of the statement, those of `beside` first, and then the folder that
 * `beside` lies in, if the session may read it. */
struct kafka_log_places {
    const struct ext_session *session;
    struct hw_store *store;
    const struct hw_kafka_directory *directory;
    const struct hw_kafka_partition *beside;
};

/* The log end of the partition; HW_OFFSET_NONE where it is not there or cannot be read. Errors:
 * HW_NO_MEMORY. */
enum hw_status kafka_log_ends_find(struct kafka_log_ends *log_ends,
                                   const struct kafka_log_places *places,
                                   struct hw_message_text topic, int32_t partition,
                                   hw_offset_t *end, struct hw_error *error);

#endif /* EXT_KAFKA_LOG_ENDS_H */
