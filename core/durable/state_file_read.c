/* SPDX-License-Identifier: MIT */
/* Reading cluster.state into an empty cluster: checksum first, then line by line. */
#include "core/base/assert.h"
#include "core/base/broker_list.h"
#include "core/base/crc32c.h"
#include "core/base/uuid.h"
#include "core/durable/state_file.h"
#include "core/durable/state_words.h"
#include "core/format/topic_name.h"
#include "core/replication/variant.h"

#include <inttypes.h>
#include <string.h>

enum {
    PARTITION_LINE_SIZE_MIN = 48 /* "partition 0 - 0 0 recovered [1] [] [] [] [] [] [0]" */
};

/* The generator's state has this many hexadecimal digits, a checksum half of them. */
enum { RANDOM_DIGITS = 16, CRC_DIGITS = 8 };
enum { STATE_PARTITION_WORDS = 13 };
/* A slot's position in its file stays far inside an int64. */
#define SLOTS_MAX (INT64_C(1) << 48)

/* ------------------------------------------------------------------------- cluster and brokers */

/* One line of the head: a keyword and a number. */
static enum hw_status read_number(struct hw_state_reader *reader, const char *keyword,
                                  int64_t minimum, int64_t maximum, int64_t *number)
{
    enum hw_status status = hw_state_expect(reader, keyword, 2);

    if (status == HW_OK && !hw_state_parse_number(reader->words[1], minimum, maximum, number)) {
        return hw_state_malformed(reader, "the number is out of range");
    }
    return status == HW_OK ? hw_state_next_line(reader) : status;
}

static enum hw_status read_random(struct hw_state_reader *reader, uint64_t *state)
{
    enum hw_status status = hw_state_expect(reader, "random", 2);

    if (status == HW_OK && !hw_state_parse_hex(reader->words[1], RANDOM_DIGITS, state)) {
        return hw_state_malformed(reader, "the state of the generator is not 16 digits");
    }
    return status == HW_OK ? hw_state_next_line(reader) : status;
}

static enum hw_status read_head(struct hw_cluster *cluster, struct hw_state_reader *reader)
{
    int64_t slots = 0;
    enum hw_status status = hw_state_next_line(reader);

    if (status == HW_OK) {
        status = hw_state_expect_format(reader, "highwater", HW_STATE_VERSION);
    }
    if (status == HW_OK) {
        status = hw_state_next_line(reader);
    }
    if (status == HW_OK) {
        status = read_number(reader, "clock", 0, HW_CLOCK_MS_MAX, &cluster->now_ms);
    }
    if (status == HW_OK) {
        status = read_random(reader, &cluster->random.state);
    }
    if (status == HW_OK) {
        status =
            read_number(reader, "controller", 1, INT64_MAX, &cluster->controller.next_broker_epoch);
    }
    if (status == HW_OK) {
        status = read_number(reader, "slots", 1, SLOTS_MAX, &slots);
    }
    cluster->next_slot = (size_t)slots;
    return status;
}

/* Lines with settings, as many as there are. */
static enum hw_status read_configs(struct hw_state_reader *reader, const char *keyword,
                                   enum hw_config_scope scope, struct hw_config_values *values)
{
    enum hw_status status = HW_OK;

    while (status == HW_OK && hw_state_is_at(reader, keyword)) {
        struct hw_error refused = {.message = "the setting is not there for a topic, or twice"};
        size_t index = 0;

        status = hw_state_expect(reader, keyword, 3);
        if (status != HW_OK) {
            return status;
        }
        if (!hw_state_unescape(reader->words[2])) {
            return hw_state_malformed(reader, "the value is not text");
        }
        if (hw_config_find(reader->words[1], &index, &refused) != HW_OK ||
            (scope == HW_CONFIG_TOPIC && hw_config_entry_at(index)->scope != HW_CONFIG_TOPIC) ||
            (values->values != NULL && values->values[index] != NULL)) {
            return hw_state_malformed(reader, refused.message);
        }
        status = hw_config_set(values, index, reader->words[2], &refused);
        if (status == HW_NO_MEMORY) {
            *reader->error = refused;
        } else if (status != HW_OK) {
            return hw_state_malformed(reader, refused.message);
        }
        status = status == HW_OK ? hw_state_next_line(reader) : status;
    }
    return status;
}

