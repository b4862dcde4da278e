/* SPDX-License-Identifier: MIT */
/* Reading cluster.state into an empty cluster: checksum first, then line by line. */
#include "core/base/assert.h"
#include "core/base/broker_list.h"
#include "core/base/crc32c.h"
#include "core/base/uuid.h"
#include "core/cluster/state_file.h"
#include "core/replication/variant.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    WORDS_MAX = 13,
    PARTITION_LINE_SIZE_MIN = 48 /* "partition 0 - 0 0 recovered [1] [] [] [] [] [] [0]" */
};

/* The generator's state has this many hexadecimal digits, a checksum half of them. */
enum { RANDOM_DIGITS = 16, CRC_DIGITS = 8 };

/* As for the clock of a running cluster: sums of a time and any setting stay in range. */
#define CLOCK_MS_MAX (INT64_MAX / 4)
/* A slot's position in its file stays far inside an int64. */
#define SLOTS_MAX (INT64_C(1) << 48)

/* The lines of the file, one after the other, split into words in place. */
struct reader {
    struct hw_cluster *cluster; /* Filled by what is read. */
    const char *path;
    char *at;
    char *end; /* In front of the line with the checksum. */
    int64_t line;
    char *words[WORDS_MAX]; /* Of the current line; NUL-terminated. */
    size_t word_count;      /* 0 behind the last line. */
    struct hw_error *error;
};

static enum hw_status malformed(struct reader *reader, const char *what)
{
    return hw_error_set(reader->error, HW_CORRUPT, "%s: line %" PRId64 ": %s", reader->path,
                        reader->line, what);
}

/* Every line ends with a newline: that in front of the checksum was checked. */
static enum hw_status next_line(struct reader *reader)
{
    char *newline;

    reader->word_count = 0;
    reader->line++;
    if (reader->at == reader->end) {
        return HW_OK;
    }
    newline = memchr(reader->at, '\n', (size_t)(reader->end - reader->at));
    HW_ASSERT(newline != NULL);
    *newline = '\0';
    for (char *word = reader->at; word != NULL; reader->word_count++) {
        char *space = strchr(word, ' ');

        if (reader->word_count == WORDS_MAX) {
            return malformed(reader, "too many words");
        }
        reader->words[reader->word_count] = word;
        if (space != NULL) {
            *space++ = '\0';
        }
        word = space;
    }
    reader->at = newline + 1;
    return HW_OK;
}

/* Whether the current line begins with `keyword`. */
static bool is_at(const struct reader *reader, const char *keyword)
{
    return reader->word_count > 0 && strcmp(reader->words[0], keyword) == 0;
}

/* The current line has to begin with `keyword` and have that many words. */
static enum hw_status expect(struct reader *reader, const char *keyword, size_t word_count)
{
    char what[60];

    if (is_at(reader, keyword) && reader->word_count == word_count) {
        return HW_OK;
    }
    (void)snprintf(what, sizeof what, "expected \"%s\" and %zu words", keyword, word_count - 1);
    return malformed(reader, what);
}

