/* SPDX-License-Identifier: MIT */
/*
 * A cluster from copies of real brokers' directories:
 *
 *     1  whose they are is compared, their sizes are added up, then they are copied
 *     2  the partitions in them become topics, with what the metadata log knows of these, if any
 *     3  the cluster is written down, and goes on as any that is opened (resume.c)
 *     4  without metadata leaders are elected uncleanly: nobody knows who was in sync
 */
#include "core/base/broker_list.h"
#include "core/base/uuid.h"
#include "core/format/identity_files.h"
#include "core/format/segment_name.h"
#include "core/inspect/kafka_name.h"
#include "core/io/store_copy.h"
#include "core/verbs/adopt_metadata.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Internal topics stay behind: nobody here reads or writes them. */
static bool adopt_parse(const char *name, char topic[HW_TOPIC_NAME_MAX + 1], int32_t *partition)
{
    enum hw_kafka_partition_state state;
    size_t size;

    if (!hw_kafka_partition_name_parse(name, &size, partition, &state) || state != HW_KAFKA_LIVE ||
        !hw_is_topic_name(name, size) || strncmp(name, "__", 2) == 0) {
        return false;
    }
    memcpy(topic, name, size);
    topic[size] = '\0';
    return true;
}

static bool adopt_is_wanted(const char *name)
{
    char topic[HW_TOPIC_NAME_MAX + 1];
    int32_t partition;

    return adopt_parse(name, topic, &partition) || hw_kafka_is_log_directory_file(name) ||
           strcmp(name, ".kafka_cleanshutdown") == 0;
}

/* --------------------------------------------------------------------------------- the directories */

/* That it is this broker's, of the cluster that the first one is of; `first` has no id yet there. */
static enum hw_status adopt_check_owner(const struct hw_adopt *adopt,
                                        const struct hw_adopted_broker *broker,
                                        struct hw_meta_properties *first, struct hw_error *error)
{
    struct hw_meta_properties own;
    char id[HW_META_VALUE_SIZE];
    enum hw_status status = hw_meta_properties_read(&own, adopt->cluster->allocator,
                                                    adopt->from->disk, broker->directory, error);

    if (status != HW_OK) {
        return status;
    }
    if (!own.is_there) {
        return hw_error_set(error, HW_MISUSE,
                            "'%.300s' has no meta.properties: it is no broker's log directory",
                            broker->directory);
    }
    (void)snprintf(id, sizeof id, "%" PRId32, broker->id);
    if (strcmp(own.node_id, id) != 0) {
        return hw_error_set(error, HW_MISUSE,
                            "'%.200s' is the log directory of broker %.60s, not of broker %s",
                            broker->directory, own.node_id, id);
    }
    if (first->cluster_id[0] == '\0') {
        *first = own;
    }
    if (strcmp(own.cluster_id, first->cluster_id) != 0) {
        return hw_error_set(error, HW_MISUSE,
                            "'%.200s' is of cluster %.60s, the directory before it of %.60s: give "
                            "those of one cluster",
                            broker->directory, own.cluster_id, first->cluster_id);
    }
    return HW_OK;
}

static enum hw_status adopt_check(const struct hw_adopt *adopt, struct hw_error *error)
{
    const struct hw_adoption *from = adopt->from;
    struct hw_meta_properties first = {.cluster_id = ""};
    int64_t sum = 0;
    enum hw_status status = HW_OK;

    for (size_t i = 0; status == HW_OK && i < from->count; i++) {
        int64_t size = 0;

        status = hw_store_copy_size(from->disk, from->brokers[i].directory, adopt_is_wanted,
                                    adopt->cluster->allocator, &size, error);
        if (status == HW_OK) {
            status = adopt_check_owner(adopt, &from->brokers[i], &first, error);
        }
        if (status == HW_OK && size > from->bytes_max - sum) {
            return hw_error_set(error, HW_MISUSE,
                                "the directories up to '%.200s' have more bytes than a copy may "
                                "have, %" PRId64 ": the option memory says more",
                                from->brokers[i].directory, from->bytes_max);
        }
        sum += size;
    }
    return status;
}

static enum hw_status adopt_copy(const struct hw_adopt *adopt, struct hw_error *error)
{
    struct hw_cluster *cluster = adopt->cluster;
    enum hw_status status = hw_store_make_directory(cluster->store, cluster->directory, error);

