/* SPDX-License-Identifier: MIT */
/* cluster.state: written whole; read into an empty cluster, checksum first, then line by line. */
#include "core/durable/state_file.h"

#include "core/base/assert.h"
#include "core/base/broker_list.h"
#include "core/base/crc32c.h"
#include "core/base/uuid.h"
#include "core/format/segment_name.h"
#include "core/replication/variant.h"

#include <inttypes.h>
#include <string.h>

enum {
    STATE_VERSION = 1,
    STATE_SIZE_MAX = 1 << 28,    /* Bounds the memory for a file that is something else. */
    STATE_CRC_LINE_SIZE = 16,    /* "crc32c ", eight digits, newline. */
    STATE_LISTS = 6,             /* Of a partition: replicas to removing. */
    PARTITION_LINE_SIZE_MIN = 48 /* "partition 0 - 0 0 recovered [1] [] [] [] [] [] [0]" */
};

/* A slot's position in its file stays far inside an int64. */
#define SLOTS_MAX (INT64_C(1) << 48)

/* By enum hw_broker_state, and two more for those that run. */
enum { STATE_UNREGISTERED = HW_BROKER_SHUTDOWN + 1, STATE_STOPPING, STATE_BROKER_WORDS };
static const char *const state_broker_words[STATE_BROKER_WORDS] = {
    [HW_BROKER_RUNNING] = "running",   [HW_BROKER_CRASHED] = "crashed",
    [HW_BROKER_SHUTDOWN] = "shutdown", [STATE_UNREGISTERED] = "unregistered",
    [STATE_STOPPING] = "stopping",
};

/* By fenced + 2 * in_controlled_shutdown. */
enum { STATE_REGISTRATION_WORDS = 4 };
static const char *const state_registration_words[STATE_REGISTRATION_WORDS] = {
    "active", "fenced", "leaving", "fenced-leaving"};

static const char *const state_recovery_words[] = {"recovered", "recovering"};

/* ------------------------------------------------------------------------- cluster and brokers */

/* One line of the head: a keyword and a number. */
static void state_number_line(struct hw_state_lines *lines, const char *keyword, int64_t *number,
                              int64_t minimum, int64_t maximum)
{
    hw_state_begin(lines, keyword, 1);
    hw_state_number(lines, number, minimum, maximum);
    (void)hw_state_insist(lines, true, "the number is out of range");
    hw_state_end(lines);
}

static void state_head(struct hw_state_lines *lines, struct hw_cluster *cluster)
{
    int64_t slots = (int64_t)cluster->next_slot;

    hw_state_format(lines, "highwater", STATE_VERSION);
    state_number_line(lines, "clock", &cluster->now_ms, 0, HW_CLOCK_MS_MAX);
    hw_state_begin(lines, "random", 1);
    hw_state_hex(lines, &cluster->random.state);
    (void)hw_state_insist(lines, true, "the state of the generator is not 16 digits");
    hw_state_end(lines);
    state_number_line(lines, "controller", &cluster->controller.next_broker_epoch, 1, INT64_MAX);
    state_number_line(lines, "slots", &slots, 1, SLOTS_MAX);
    cluster->next_slot = (size_t)slots;
}

static void state_config(struct hw_state_lines *lines, const char *keyword, const char **name,
                         const char **value)
{
    hw_state_begin(lines, keyword, 2);
    hw_state_word(lines, name);
    hw_state_escaped(lines, value);
    (void)hw_state_insist(lines, true, "the value is not text");
}

static void state_write_configs(struct hw_state_lines *lines, const char *keyword,
                                const struct hw_config_values *configs)
{
    for (size_t i = 0; configs->values != NULL && i < hw_config_count(); i++) {
        const char *name = hw_config_entry_at(i)->name;
        const char *value = configs->values[i];

        if (value != NULL) {
            state_config(lines, keyword, &name, &value);
            hw_state_end(lines);
        }
    }
}