/* The fields of a broker's line. */
struct broker_line {
    hw_broker_id_t id;
    size_t state;
    size_t registration;
    int64_t epoch;
    hw_time_ms_t down_since_ms;
    char *rack;
    char *dir;
};

static bool parse_broker(const struct hw_cluster *cluster, const struct hw_state_reader *reader,
                         struct broker_line *line)
{
    char *const *words = reader->words;
    bool never = strcmp(words[5], "-") == 0;

    line->down_since_ms = HW_TIME_NEVER;
    return hw_state_parse_int32(words[1], 0, INT32_MAX, &line->id) &&
           hw_state_parse_name(words[2], hw_state_broker_words, HW_STATE_BROKER_WORDS,
                               &line->state) &&
           hw_state_parse_number(words[3], 1, cluster->controller.next_broker_epoch - 1,
                                 &line->epoch) &&
           hw_state_parse_name(words[4], hw_state_registration_words, HW_STATE_REGISTRATION_WORDS,
                               &line->registration) &&
           (never || hw_state_parse_number(words[5], 0, cluster->now_ms, &line->down_since_ms)) &&
           hw_state_parse_text(words[6], &line->rack) &&
           hw_state_parse_text(words[7], &line->dir) &&
           (line->dir == NULL || strlen(line->dir) < HW_PATH_MAX);
}

static enum hw_status read_broker(struct hw_cluster *cluster, struct hw_state_reader *reader)
{
    struct hw_metadata *metadata = &cluster->controller.metadata;
    struct broker_line line;
    struct hw_broker *broker;
    enum hw_status status = hw_state_expect(reader, "broker", 8);

    if (status != HW_OK) {
        return status;
    }
    if (!parse_broker(cluster, reader, &line)) {
        return hw_state_malformed(reader, "a field of the broker is out of range");
    }
    if (line.dir != NULL && cluster->snapshots != NULL) {
        return hw_error_set(reader->error, HW_MISUSE,
                            "broker %" PRId32 " has its logs in '%.300s', which is not copied with "
                            "the cluster",
                            line.id, line.dir);
    }
    if (metadata->count == HW_BROKERS_MAX ||
        (metadata->count > 0 && metadata->registrations[metadata->count - 1].id >= line.id)) {
        return hw_state_malformed(reader, "too many brokers, or not in order of id");
    }
    status =
        hw_cluster_insert_broker(cluster, line.id, line.rack, line.dir, &broker, reader->error);
    if (status != HW_OK) {
        return status;
    }
    broker->is_unregistered = line.state == HW_STATE_UNREGISTERED;
    broker->leaves = line.state == HW_STATE_STOPPING;
    broker->state = broker->is_unregistered || broker->leaves ? HW_BROKER_RUNNING
                                                              : (enum hw_broker_state)line.state;
    broker->down_since_ms = line.down_since_ms;
    metadata->registrations[metadata->count++] =
        (struct hw_registration){.id = line.id,
                                 .epoch = line.epoch,
                                 .fenced = (line.registration & 1) != 0,
                                 .in_controlled_shutdown = (line.registration & 2) != 0};
    return hw_state_next_line(reader);
}

static enum hw_status read_link(struct hw_cluster *cluster, struct hw_state_reader *reader)
{
    const struct hw_metadata *metadata = &cluster->controller.metadata;
    struct hw_links *links = &cluster->links;
    hw_broker_id_t a;
    hw_broker_id_t b;
    enum hw_status status = hw_state_expect(reader, "cut", 3);

