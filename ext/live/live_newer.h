/* SPDX-License-Identifier: MIT */
/*
 * What librdkafka learned after 2.0.2. The library is built with that version's headers and runs with
 * whatever is there: these are asked for by name when it is loaded, and are missing in older ones.
 * Call them only where they are there.
 */
#ifndef LIVE_NEWER_H
#define LIVE_NEWER_H

#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIVE_WEAK __attribute__((weak))

/* As in rdkafka.h of the version that has them; numbers of enums are ints. */
#if RD_KAFKA_VERSION < 0x020100ff
LIVE_WEAK int32_t rd_kafka_message_leader_epoch(const rd_kafka_message_t *rkmessage);
#endif

#if RD_KAFKA_VERSION < 0x020200ff
#define RD_KAFKA_EVENT_INCREMENTALALTERCONFIGS_RESULT 0x20000
typedef rd_kafka_event_t rd_kafka_IncrementalAlterConfigs_result_t;
typedef int rd_kafka_AlterConfigOpType_t;

LIVE_WEAK rd_kafka_error_t *
rd_kafka_ConfigResource_add_incremental_config(rd_kafka_ConfigResource_t *config, const char *name,
                                               rd_kafka_AlterConfigOpType_t op_type,
                                               const char *value);
LIVE_WEAK void rd_kafka_IncrementalAlterConfigs(rd_kafka_t *rk, rd_kafka_ConfigResource_t **configs,
                                                size_t config_cnt,
                                                const rd_kafka_AdminOptions_t *options,
                                                rd_kafka_queue_t *rkqu);
LIVE_WEAK const rd_kafka_ConfigResource_t **rd_kafka_IncrementalAlterConfigs_result_resources(
    const rd_kafka_IncrementalAlterConfigs_result_t *result, size_t *cntp);
LIVE_WEAK const rd_kafka_IncrementalAlterConfigs_result_t *
rd_kafka_event_IncrementalAlterConfigs_result(rd_kafka_event_t *rkev);
#endif

#if RD_KAFKA_VERSION < 0x020600ff
typedef struct rd_kafka_ElectLeaders_s rd_kafka_ElectLeaders_t;
typedef rd_kafka_event_t rd_kafka_ElectLeaders_result_t;
typedef struct rd_kafka_topic_partition_result_s rd_kafka_topic_partition_result_t;
typedef int rd_kafka_ElectionType_t;

LIVE_WEAK rd_kafka_ElectLeaders_t *
rd_kafka_ElectLeaders_new(rd_kafka_ElectionType_t election_type,
                          rd_kafka_topic_partition_list_t *partitions);
LIVE_WEAK void rd_kafka_ElectLeaders_destroy(rd_kafka_ElectLeaders_t *elect_leaders);
LIVE_WEAK void rd_kafka_ElectLeaders(rd_kafka_t *rk, rd_kafka_ElectLeaders_t *elect_leaders,
                                     const rd_kafka_AdminOptions_t *options,
                                     rd_kafka_queue_t *rkqu);
LIVE_WEAK const rd_kafka_ElectLeaders_result_t *
rd_kafka_event_ElectLeaders_result(rd_kafka_event_t *rkev);
LIVE_WEAK const rd_kafka_topic_partition_result_t **
rd_kafka_ElectLeaders_result_partitions(const rd_kafka_ElectLeaders_result_t *result, size_t *cntp);
LIVE_WEAK const rd_kafka_error_t *
rd_kafka_topic_partition_result_error(const rd_kafka_topic_partition_result_t *partition_result);
#endif

enum { LIVE_ALTER_SET = 0, LIVE_ELECT_PREFERRED = 0, LIVE_ELECT_UNCLEAN = 1 };

/* Since 2.1.0: the leader epoch of a record; -1 before, and where there is none. */
static inline int32_t live_newer_leader_epoch(const rd_kafka_message_t *message)
{
    return rd_kafka_message_leader_epoch == NULL ? -1 : rd_kafka_message_leader_epoch(message);
}

/* Since 2.2.0: configs one by one. */
static inline bool live_newer_has_alter_configs(void)
{
    return rd_kafka_IncrementalAlterConfigs != NULL;
}

/* Since 2.6.0: elections. */
static inline bool live_newer_has_elections(void)
{
    return rd_kafka_ElectLeaders != NULL;
}

#endif /* LIVE_NEWER_H */