/* Lines with settings, as many as there are. */
static void state_read_configs(struct hw_state_lines *lines, const char *keyword,
                               enum hw_config_scope scope, struct hw_config_values *values)
{
    while (hw_state_is_at(lines, keyword)) {
        struct hw_error refused = {.message = "the setting is not there for a topic, or twice"};
        const char *name;
        const char *value;
        size_t index = 0;

        state_config(lines, keyword, &name, &value);
        if (lines->status != HW_OK) {
            return;
        }
        if (hw_config_find(name, &index, &refused) != HW_OK ||
            (scope == HW_CONFIG_TOPIC && hw_config_entry_at(index)->scope != HW_CONFIG_TOPIC) ||
            (values->values != NULL && values->values[index] != NULL)) {
            hw_state_malformed(lines, refused.message);
            return;
        }
        lines->status = hw_config_set(values, index, value, &refused);
        if (lines->status == HW_NO_MEMORY) {
            *lines->error = refused;
        } else if (lines->status != HW_OK) {
            hw_state_malformed(lines, refused.message);
        }
        hw_state_end(lines);
    }
}

/* The fields of a broker's line. */
struct state_broker {
    hw_broker_id_t id;
    size_t state;
    int64_t epoch;
    size_t registration;
    hw_time_ms_t down_since_ms; /* -1: HW_TIME_NEVER. */
    const char *rack;
    const char *dir;
};

static void state_broker(struct hw_state_lines *lines, const struct hw_cluster *cluster,
                         struct state_broker *broker)
{
    hw_state_begin(lines, "broker", 7);
    hw_state_int32(lines, &broker->id, 0, INT32_MAX);
    hw_state_name(lines, &broker->state, state_broker_words, STATE_BROKER_WORDS);
    hw_state_number(lines, &broker->epoch, 1, cluster->controller.next_broker_epoch - 1);
    hw_state_name(lines, &broker->registration, state_registration_words, STATE_REGISTRATION_WORDS);
    hw_state_number(lines, &broker->down_since_ms, -1, cluster->now_ms);
    hw_state_text(lines, &broker->rack);
    hw_state_text(lines, &broker->dir);
    (void)hw_state_insist(lines, broker->dir == NULL || strlen(broker->dir) < HW_PATH_MAX,
                          "a field of the broker is out of range");
}

static void state_write_broker(struct hw_state_lines *lines, const struct hw_cluster *cluster,
                               const struct hw_broker *broker)
{
    const struct hw_registration *registration =
        hw_metadata_find(&cluster->controller.metadata, broker->id);
    struct state_broker written = {
        .id = broker->id, .rack = broker->rack, .dir = broker->is_dir_given ? broker->dir : NULL};

    HW_ASSERT(registration != NULL);
    written.state = broker->state != HW_BROKER_RUNNING ? (size_t)broker->state
                    : broker->is_unregistered          ? (size_t)STATE_UNREGISTERED
                    : broker->leaves                   ? (size_t)STATE_STOPPING
                                                       : (size_t)HW_BROKER_RUNNING;
    written.down_since_ms = broker->down_since_ms == HW_TIME_NEVER ? -1 : broker->down_since_ms;
    written.epoch = registration->epoch;
    written.registration =
        (registration->fenced ? 1U : 0U) + (registration->in_controlled_shutdown ? 2U : 0U);
    state_broker(lines, cluster, &written);
    hw_state_end(lines);
}

static void state_read_broker(struct hw_state_lines *lines, struct hw_cluster *cluster)
{
    struct hw_metadata *metadata = &cluster->controller.metadata;
    struct state_broker read = {.dir = NULL};
    struct hw_broker *broker;

    state_broker(lines, cluster, &read);
    if (lines->status == HW_OK && read.dir != NULL && cluster->snapshots != NULL) {
        lines->status = hw_error_set(lines->error, HW_MISUSE,
                                     "broker %" PRId32 " has its logs in '%.300s', which is not"
                                     " copied with the cluster",
                                     read.id, read.dir);
    }
    if (!hw_state_insist(
            lines,
            metadata->count < HW_BROKERS_MAX &&
                (metadata->count == 0 || metadata->registrations[metadata->count - 1].id < read.id),
            "too many brokers, or not in order of id")) {
        return;
    }
    lines->status =
        hw_cluster_insert_broker(cluster, read.id, read.rack, read.dir, &broker, lines->error);
    if (lines->status != HW_OK) {
        return;
    }
    broker->is_unregistered = read.state == STATE_UNREGISTERED;
    broker->leaves = read.state == STATE_STOPPING;
    broker->state = broker->is_unregistered || broker->leaves ? HW_BROKER_RUNNING
                                                              : (enum hw_broker_state)read.state;
    broker->down_since_ms = read.down_since_ms == -1 ? HW_TIME_NEVER : read.down_since_ms;
    metadata->registrations[metadata->count++] =
        (struct hw_registration){.id = read.id,
                                 .epoch = read.epoch,
                                 .fenced = (read.registration & 1) != 0,
                                 .in_controlled_shutdown = (read.registration & 2) != 0};
    hw_state_end(lines);
}