    if (status != HW_OK) {
        return status;
    }
    if (!hw_state_parse_link_end(metadata, reader->words[1], &a) ||
        !hw_state_parse_link_end(metadata, reader->words[2], &b) || a == b) {
        return hw_state_malformed(reader, "there is no such link");
    }
    if (links->count == HW_CUT_LINKS_MAX || !hw_links_connected(links, a, b)) {
        return hw_state_malformed(reader, "too many links are cut, or one of them twice");
    }
    status = hw_links_cut(links, cluster->allocator, a, b, reader->error);
    return status == HW_OK ? hw_state_next_line(reader) : status;
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

static bool parse_slots(char *word, const struct hw_cluster *cluster, size_t *slots, int32_t count)
{
    char *at = word;
    int64_t slot;
    int32_t read = 0;

    while (hw_state_next_in_list(&at, (int64_t)cluster->next_slot - 1, &slot)) {
        if (read == count) {
            return false;
        }
        slots[read++] = (size_t)slot;
    }
    return read == count && hw_state_is_list_end(word, at);
}

static bool parse_record(const struct hw_state_reader *reader, struct hw_partition_record *record)
{
    struct hw_broker_list *lists[HW_STATE_LISTS] = {&record->replicas, &record->isr,
                                                    &record->elr,      &record->last_known_elr,
                                                    &record->adding,   &record->removing};
    char *const *words = reader->words;
    size_t recovery;

    record->leader = HW_BROKER_ID_NONE;
    if (!(strcmp(words[2], "-") == 0 ||
          hw_state_parse_int32(words[2], 0, INT32_MAX, &record->leader)) ||
        !hw_state_parse_int32(words[3], 0, INT32_MAX, &record->leader_epoch) ||
        !hw_state_parse_int32(words[4], 0, INT32_MAX, &record->partition_epoch) ||
        !hw_state_parse_name(words[5], hw_state_recovery_words, HW_STATE_RECOVERY_WORDS,
                             &recovery)) {
        return false;
    }
    record->recovering = recovery == 1;
    for (size_t i = 0; i < HW_STATE_LISTS; i++) {
        if (!hw_state_parse_brokers(words[6 + i], lists[i])) {
            return false;
        }
    }
    return true;
}

static enum hw_status read_partition(const struct hw_cluster *cluster,
                                     struct hw_state_reader *reader, struct hw_topic *topic,
                                     int32_t index)
{
    struct hw_partition_record *record = &topic->partitions[index].record;
    int32_t number;
    enum hw_status status = hw_state_expect(reader, "partition", STATE_PARTITION_WORDS);

    if (status != HW_OK) {
        return status;
    }
    if (!hw_state_parse_int32(reader->words[1], index, index, &number)) {
        return hw_state_malformed(reader, "the partitions are not in order");
    }
    if (!parse_record(reader, record) ||
        !parse_slots(reader->words[12], cluster, topic->partitions[index].slots,
                     record->replicas.count)) {
        return hw_state_malformed(reader, "a field of the partition is out of range");
    }
    if (!is_record_valid(record, &cluster->controller.metadata)) {
        return hw_state_malformed(reader, "the lists of brokers contradict each other");
    }
    return hw_state_next_line(reader);
}

/* The fields of a topic's line. */
struct topic_line {
    const char *name;
    struct hw_uuid id;
    int32_t partitions;
    int32_t replication_factor;
    int32_t sticky_partition;
};

static bool parse_topic(const struct hw_state_reader *reader, struct topic_line *line)
{
    char *const *words = reader->words;
    int64_t partitions_max = (reader->end - reader->at) / PARTITION_LINE_SIZE_MIN;

    /* So the memory for partitions stays in proportion to the file. */
    if (partitions_max > HW_PARTITIONS_MAX) {
        partitions_max = HW_PARTITIONS_MAX;
    }
    line->name = words[1];
    return hw_is_topic_name(words[1], strlen(words[1])) &&
           hw_uuid_parse(words[2], strlen(words[2]), &line->id) && !hw_uuid_is_zero(&line->id) &&
           hw_state_parse_int32(words[3], 1, (int32_t)partitions_max, &line->partitions) &&
           hw_state_parse_int32(words[4], 1, HW_REPLICAS_MAX, &line->replication_factor) &&
           hw_state_parse_int32(words[5], 0, line->partitions - 1, &line->sticky_partition);
}

static enum hw_status read_topic(struct hw_cluster *cluster, struct hw_state_reader *reader)
{
    struct hw_config_values configs;
    struct hw_topic *topic = NULL;
    struct topic_line line;
    bool is_undecided = false;
    enum hw_status status = hw_state_expect(reader, "topic", 6);