    for (size_t i = 0; status == HW_OK && i < adopt->from->count; i++) {
        const struct hw_adopted_broker *source = &adopt->from->brokers[i];
        struct hw_broker *broker;

        status = hw_cluster_insert_broker(cluster, source->id, NULL, NULL, &broker, error);
        if (status == HW_OK) {
            (void)hw_controller_register(&cluster->controller, source->id);
            status = hw_store_copy_directory(adopt->from->disk, source->directory, cluster->store,
                                             broker->dir, adopt_is_wanted, adopt->from->bytes_max,
                                             cluster->allocator, error);
        }
    }
    return status;
}

/* ------------------------------------------------------------------------------------- the topics */

static int adopt_compare(const void *a, const void *b)
{
    const struct hw_adopt_entry *left = a;
    const struct hw_adopt_entry *right = b;
    int order = strcmp(left->topic, right->topic);

    if (order == 0) {
        order = (left->partition > right->partition) - (left->partition < right->partition);
    }
    return order != 0 ? order : (left->broker > right->broker) - (left->broker < right->broker);
}

static enum hw_status adopt_add(struct hw_adopt *adopt, const struct hw_broker *broker,
                                const char *name, struct hw_error *error)
{
    struct hw_cluster *cluster = adopt->cluster;
    struct hw_adopt_entry entry = {.broker = broker->id};
    char path[HW_PATH_MAX];
    enum hw_status status;

    if (!adopt_parse(name, entry.topic, &entry.partition)) {
        return HW_OK;
    }
    if (entry.partition >= HW_PARTITIONS_MAX) {
        return hw_error_set(error, HW_MISUSE, "broker %" PRId32 " has %s: at most %d partitions",
                            broker->id, name, (int)HW_PARTITIONS_MAX);
    }
    status = hw_path_format(path, error, "%s/%s/partition.metadata", broker->dir, name);
    if (status == HW_OK) {
        status =
            hw_partition_metadata_read(cluster->store, path, cluster->allocator, &entry.id, error);
    }
    if (status != HW_OK && status != HW_NOT_FOUND) {
        return status;
    }
    entry.known = adopt->has_metadata ? hw_adopt_known(adopt, &entry) : NULL;
    if (adopt->has_metadata && entry.known == NULL) {
        return HW_OK; /* Its broker would put it aside. */
    }
    status = hw_array_reserve(cluster->allocator, (void **)&adopt->entries, &adopt->capacity,
                              adopt->count + 1, sizeof *adopt->entries, error);
    if (status == HW_OK) {
        adopt->entries[adopt->count++] = entry;
    }
    return status;
}

static enum hw_status adopt_list_partitions(struct hw_adopt *adopt, struct hw_error *error)
{
    struct hw_cluster *cluster = adopt->cluster;
    enum hw_status status = HW_OK;

    for (size_t i = 0; status == HW_OK && i < cluster->broker_count; i++) {
        struct hw_name_list names = {.allocator = cluster->allocator};

        status = hw_store_list(cluster->store, cluster->brokers[i]->dir, &names, error);
        for (size_t n = 0; status == HW_OK && n < names.count; n++) {
            status = adopt_add(adopt, cluster->brokers[i], names.names[n], error);
        }
        hw_name_list_release(&names);
    }
    if (adopt->count > 0) {
        qsort(adopt->entries, adopt->count, sizeof *adopt->entries, adopt_compare);
    }
    return status;
}

/* The id that all directories of the topic agree in; a new one where none has any. */
static enum hw_status adopt_topic_id(struct hw_cluster *cluster,
                                     const struct hw_adopt_entry *entries, size_t count,
                                     struct hw_uuid *id, struct hw_error *error)
{
    *id = (struct hw_uuid){.bytes = {0}};
    for (size_t i = 0; i < count; i++) {
        if (hw_uuid_is_zero(id)) {
            *id = entries[i].id;
        } else if (!hw_uuid_is_zero(&entries[i].id) && !hw_uuid_equal(id, &entries[i].id)) {
            return hw_error_set(error, HW_MISUSE,
                                "%s-%" PRId32 " of broker %" PRId32 " is of another topic of that "
                                "name than %s-%" PRId32 " of broker %" PRId32
                                ": leave one of these brokers out",
                                entries[i].topic, entries[i].partition, entries[i].broker,
                                entries[0].topic, entries[0].partition, entries[0].broker);
        }
    }
    if (hw_uuid_is_zero(id)) {
        *id = hw_random_uuid(&cluster->random);
    }
    return HW_OK;
}