static void state_cut(struct hw_state_lines *lines, const struct hw_metadata *metadata,
                      struct hw_cut_link *cut)
{
    hw_state_begin(lines, "cut", 2);
    hw_state_link_end(lines, metadata, false, &cut->a);
    hw_state_link_end(lines, metadata, false, &cut->b);
    (void)hw_state_insist(lines, cut->a != cut->b, "there is no such link");
}

static void state_read_cut(struct hw_state_lines *lines, struct hw_cluster *cluster)
{
    struct hw_links *links = &cluster->links;
    struct hw_cut_link cut = {HW_BROKER_ID_NONE, HW_BROKER_ID_NONE};

    state_cut(lines, &cluster->controller.metadata, &cut);
    if (hw_state_insist(lines,
                        links->count < HW_CUT_LINKS_MAX && hw_links_connected(links, cut.a, cut.b),
                        "too many links are cut, or one of them twice")) {
        lines->status = hw_links_cut(links, cluster->allocator, cut.a, cut.b, lines->error);
    }
    hw_state_end(lines);
}

/* -------------------------------------------------------------------------------------- topics */

/* What hw_partition_record_check() asserts, and that there are such brokers. */
static bool is_record_valid(const struct hw_partition_record *record,
                            const struct hw_metadata *metadata)
{
    for (int32_t i = 0; i < record->replicas.count; i++) {
        if (hw_metadata_find(metadata, record->replicas.ids[i]) == NULL) {
            return false;
        }
    }
    return record->replicas.count > 0 &&
           hw_broker_list_is_subset(&record->isr, &record->replicas) &&
           hw_broker_list_is_subset(&record->elr, &record->replicas) &&
           hw_broker_list_is_subset(&record->adding, &record->replicas) &&
           hw_broker_list_is_subset(&record->removing, &record->replicas) &&
           hw_broker_list_is_disjoint(&record->isr, &record->elr) &&
           hw_broker_list_is_disjoint(&record->adding, &record->removing) &&
           (record->leader == HW_BROKER_ID_NONE ||
            hw_broker_list_contains(&record->isr, record->leader));
}

static void state_partition(struct hw_state_lines *lines, const struct hw_cluster *cluster,
                            struct hw_topic *topic, int32_t index)
{
    struct hw_partition_record *record = &topic->partitions[index].record;
    struct hw_broker_list *lists[STATE_LISTS] = {&record->replicas, &record->isr,
                                                 &record->elr,      &record->last_known_elr,
                                                 &record->adding,   &record->removing};
    size_t recovery = record->recovering;

    hw_state_begin(lines, "partition", 12);
    hw_state_int32(lines, &index, index, index);
    (void)hw_state_insist(lines, true, "the partitions are not in order");
    hw_state_int32(lines, &record->leader, HW_BROKER_ID_NONE, INT32_MAX);
    hw_state_int32(lines, &record->leader_epoch, 0, INT32_MAX);
    hw_state_int32(lines, &record->partition_epoch, 0, INT32_MAX);
    hw_state_name(lines, &recovery, state_recovery_words, 2);
    record->recovering = recovery == 1;
    for (size_t i = 0; i < STATE_LISTS; i++) {
        hw_state_brokers(lines, lists[i]);
    }
    hw_state_list(lines, topic->partitions[index].slots, record->replicas.count,
                  (int64_t)cluster->next_slot - 1);
    if (hw_state_insist(lines, true, "a field of the partition is out of range")) {
        (void)hw_state_insist(
            lines, lines->out != NULL || is_record_valid(record, &cluster->controller.metadata),
            "the lists of brokers contradict each other");
    }
    hw_state_end(lines);
}

/* The fields of a topic's line. */
struct state_topic {
    const char *name;
    struct hw_uuid id;
    int32_t partitions;
    int32_t replication_factor;
    int32_t sticky_partition;
};