    if (status != HW_OK) {
        return status;
    }
    if (!parse_topic(reader, &line)) {
        return hw_state_malformed(reader, "a field of the topic is out of range");
    }
    if (cluster->topic_count > 0 &&
        strcmp(cluster->topics[cluster->topic_count - 1]->name, line.name) >= 0) {
        return hw_state_malformed(reader, "the topics are not in order of name");
    }
    hw_config_values_init(&configs, cluster->allocator);
    status = hw_state_next_line(reader);
    if (status == HW_OK && hw_state_is_at(reader, "undecided")) {
        is_undecided = true;
        status = hw_state_expect(reader, "undecided", 1);
        status = status == HW_OK ? hw_state_next_line(reader) : status;
    }
    if (status == HW_OK) {
        status = read_configs(reader, "topic-config", HW_CONFIG_TOPIC, &configs);
    }
    if (status == HW_OK) {
        status = hw_cluster_insert_topic(cluster, line.name, &line.id, line.partitions,
                                         line.replication_factor, &configs, &topic, reader->error);
    }
    hw_config_values_release(&configs);
    if (status == HW_OK) {
        topic->sticky_partition = line.sticky_partition;
        topic->decision = is_undecided ? HW_TOPIC_UNDECIDED : HW_TOPIC_DECIDED;
    }
    for (int32_t p = 0; status == HW_OK && p < line.partitions; p++) {
        status = read_partition(cluster, reader, topic, p);
    }
    return status;
}

/* ------------------------------------------------------------------------------------ the file */

/* Check the last line, and leave it out from then on. */
static enum hw_status check_crc(struct hw_state_reader *reader)
{
    static const char keyword[] = "crc32c ";
    size_t size = (size_t)(reader->end - reader->at);
    char *line = size < HW_STATE_CRC_LINE_SIZE ? NULL : reader->end - HW_STATE_CRC_LINE_SIZE;
    uint64_t crc;

    if (line == NULL || memcmp(line, keyword, sizeof keyword - 1) != 0 ||
        line[HW_STATE_CRC_LINE_SIZE - 1] != '\n' || (line > reader->at && line[-1] != '\n')) {
        return hw_error_set(
            reader->error, HW_CORRUPT,
            "%s: the line with the checksum is missing at the end, the file was cut", reader->path);
    }
    reader->end = line;
    line[HW_STATE_CRC_LINE_SIZE - 1] = '\0';
    if (!hw_state_parse_hex(line + sizeof keyword - 1, CRC_DIGITS, &crc) ||
        crc != hw_crc32c(reader->at, (size_t)(reader->end - reader->at))) {
        return hw_error_set(reader->error, HW_CORRUPT,
                            "%s: its checksum is %08" PRIx32 ", its last line says %s",
                            reader->path, hw_crc32c(reader->at, (size_t)(line - reader->at)),
                            line + sizeof keyword - 1);
    }
    if (memchr(reader->at, '\0', (size_t)(reader->end - reader->at)) != NULL) {
        return hw_error_set(reader->error, HW_CORRUPT, "%s: it is not text", reader->path);
    }
    return HW_OK;
}

static enum hw_status read_content(struct hw_cluster *cluster, struct hw_state_reader *reader)
{
    enum hw_status status = check_crc(reader);

    if (status == HW_OK) {
        status = read_head(cluster, reader);
    }
    if (status == HW_OK) {
        status = hw_state_read_transactions(&cluster->coordinator, reader);
        /* What is being ended goes on in the name of a coordinator that began anew (X8.3). */
        cluster->is_state_dirty = cluster->coordinator.ending > 0;
    }
    if (status == HW_OK) {
        status = read_configs(reader, "config", HW_CONFIG_CLUSTER, &cluster->configs);
    }
    hw_cluster_resolve(cluster); /* Brokers and topics go by it. */
    while (status == HW_OK && hw_state_is_at(reader, "broker")) {
        status = read_broker(cluster, reader);
    }
    while (status == HW_OK && hw_state_is_at(reader, "cut")) {
        status = read_link(cluster, reader);
    }
    if (status == HW_OK) {
        status = hw_state_read_times(cluster, reader);
    }
    while (status == HW_OK && reader->word_count > 0) {
        status = read_topic(cluster, reader);
    }
    return status;
}

enum hw_status hw_state_file_read(struct hw_cluster *cluster, struct hw_error *error)
{
    char path[HW_PATH_MAX];
    struct hw_state_reader reader = {.path = path, .error = error};
    struct hw_buffer content;
    enum hw_status status = hw_state_file_path(cluster, path, error);

    HW_ASSERT(cluster->broker_count == 0);
    HW_ASSERT(cluster->topic_count == 0);
    hw_buffer_init(&content, cluster->allocator);
    if (status == HW_OK) {
        status = hw_store_read_whole(cluster->store, path, HW_STATE_SIZE_MAX, &content, error);
    }
    if (status == HW_OK) {
        reader.at = (char *)content.bytes;
        reader.end = content.size == 0 ? reader.at : reader.at + content.size;
        status = read_content(cluster, &reader);
    }
    hw_buffer_release(&content);
    return status;
}