/* The records of one topic, whose directories these are. One of which there is none is empty. */
static enum hw_status adopt_fill_topic(struct hw_cluster *cluster, struct hw_topic *topic,
                                       const struct hw_adopt_entry *entries, size_t count,
                                       struct hw_error *error)
{
    for (size_t i = 0; i < count; i++) {
        struct hw_partition_record *record = &topic->partitions[entries[i].partition].record;

        if (record->replicas.count == HW_REPLICAS_MAX) {
            return hw_error_set(error, HW_MISUSE, "%s-%" PRId32 " is on more than %d brokers",
                                topic->name, entries[i].partition, (int)HW_REPLICAS_MAX);
        }
        hw_broker_list_add(&record->replicas, entries[i].broker);
    }
    for (int32_t p = 0; p < topic->partition_count; p++) {
        topic->partitions[p].record.leader = HW_BROKER_ID_NONE;
    }
    for (size_t i = 0; i < count; i++) {
        if (entries[i].known != NULL &&
            (i + 1 == count || entries[i + 1].partition != entries[i].partition)) {
            hw_adopt_record(&topic->partitions[entries[i].partition].record, entries[i].known);
        }
    }
    for (int32_t p = 0; p < topic->partition_count; p++) {
        struct hw_partition *partition = &topic->partitions[p];

        if (!cluster->controller.elr_enabled) {
            partition->record.elr.count = 0;
        }
        if (partition->record.replicas.count == 0) {
            hw_broker_list_add(&partition->record.replicas, entries[0].broker);
        }
        for (int32_t r = 0; r < partition->record.replicas.count; r++) {
            partition->slots[r] = cluster->next_slot++;
        }
    }
    topic->replication_factor = topic->partitions[0].record.replicas.count;
    return HW_OK;
}

static enum hw_status adopt_topic(const struct hw_adopt *adopt,
                                  const struct hw_adopt_entry *entries, size_t count,
                                  struct hw_error *error)
{
    struct hw_cluster *cluster = adopt->cluster;
    struct hw_config_values configs;
    struct hw_topic *topic;
    struct hw_uuid id;
    enum hw_status status = adopt_topic_id(cluster, entries, count, &id, error);

    hw_config_values_init(&configs, cluster->allocator);
    if (status == HW_OK && adopt->has_metadata) {
        status = hw_adopt_configs(adopt, entries[0].topic, &configs, error);
    }
    if (status == HW_OK) {
        status =
            hw_cluster_insert_topic(cluster, entries[0].topic, &id,
                                    entries[count - 1].partition + 1, 1, &configs, &topic, error);
    }
    hw_config_values_release(&configs);
    return status == HW_OK ? adopt_fill_topic(cluster, topic, entries, count, error) : status;
}

static enum hw_status adopt_topics(const struct hw_adopt *adopt, struct hw_error *error)
{
    enum hw_status status = HW_OK;
    size_t at = 0;

    while (status == HW_OK && at < adopt->count) {
        size_t end = at;

        while (end < adopt->count &&
               strcmp(adopt->entries[end].topic, adopt->entries[at].topic) == 0) {
            end++;
        }
        status = adopt_topic(adopt, adopt->entries + at, end - at, error);
        at = end;
    }
    return status;
}

/* ------------------------------------------------------------------------------------ the leaders */

/* Whether it is the partition that an option names. */
static bool adopt_is_named(const struct hw_adopt_entry *entry, const char *partition)
{
    char name[HW_TOPIC_NAME_MAX + 16];

    (void)snprintf(name, sizeof name, "%s-%" PRId32, entry->topic, entry->partition);
    return strcmp(partition, name) == 0;
}

/* Who is named, has such a directory. */
static enum hw_status adopt_check_leaders(const struct hw_adopt *adopt, struct hw_error *error)
{
    for (size_t l = 0; l < adopt->from->leader_count; l++) {
        const struct hw_adopted_leader *leader = &adopt->from->leaders[l];
        size_t i = 0;

        while (i < adopt->count && (adopt->entries[i].broker != leader->broker ||
                                    !adopt_is_named(&adopt->entries[i], leader->partition))) {
            i++;
        }
        if (i == adopt->count) {
            return hw_error_set(error, HW_MISUSE,
                                "leaders: the directory of broker %" PRId32 " has no %.200s",
                                leader->broker, leader->partition);
        }
    }
    return HW_OK;
}