static void state_topic(struct hw_state_lines *lines, struct state_topic *topic)
{
    hw_state_begin(lines, "topic", 5);
    hw_state_word(lines, &topic->name);
    hw_state_uuid(lines, &topic->id);
    hw_state_int32(lines, &topic->partitions, 1, HW_PARTITIONS_MAX);
    hw_state_int32(lines, &topic->replication_factor, 1, HW_REPLICAS_MAX);
    hw_state_int32(lines, &topic->sticky_partition, 0, topic->partitions - 1);
}

static void state_undecided(struct hw_state_lines *lines)
{
    hw_state_begin(lines, "undecided", 0);
    hw_state_end(lines);
}

static void state_write_topic(struct hw_state_lines *lines, const struct hw_cluster *cluster,
                              struct hw_topic *topic)
{
    struct state_topic written = {topic->name, topic->id, topic->partition_count,
                                  topic->replication_factor, topic->sticky_partition};

    state_topic(lines, &written);
    hw_state_end(lines);
    if (topic->decision != HW_TOPIC_DECIDED) {
        state_undecided(lines);
    }
    state_write_configs(lines, "topic-config", &topic->configs);
    for (int32_t p = 0; p < topic->partition_count; p++) {
        hw_partition_record_check(&topic->partitions[p].record); /* Reading insists on it. */
        state_partition(lines, cluster, topic, p);
    }
}

static void state_read_topic(struct hw_state_lines *lines, struct hw_cluster *cluster)
{
    /* So the memory for partitions stays in proportion to the file. */
    int64_t partitions_max = (lines->end - lines->at) / PARTITION_LINE_SIZE_MIN;
    struct state_topic read = {.name = ""};
    struct hw_config_values configs;
    struct hw_topic *topic = NULL;
    bool is_undecided;

    state_topic(lines, &read);
    if (!hw_state_insist(lines,
                         hw_is_topic_name(read.name, strlen(read.name)) &&
                             !hw_uuid_is_zero(&read.id) && read.partitions <= partitions_max,
                         "a field of the topic is out of range") ||
        !hw_state_insist(lines,
                         cluster->topic_count == 0 ||
                             strcmp(cluster->topics[cluster->topic_count - 1]->name, read.name) < 0,
                         "the topics are not in order of name")) {
        return;
    }
    hw_state_end(lines);
    is_undecided = hw_state_is_at(lines, "undecided");
    if (is_undecided) {
        state_undecided(lines);
    }
    hw_config_values_init(&configs, cluster->allocator);
    state_read_configs(lines, "topic-config", HW_CONFIG_TOPIC, &configs);
    if (lines->status == HW_OK) {
        lines->status =
            hw_cluster_insert_topic(cluster, read.name, &read.id, read.partitions,
                                    read.replication_factor, &configs, &topic, lines->error);
    }
    hw_config_values_release(&configs);
    for (int32_t p = 0; lines->status == HW_OK && p < read.partitions; p++) {
        topic->sticky_partition = read.sticky_partition;
        topic->decision = is_undecided ? HW_TOPIC_UNDECIDED : HW_TOPIC_DECIDED;
        state_partition(lines, cluster, topic, p);
    }
}

/* ------------------------------------------------------------------------------------ the file */

static enum hw_status state_path(const struct hw_cluster *cluster, char path[HW_PATH_MAX],
                                 struct hw_error *error)
{
    return hw_path_join(path, cluster->directory, "cluster.state", error);
}

static void state_write(struct hw_state_lines *lines, struct hw_cluster *cluster)
{
    struct hw_buffer *out = lines->out;

    state_head(lines, cluster);
    hw_state_transactions(lines, &cluster->coordinator);
    state_write_configs(lines, "config", &cluster->configs);
    for (size_t i = 0; i < cluster->broker_count; i++) {
        state_write_broker(lines, cluster, cluster->brokers[i]);
    }
    for (int32_t i = 0; i < cluster->links.count; i++) {
        state_cut(lines, NULL, &cluster->links.cut[i]);
        hw_state_end(lines);
    }
    hw_state_write_times(lines, &cluster->timed);
    for (size_t i = 0; i < cluster->topic_count; i++) {
        state_write_topic(lines, cluster, cluster->topics[i]);
    }
    if (lines->status == HW_OK) {
        lines->status = hw_buffer_append_format(out, lines->error, "crc32c %08" PRIx32 "\n",
                                                hw_crc32c(out->bytes, out->size));
    }
}