/* A decimal number as it is written: no sign, no leading zeros. */
static bool parse_number(const char *word, int64_t minimum, int64_t maximum, int64_t *number)
{
    int64_t value = 0;

    if (word[0] == '\0' || (word[0] == '0' && word[1] != '\0')) {
        return false;
    }
    for (; *word != '\0'; word++) {
        int digit = *word - '0';

        if (digit < 0 || digit > 9 || value > (INT64_MAX - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    *number = value;
    return value >= minimum && value <= maximum;
}

static bool parse_int32(const char *word, int32_t minimum, int32_t maximum, int32_t *number)
{
    int64_t wide;

    if (!parse_number(word, minimum, maximum, &wide)) {
        return false;
    }
    *number = (int32_t)wide;
    return true;
}

/* Exactly `size` lower-case digits. */
static bool parse_hex(const char *word, size_t size, uint64_t *number)
{
    uint64_t value = 0;

    for (size_t i = 0; i < size; i++) {
        static const char digits[] = "0123456789abcdef";
        const char *digit = word[i] == '\0' ? NULL : strchr(digits, word[i]);

        if (digit == NULL) {
            return false;
        }
        value = value << 4 | (uint64_t)(digit - digits);
    }
    *number = value;
    return word[size] == '\0';
}

static bool parse_name(const char *word, const char *const *names, size_t count, size_t *number)
{
    for (*number = 0; *number < count; (*number)++) {
        if (strcmp(word, names[*number]) == 0) {
            return true;
        }
    }
    return false;
}

static int hex_value(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Undo append_escaped() in place. */
static bool unescape(char *word)
{
    char *out = word;

    for (char *at = word; *at != '\0'; at++) {
        if (hw_state_is_plain(*at)) {
            *out++ = *at;
            continue;
        }
        if (*at != '%' || hex_value(at[1]) < 0 || hex_value(at[2]) < 0) {
            return false;
        }
        *out = (char)(hex_value(at[1]) << 4 | hex_value(at[2]));
        if (*out++ == '\0') {
            return false;
        }
        at += 2;
    }
    *out = '\0';
    return true;
}

/* Undo append_text(); *text is NULL for none. */
static bool parse_text(char *word, char **text)
{
    *text = word[0] == '=' ? word + 1 : NULL;
    return *text == NULL ? strcmp(word, "-") == 0 : unescape(*text);
}

/* The next number of "[1,2]" from **at on, which is moved on; false at the end or if it is none. */
static bool next_in_list(char **at, int64_t maximum, int64_t *number)
{
    char *start = *at + 1;
    size_t size = strcspn(start, ",]");
    char separator = start[size];
    bool found;

    if ((**at != '[' && **at != ',') || separator == '\0') {
        return false;
    }
    start[size] = '\0';
    found = parse_number(start, 0, maximum, number);
    start[size] = separator;
    if (found) {
        *at = start + size;
    }
    return found;
}

/* Whether a list has been read to its end. */
static bool is_list_end(const char *word, const char *at)
{
    return (strcmp(at, "]") == 0 && at > word) || strcmp(word, "[]") == 0;
}

static bool parse_list(char *word, struct hw_broker_list *list)
{
    char *at = word;
    int64_t id;

    list->count = 0;
    while (next_in_list(&at, INT32_MAX, &id)) {
        if (list->count == HW_REPLICAS_MAX || hw_broker_list_contains(list, (hw_broker_id_t)id)) {
            return false;
        }
        hw_broker_list_add(list, (hw_broker_id_t)id);
    }
    return is_list_end(word, at);
}

/* ------------------------------------------------------------------------- cluster and brokers */

/* One line of the head: a keyword and a number. */
static enum hw_status read_number(struct reader *reader, const char *keyword, int64_t minimum,
                                  int64_t maximum, int64_t *number)
{
    enum hw_status status = expect(reader, keyword, 2);

    if (status == HW_OK && !parse_number(reader->words[1], minimum, maximum, number)) {
        return malformed(reader, "the number is out of range");
    }
    return status == HW_OK ? next_line(reader) : status;
}

static enum hw_status read_random(struct reader *reader, uint64_t *state)
{
    enum hw_status status = expect(reader, "random", 2);

    if (status == HW_OK && !parse_hex(reader->words[1], RANDOM_DIGITS, state)) {
        return malformed(reader, "the state of the generator is not 16 digits");
    }
    return status == HW_OK ? next_line(reader) : status;
}

static enum hw_status read_head(struct reader *reader)
{
    struct hw_cluster *cluster = reader->cluster;
    int64_t version;
    int64_t slots = 0;
    enum hw_status status = next_line(reader);

    if (status == HW_OK && is_at(reader, "highwater") && reader->word_count == 2 &&
        !parse_number(reader->words[1], HW_STATE_VERSION, HW_STATE_VERSION, &version)) {
        return malformed(reader, "the format is not 1: another version of highwater wrote it");
    }
    if (status == HW_OK) {
        status = read_number(reader, "highwater", HW_STATE_VERSION, HW_STATE_VERSION, &version);
    }
    if (status == HW_OK) {
        status = read_number(reader, "clock", 0, CLOCK_MS_MAX, &cluster->now_ms);
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
static enum hw_status read_configs(struct reader *reader, const char *keyword,
                                   enum hw_config_scope scope, struct hw_config_values *values)
{
    enum hw_status status = HW_OK;

    while (status == HW_OK && is_at(reader, keyword)) {
        struct hw_error refused = {.message = "the setting is not there for a topic, or twice"};
        size_t index = 0;

        status = expect(reader, keyword, 3);
        if (status != HW_OK) {
            return status;
        }
        if (!unescape(reader->words[2])) {
            return malformed(reader, "the value is not text");
        }
        if (hw_config_find(reader->words[1], &index, &refused) != HW_OK ||
            (scope == HW_CONFIG_TOPIC && hw_config_entry_at(index)->scope != HW_CONFIG_TOPIC) ||
            (values->values != NULL && values->values[index] != NULL)) {
            return malformed(reader, refused.message);
        }
        status = hw_config_set(values, index, reader->words[2], &refused);
        if (status == HW_NO_MEMORY) {
            *reader->error = refused;
        } else if (status != HW_OK) {
            return malformed(reader, refused.message);
        }
        status = status == HW_OK ? next_line(reader) : status;
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

static bool parse_broker(struct reader *reader, struct broker_line *line)
{
    const struct hw_cluster *cluster = reader->cluster;
    char **words = reader->words;
    bool never = strcmp(words[5], "-") == 0;

    line->down_since_ms = HW_TIME_NEVER;
    return parse_int32(words[1], 0, INT32_MAX, &line->id) &&
           parse_name(words[2], hw_state_broker_words, HW_STATE_BROKER_WORDS, &line->state) &&
           parse_number(words[3], 1, cluster->controller.next_broker_epoch - 1, &line->epoch) &&
           parse_name(words[4], hw_state_registration_words, HW_STATE_REGISTRATION_WORDS,
                      &line->registration) &&
           (never || parse_number(words[5], 0, cluster->now_ms, &line->down_since_ms)) &&
           (never || line->state != HW_BROKER_RUNNING) && parse_text(words[6], &line->rack) &&
           parse_text(words[7], &line->dir) &&
           (line->dir == NULL || strlen(line->dir) < HW_PATH_MAX);
}

static enum hw_status read_broker(struct reader *reader)
{
    struct hw_cluster *cluster = reader->cluster;
    struct hw_metadata *metadata = &cluster->controller.metadata;
    struct broker_line line;
    struct hw_broker *broker;
    enum hw_status status = expect(reader, "broker", 8);

    if (status != HW_OK) {
        return status;
    }
    if (!parse_broker(reader, &line)) {
        return malformed(reader, "a field of the broker is out of range");
    }
    if (metadata->count == HW_BROKERS_MAX ||
        (metadata->count > 0 && metadata->registrations[metadata->count - 1].id >= line.id)) {
        return malformed(reader, "too many brokers, or not in order of id");
    }
    status =
        hw_cluster_insert_broker(cluster, line.id, line.rack, line.dir, &broker, reader->error);
    if (status != HW_OK) {
        return status;
    }
    broker->state = (enum hw_broker_state)line.state;
    broker->down_since_ms = line.down_since_ms;
    metadata->registrations[metadata->count++] =
        (struct hw_registration){.id = line.id,
                                 .epoch = line.epoch,
                                 .fenced = (line.registration & 1) != 0,
                                 .in_controlled_shutdown = (line.registration & 2) != 0};
    return next_line(reader);
}

/* -------------------------------------------------------------------------------------- topics */

static bool lists_overlap(const struct hw_broker_list *a, const struct hw_broker_list *b)
{
    for (int32_t i = 0; i < a->count; i++) {
        if (hw_broker_list_contains(b, a->ids[i])) {
            return true;
        }
    }
    return false;
}

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
           !lists_overlap(&record->isr, &record->elr) &&
           !lists_overlap(&record->adding, &record->removing) &&
           (record->leader == HW_BROKER_ID_NONE ||
            hw_broker_list_contains(&record->isr, record->leader));
}

static bool parse_slots(char *word, const struct hw_cluster *cluster, size_t *slots, int32_t count)
{
    char *at = word;
    int64_t slot;
    int32_t read = 0;

    while (next_in_list(&at, (int64_t)cluster->next_slot - 1, &slot)) {
        if (read == count) {
            return false;
        }
        slots[read++] = (size_t)slot;
    }
    return read == count && is_list_end(word, at);
}

static bool parse_record(struct reader *reader, struct hw_partition_record *record)
{
    struct hw_broker_list *lists[HW_STATE_LISTS] = {&record->replicas, &record->isr,
                                                    &record->elr,      &record->last_known_elr,
                                                    &record->adding,   &record->removing};
    char **words = reader->words;
    size_t recovery;

    record->leader = HW_BROKER_ID_NONE;
    if (!(strcmp(words[2], "-") == 0 || parse_int32(words[2], 0, INT32_MAX, &record->leader)) ||
        !parse_int32(words[3], 0, INT32_MAX, &record->leader_epoch) ||
        !parse_int32(words[4], 0, INT32_MAX, &record->partition_epoch) ||
        !parse_name(words[5], hw_state_recovery_words, HW_STATE_RECOVERY_WORDS, &recovery)) {
        return false;
    }
    record->recovering = recovery == 1;
    for (size_t i = 0; i < HW_STATE_LISTS; i++) {
        if (!parse_list(words[6 + i], lists[i])) {
            return false;
        }
    }
    return true;
}

static enum hw_status read_partition(struct reader *reader, struct hw_topic *topic, int32_t index)
{
    struct hw_partition_record *record = &topic->partitions[index].record;
    int32_t number;
    enum hw_status status = expect(reader, "partition", WORDS_MAX);

    if (status != HW_OK) {
        return status;
    }
    if (!parse_int32(reader->words[1], index, index, &number)) {
        return malformed(reader, "the partitions are not in order");
    }
    if (!parse_record(reader, record) ||
        !parse_slots(reader->words[12], reader->cluster,
                     topic->slots + (size_t)index * HW_REPLICAS_MAX, record->replicas.count)) {
        return malformed(reader, "a field of the partition is out of range");
    }
    if (!is_record_valid(record, &reader->cluster->controller.metadata)) {
        return malformed(reader, "the lists of brokers contradict each other");
    }
    return next_line(reader);
}

/* The fields of a topic's line. */
struct topic_line {
    const char *name;
    struct hw_uuid id;
    int32_t partitions;
    int32_t replication_factor;
    int32_t sticky_partition;
};

/* Source of the rules for names: Topic.validate. */
static bool is_topic_name(const char *name)
{
    size_t size = strlen(name);

    return size > 0 && size <= HW_TOPIC_NAME_MAX && strcmp(name, ".") != 0 &&
           strcmp(name, "..") != 0 &&
           strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-") ==
               size;
}

static bool parse_topic(struct reader *reader, struct topic_line *line)
{
    char **words = reader->words;
    int64_t partitions_max = (reader->end - reader->at) / PARTITION_LINE_SIZE_MIN;

    /* So the memory for partitions stays in proportion to the file. */
    if (partitions_max > HW_PARTITIONS_MAX) {
        partitions_max = HW_PARTITIONS_MAX;
    }
    line->name = words[1];
    return is_topic_name(words[1]) && hw_uuid_parse(words[2], strlen(words[2]), &line->id) &&
           !hw_uuid_is_zero(&line->id) &&
           parse_int32(words[3], 1, (int32_t)partitions_max, &line->partitions) &&
           parse_int32(words[4], 1, HW_REPLICAS_MAX, &line->replication_factor) &&
           parse_int32(words[5], 0, line->partitions - 1, &line->sticky_partition);
}

static enum hw_status read_topic(struct reader *reader)
{
    struct hw_cluster *cluster = reader->cluster;
    struct hw_config_values configs;
    struct hw_topic *topic = NULL;
    struct topic_line line;
    enum hw_status status = expect(reader, "topic", 6);

    if (status != HW_OK) {
        return status;
    }
    if (!parse_topic(reader, &line)) {
        return malformed(reader, "a field of the topic is out of range");
    }
    if (cluster->topic_count > 0 &&
        strcmp(cluster->topics[cluster->topic_count - 1]->name, line.name) >= 0) {
        return malformed(reader, "the topics are not in order of name");
    }
    hw_config_values_init(&configs, cluster->allocator);
    status = next_line(reader);
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
    }
    for (int32_t p = 0; status == HW_OK && p < line.partitions; p++) {
        status = read_partition(reader, topic, p);
    }
    return status;
}

/* ------------------------------------------------------------------------------------ the file */

/* Check the last line, and leave it out from then on. */
static enum hw_status check_crc(struct reader *reader)
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
    if (!parse_hex(line + sizeof keyword - 1, CRC_DIGITS, &crc) ||
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

static enum hw_status read_content(struct reader *reader)
{
    enum hw_status status = check_crc(reader);

    if (status == HW_OK) {
        status = read_head(reader);
    }
    if (status == HW_OK) {
        status = read_configs(reader, "config", HW_CONFIG_CLUSTER, &reader->cluster->configs);
    }
    while (status == HW_OK && is_at(reader, "broker")) {
        status = read_broker(reader);
    }
    while (status == HW_OK && reader->word_count > 0) {
        status = read_topic(reader);
    }
    return status;
}

enum hw_status hw_state_file_read(struct hw_cluster *cluster, struct hw_error *error)
{
    char path[HW_PATH_MAX];
    struct reader reader = {.cluster = cluster, .path = path, .error = error};
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
        status = read_content(&reader);
    }
    hw_buffer_release(&content);
    return status;
}