/* Who is named, or else has the latest epoch, and of these the longest log: what KIP-966 elects
 * where nobody is known to be in sync. HW_BROKER_ID_NONE: no log could be opened. */
static hw_broker_id_t adopt_choose(const struct hw_adopt *adopt, const struct hw_adopt_entry *entry)
{
    const struct hw_topic *topic = hw_cluster_topic(adopt->cluster, entry->topic);
    const struct hw_partition *partition = &topic->partitions[entry->partition];
    hw_broker_id_t chosen = HW_BROKER_ID_NONE;
    hw_epoch_t latest = HW_EPOCH_NONE;
    hw_offset_t longest = HW_OFFSET_NONE;

    for (size_t l = 0; l < adopt->from->leader_count; l++) {
        if (adopt_is_named(entry, adopt->from->leaders[l].partition)) {
            return adopt->from->leaders[l].broker;
        }
    }
    for (int32_t r = 0; r < partition->replica_count; r++) {
        const struct hw_log *log = partition->replicas[r]->log;
        hw_epoch_t epoch = hw_epoch_cache_latest_epoch(hw_log_epochs(log));

        if (chosen == HW_BROKER_ID_NONE || epoch > latest ||
            (epoch == latest && hw_log_end(log) > longest)) {
            chosen = partition->replicas[r]->broker;
            latest = epoch;
            longest = hw_log_end(log);
        }
    }
    return chosen;
}

static enum hw_status adopt_elect_all(const struct hw_adopt *adopt, struct hw_error *error)
{
    struct hw_cluster *cluster = adopt->cluster;
    enum hw_status status = HW_OK;

    cluster->is_on_disk = false; /* It is written down once, and not after each election. */
    for (size_t i = 0; status == HW_OK && !adopt->has_metadata && i < adopt->count; i++) {
        const struct hw_adopt_entry *entry = &adopt->entries[i];
        bool is_first = i == 0 || entry->partition != entry[-1].partition ||
                        strcmp(entry->topic, entry[-1].topic) != 0;
        hw_broker_id_t leader = is_first ? adopt_choose(adopt, entry) : HW_BROKER_ID_NONE;
        hw_epoch_t epoch;

        if (leader != HW_BROKER_ID_NONE) {
            status = hw_cluster_promote(cluster, entry->topic, entry->partition, leader, true,
                                        &epoch, error);
        }
    }
    cluster->is_on_disk = true;
    return status == HW_OK ? hw_cluster_write_state(cluster, error) : status;
}

static enum hw_status adopt_fill(struct hw_adopt *adopt, struct hw_error *error)
{
    const struct hw_adoption *from = adopt->from;
    enum hw_status status;

    if (!adopt->cluster->variant->has_controller) {
        return hw_error_set(error, HW_MISUSE,
                            "nobody is known to be in sync, so leaders are elected uncleanly, not "
                            "under %s: leave the option protocol out",
                            adopt->cluster->variant->name);
    }
    status = adopt_check(adopt, error);
    for (size_t i = 0; status == HW_OK && !from->has_leaders && i < from->count; i++) {
        status = hw_adopt_load_metadata(adopt, from->brokers[i].directory, error);
    }
    if (status == HW_OK) {
        status = adopt_copy(adopt, error);
    }
    if (status == HW_OK) {
        status = adopt_list_partitions(adopt, error);
    }
    if (status == HW_OK) {
        status = adopt_check_leaders(adopt, error);
    }
    return status == HW_OK ? adopt_topics(adopt, error) : status;
}

enum hw_status hw_cluster_adopt(struct hw_cluster *cluster, const struct hw_adoption *adoption,
                                struct hw_error *error)
{
    struct hw_adopt adopt = {.cluster = cluster, .from = adoption};
    enum hw_status status;

    hw_metadata_state_init(&adopt.metadata, cluster->allocator);
    status = adopt_fill(&adopt, error);
    if (status == HW_OK) {
        status = hw_cluster_lock(cluster, error);
    }
    if (status == HW_OK) {
        status = hw_state_file_write(cluster, error);
    }
    if (status == HW_OK) {
        status = hw_cluster_resume(cluster, error);
    }
    if (status == HW_OK) {
        status = adopt_elect_all(&adopt, error);
    }
    hw_metadata_state_release(&adopt.metadata);
    hw_free(cluster->allocator, adopt.entries, adopt.capacity * sizeof *adopt.entries);
    return status;
}