enum hw_status hw_state_file_write(struct hw_cluster *cluster, struct hw_error *error)
{
    char path[HW_PATH_MAX];
    struct hw_buffer content;
    struct hw_state_lines lines = {.out = &content, .error = error};

    hw_buffer_init(&content, cluster->allocator);
    lines.status = state_path(cluster, path, error);
    state_write(&lines, cluster);
    if (lines.status == HW_OK && content.size > STATE_SIZE_MAX) {
        lines.status = hw_error_set(error, HW_MISUSE,
                                    "'%.300s' would have %zu bytes, at most %d: delete topics",
                                    path, content.size, (int)STATE_SIZE_MAX);
    }
    if (lines.status == HW_OK) {
        lines.status =
            hw_store_write_atomically(cluster->store, path, content.bytes, content.size, error);
    }
    hw_buffer_release(&content);
    if (lines.status == HW_OK) {
        cluster->is_state_dirty = false;
    }
    return lines.status;
}

/* Check the last line, and leave it out from then on. */
static enum hw_status check_crc(struct hw_state_lines *lines)
{
    static const char keyword[] = "crc32c ";
    size_t size = (size_t)(lines->end - lines->at);
    char *line = size < STATE_CRC_LINE_SIZE ? NULL : lines->end - STATE_CRC_LINE_SIZE;
    uint64_t crc;

    if (line == NULL || memcmp(line, keyword, sizeof keyword - 1) != 0 ||
        line[STATE_CRC_LINE_SIZE - 1] != '\n' || (line > lines->at && line[-1] != '\n')) {
        return hw_error_set(
            lines->error, HW_CORRUPT,
            "%s: the line with the checksum is missing at the end, the file was cut", lines->path);
    }
    lines->end = line;
    line[STATE_CRC_LINE_SIZE - 1] = '\0';
    if (!hw_state_parse_hex(line + sizeof keyword - 1, HW_STATE_CRC_DIGITS, &crc) ||
        crc != hw_crc32c(lines->at, (size_t)(lines->end - lines->at))) {
        return hw_error_set(lines->error, HW_CORRUPT,
                            "%s: its checksum is %08" PRIx32 ", its last line says %s", lines->path,
                            hw_crc32c(lines->at, (size_t)(line - lines->at)),
                            line + sizeof keyword - 1);
    }
    if (memchr(lines->at, '\0', (size_t)(lines->end - lines->at)) != NULL) {
        return hw_error_set(lines->error, HW_CORRUPT, "%s: it is not text", lines->path);
    }
    return HW_OK;
}

static void state_read(struct hw_state_lines *lines, struct hw_cluster *cluster)
{
    hw_state_next_line(lines);
    state_head(lines, cluster);
    hw_state_transactions(lines, &cluster->coordinator);
    /* What is being ended goes on in the name of a coordinator that began anew (X8.3). */
    cluster->is_state_dirty = cluster->coordinator.ending > 0;
    state_read_configs(lines, "config", HW_CONFIG_CLUSTER, &cluster->configs);
    hw_cluster_resolve(cluster); /* Brokers and topics go by it. */
    while (hw_state_is_at(lines, "broker")) {
        state_read_broker(lines, cluster);
    }
    while (hw_state_is_at(lines, "cut")) {
        state_read_cut(lines, cluster);
    }
    hw_state_read_times(lines, cluster);
    while (lines->status == HW_OK && lines->word_count > 0) {
        state_read_topic(lines, cluster);
    }
}

enum hw_status hw_state_file_read(struct hw_cluster *cluster, struct hw_error *error)
{
    char path[HW_PATH_MAX];
    struct hw_state_lines lines = {.path = path, .error = error};
    struct hw_buffer content;

    HW_ASSERT(cluster->broker_count == 0);
    HW_ASSERT(cluster->topic_count == 0);
    hw_buffer_init(&content, cluster->allocator);
    lines.status = state_path(cluster, path, error);
    if (lines.status == HW_OK) {
        lines.status = hw_store_read_whole(cluster->store, path, STATE_SIZE_MAX, &content, error);
    }
    if (lines.status == HW_OK) {
        lines.at = (char *)content.bytes;
        lines.end = content.size == 0 ? lines.at : lines.at + content.size;
        lines.status = check_crc(&lines);
    }
    if (lines.status == HW_OK) {
        state_read(&lines, cluster);
    }
    hw_buffer_release(&content);
    return lines.status;
}
