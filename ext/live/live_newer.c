/* SPDX-License-Identifier: MIT */
#include "ext/live/live_newer.h"

#define WEAK __attribute__((weak))

/* As in rdkafka.h of the version that has them; numbers of enums are ints. */
#if RD_KAFKA_VERSION < 0x020100ff
WEAK int32_t rd_kafka_message_leader_epoch(const rd_kafka_message_t *rkmessage);
#endif

#if RD_KAFKA_VERSION < 0x020200ff
typedef rd_kafka_event_t rd_kafka_IncrementalAlterConfigs_result_t;
typedef int rd_kafka_AlterConfigOpType_t;

WEAK rd_kafka_error_t *
rd_kafka_ConfigResource_add_incremental_config(rd_kafka_ConfigResource_t *config, const char *name,
                                               rd_kafka_AlterConfigOpType_t op_type,
                                               const char *value);
WEAK void rd_kafka_IncrementalAlterConfigs(rd_kafka_t *rk, rd_kafka_ConfigResource_t **configs,
                                           size_t config_cnt,
                                           const rd_kafka_AdminOptions_t *options,
                                           rd_kafka_queue_t *rkqu);
WEAK const rd_kafka_ConfigResource_t **rd_kafka_IncrementalAlterConfigs_result_resources(
    const rd_kafka_IncrementalAlterConfigs_result_t *result, size_t *cntp);
WEAK const rd_kafka_IncrementalAlterConfigs_result_t *
rd_kafka_event_IncrementalAlterConfigs_result(rd_kafka_event_t *rkev);
#endif

#if RD_KAFKA_VERSION < 0x020600ff
typedef struct rd_kafka_ElectLeaders_s rd_kafka_ElectLeaders_t;
typedef rd_kafka_event_t rd_kafka_ElectLeaders_result_t;
typedef struct rd_kafka_topic_partition_result_s rd_kafka_topic_partition_result_t;
typedef int rd_kafka_ElectionType_t;

WEAK rd_kafka_ElectLeaders_t *
rd_kafka_ElectLeaders_new(rd_kafka_ElectionType_t election_type,
                          rd_kafka_topic_partition_list_t *partitions);
WEAK void rd_kafka_ElectLeaders_destroy(rd_kafka_ElectLeaders_t *elect_leaders);
WEAK void rd_kafka_ElectLeaders(rd_kafka_t *rk, rd_kafka_ElectLeaders_t *elect_leaders,
                                const rd_kafka_AdminOptions_t *options, rd_kafka_queue_t *rkqu);
WEAK const rd_kafka_ElectLeaders_result_t *
rd_kafka_event_ElectLeaders_result(rd_kafka_event_t *rkev);
WEAK const rd_kafka_topic_partition_result_t **
rd_kafka_ElectLeaders_result_partitions(const rd_kafka_ElectLeaders_result_t *result, size_t *cntp);
WEAK const rd_kafka_error_t *
rd_kafka_topic_partition_result_error(const rd_kafka_topic_partition_result_t *partition_result);
#endif

enum { ALTER_SET = 0, ELECT_PREFERRED = 0, ELECT_UNCLEAN = 1 };

int32_t live_newer_leader_epoch(const rd_kafka_message_t *message)
{
    return rd_kafka_message_leader_epoch == NULL ? -1 : rd_kafka_message_leader_epoch(message);
}

bool live_newer_has_alter_configs(void)
{
    return rd_kafka_IncrementalAlterConfigs != NULL;
}

rd_kafka_error_t *live_newer_set_config(rd_kafka_ConfigResource_t *resource, const char *name,
                                        const char *value)
{
    return rd_kafka_ConfigResource_add_incremental_config(resource, name, ALTER_SET, value);
}

void live_newer_alter_configs(rd_kafka_t *rk, rd_kafka_ConfigResource_t **resources, size_t count,
                              const rd_kafka_AdminOptions_t *options, rd_kafka_queue_t *queue)
{
    rd_kafka_IncrementalAlterConfigs(rk, resources, count, options, queue);
}

const rd_kafka_ConfigResource_t **live_newer_altered(rd_kafka_event_t *event, size_t *count)
{
    return rd_kafka_IncrementalAlterConfigs_result_resources(
        rd_kafka_event_IncrementalAlterConfigs_result(event), count);
}

bool live_newer_has_elections(void)
{
    return rd_kafka_ElectLeaders != NULL;
}

void live_newer_elect(rd_kafka_t *rk, bool is_unclean, rd_kafka_topic_partition_list_t *partitions,
                      const rd_kafka_AdminOptions_t *options, rd_kafka_queue_t *queue)
{
    rd_kafka_ElectLeaders_t *request =
        rd_kafka_ElectLeaders_new(is_unclean ? ELECT_UNCLEAN : ELECT_PREFERRED, partitions);

    rd_kafka_ElectLeaders(rk, request, options, queue);
    rd_kafka_ElectLeaders_destroy(request);
}

rd_kafka_error_t *live_newer_elected(rd_kafka_event_t *event)
{
    const rd_kafka_error_t *failed = NULL;
    size_t count = 0;
    const rd_kafka_topic_partition_result_t **results =
        rd_kafka_ElectLeaders_result_partitions(rd_kafka_event_ElectLeaders_result(event), &count);

    for (size_t i = 0; failed == NULL && i < count; i++) {
        failed = rd_kafka_topic_partition_result_error(results[i]);
    }
    /* The answer owns its errors. */
    return failed == NULL || rd_kafka_error_code(failed) == RD_KAFKA_RESP_ERR_NO_ERROR
               ? NULL
               : rd_kafka_error_new(rd_kafka_error_code(failed), "%s",
                                    rd_kafka_error_string(failed));
}
