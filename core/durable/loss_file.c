/* SPDX-License-Identifier: MIT */
#include "core/durable/loss_file.h"

#include "core/base/assert.h"
#include "core/base/crc32c.h"
#include "core/base/uuid.h"
#include "core/cluster/cluster_internal.h"
#include "core/durable/state_words.h"
#include "core/format/topic_name.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    LOSS_FILE_SIZE_MAX = 1 << 26, /* Bounds the memory for a file that is something else. */
    LOSS_FILE_LINES_MAX = 2 * HW_LOSSES_MAX,
    LOSS_FILE_VERSION = 1, /* As `head` says. */
    CRC_DIGITS = 8,
    LOST_WORDS = 13,
    BACK_WORDS = LOST_WORDS + 1
};

static const char head[] = "highwater-losses 1";
static const char *const yes_no[] = {"no", "yes"};
static const char *const acks_words[] = {"0", "1", "all", "-"};
enum { ACKS_ALL = 2, ACKS_UNKNOWN = 3, ACKS_WORDS = 4 };
static const char *const cause_words[] = {
    [HW_LOSS_ELECTION] = "election",     [HW_LOSS_UNCLEAN_ELECTION] = "unclean-election",
    [HW_LOSS_POWER_LOSS] = "power-loss", [HW_LOSS_DEPOSED_LEADER] = "deposed-leader",
    [HW_LOSS_OPENING] = "opening",
};
enum { CAUSES = sizeof cause_words / sizeof cause_words[0] };

static enum hw_status loss_file_path(const struct hw_cluster *cluster, char path[HW_PATH_MAX],
                                     struct hw_error *error)
{
    return hw_path_join(path, cluster->directory, "losses", error);
}

/* -------------------------------------------------------------------------------------- writing */

/* Put the checksum before the line that begins at `start`, where room was left for it, and end it.
 */
static enum hw_status line_finish(struct hw_buffer *out, size_t start, struct hw_error *error)
{
    size_t text = start + CRC_DIGITS + 1;
    uint32_t crc = hw_crc32c(out->bytes + text, out->size - text);

    for (int i = CRC_DIGITS - 1; i >= 0; i--) {
        out->bytes[start + (size_t)i] = (uint8_t) "0123456789abcdef"[crc & 15];
        crc >>= 4;
    }
    return hw_buffer_append(out, "\n", 1, error);
}

/* Room for a checksum, and the space behind it. */
static enum hw_status line_begin(struct hw_buffer *out, size_t *start, struct hw_error *error)
{
    *start = out->size;
    return hw_buffer_append(out, "00000000 ", CRC_DIGITS + 1, error);
}

static enum hw_status append_head(struct hw_buffer *out, struct hw_error *error)
{
    size_t start;
    enum hw_status status = line_begin(out, &start, error);

    if (status == HW_OK) {
        status = hw_buffer_append(out, head, sizeof head - 1, error);
    }
    return status == HW_OK ? line_finish(out, start, error) : status;
}

static enum hw_status append_forgotten(struct hw_buffer *out, int64_t records,
                                       struct hw_error *error)
{
    size_t start;
    enum hw_status status = line_begin(out, &start, error);

    if (status == HW_OK) {
        status = hw_buffer_append_format(out, error, "forgotten %" PRId64, records);
    }
    return status == HW_OK ? line_finish(out, start, error) : status;
}

static enum hw_status append_loss(struct hw_buffer *out, const struct hw_cluster *cluster,
                                  const struct hw_loss *loss, struct hw_error *error)
{
    const char *topic = hw_journal_topic_name(&cluster->journal, loss->topic);
    int acks = !loss->is_answer_known      ? ACKS_UNKNOWN
               : loss->acks == HW_ACKS_ALL ? ACKS_ALL
                                           : loss->acks;
    char id[HW_UUID_TEXT_SIZE];
    char epoch[12] = "-";
    size_t start;
    enum hw_status status = line_begin(out, &start, error);

    hw_uuid_format(&loss->topic_id, id);
    if (loss->leader_epoch != HW_EPOCH_NONE) {
        (void)snprintf(epoch, sizeof epoch, "%" PRId32, loss->leader_epoch);
    }
    if (status == HW_OK) {
        status = hw_buffer_append_format(
            out, error,
            "%s %s %s %" PRId32 " %" PRId64 " %" PRId64 " %s %s %s %" PRId64 " %s %" PRId32
            " %" PRId32,
            loss->back_ms == HW_TIME_NEVER ? "lost" : "back", topic == NULL ? "-" : topic, id,
            loss->partition, loss->first_offset, loss->end_offset, epoch, acks_words[acks],
            yes_no[loss->is_acknowledged], loss->lost_ms, cause_words[loss->cause], loss->broker,
            loss->lost_epoch);
    }
    if (status == HW_OK && loss->back_ms != HW_TIME_NEVER) {
        status = hw_buffer_append_format(out, error, " %" PRId64, loss->back_ms);
    }
    return status == HW_OK ? line_finish(out, start, error) : status;
}

/* Put the whole ledger into a new file. */
static enum hw_status write_whole(struct hw_cluster *cluster, const char *path,
                                  struct hw_error *error)
{
    struct hw_loss_file *losses = &cluster->loss_file;
    const struct hw_loss *loss;
    struct hw_buffer content;
    size_t count = 0;
    enum hw_status status;

    hw_buffer_init(&content, cluster->allocator);
    status = append_head(&content, error);
    if (status == HW_OK && cluster->losses.forgotten > 0) {
        status = append_forgotten(&content, cluster->losses.forgotten, error);
    }
    while (status == HW_OK && (loss = hw_losses_at(&cluster->losses, count)) != NULL) {
        status = append_loss(&content, cluster, loss, error);
        count++;
    }
    if (status == HW_OK) {
        hw_file_close(losses->file);
        losses->file = NULL;
        status =
            hw_store_write_atomically(cluster->store, path, content.bytes, content.size, error);
    }
    if (status == HW_OK) {
        losses->size_bytes = (int64_t)content.size;
        losses->line_count = count;
        hw_losses_saved(&cluster->losses);
    }
    hw_buffer_release(&content);
    return status;
}

/* Add the unsaved lines behind the others. */
static enum hw_status write_unsaved(struct hw_cluster *cluster, const char *path,
                                    struct hw_error *error)
{
    struct hw_loss_file *losses = &cluster->loss_file;
    struct hw_buffer content;
    enum hw_status status = HW_OK;

    hw_buffer_init(&content, cluster->allocator);
    if (losses->size_bytes == 0) {
        status = append_head(&content, error);
    }
    for (size_t i = 0; status == HW_OK && i < cluster->losses.unsaved_count; i++) {
        status = append_loss(&content, cluster, &cluster->losses.unsaved[i], error);
    }
    if (status == HW_OK && losses->file == NULL) {
        status = hw_store_open(cluster->store, path, HW_OPEN_OR_CREATE, &losses->file, error);
    }
    /* Where a write failed before, the next one begins at the same place. */
    if (status == HW_OK) {
        status =
            hw_file_write_at(losses->file, losses->size_bytes, content.bytes, content.size, error);
    }
    if (status == HW_OK) {
        losses->size_bytes += (int64_t)content.size;
        losses->line_count += cluster->losses.unsaved_count;
        hw_losses_saved(&cluster->losses);
    }
    hw_buffer_release(&content);
    return status;
}

enum hw_status hw_loss_file_write(struct hw_cluster *cluster, struct hw_error *error)
{
    const struct hw_losses *losses = &cluster->losses;
    char path[HW_PATH_MAX];
    enum hw_status status;

    if (losses->unsaved_count == 0 && !losses->is_unsaved_incomplete) {
        return HW_OK;
    }
    status = loss_file_path(cluster, path, error);
    if (status != HW_OK) {
        return status;
    }
    return losses->is_unsaved_incomplete ||
                   cluster->loss_file.line_count + losses->unsaved_count > LOSS_FILE_LINES_MAX
               ? write_whole(cluster, path, error)
               : write_unsaved(cluster, path, error);
}

enum hw_status hw_loss_file_remove(const struct hw_cluster *cluster, struct hw_error *error)
{
    char path[HW_PATH_MAX];
    enum hw_status status = loss_file_path(cluster, path, error);

    if (status == HW_OK) {
        status = hw_store_remove(cluster->store, path, error);
    }
    return status == HW_NOT_FOUND ? HW_OK : status;
}

/* -------------------------------------------------------------------------------------- reading */

/* Whether a whole line with the right checksum is at `at`. */
static bool is_line(const char *at, const char *end)
{
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    char digits[CRC_DIGITS + 1] = "";
    uint64_t crc;

    if (newline == NULL || newline - at <= CRC_DIGITS || at[CRC_DIGITS] != ' ' ||
        memchr(at, '\0', (size_t)(newline - at)) != NULL) {
        return false;
    }
    memcpy(digits, at, CRC_DIGITS);
    at += CRC_DIGITS + 1;
    return hw_state_parse_hex(digits, CRC_DIGITS, &crc) &&
           crc == hw_crc32c(at, (size_t)(newline - at));
}

/* Where the whole lines end. HW_CORRUPT where what follows is no torn write. */
static enum hw_status find_end(struct hw_state_reader *reader, char **whole_end)
{
    char *at = reader->at;

    for (reader->line = 1; at < reader->end && is_line(at, reader->end); reader->line++) {
        at = (char *)memchr(at, '\n', (size_t)(reader->end - at)) + 1;
    }
    *whole_end = at;
    while (at < reader->end) {
        char *newline = memchr(at, '\n', (size_t)(reader->end - at));
        char *end = newline == NULL ? reader->end : newline;

        /* Of a write that was torn the end is missing, or zeros. */
        if (is_line(at, reader->end) ||
            (newline != NULL && memchr(at, '\0', (size_t)(end - at)) == NULL)) {
            return hw_state_malformed(reader, "its checksum is wrong");
        }
        at = newline == NULL ? end : newline + 1;
    }
    reader->line = 0;
    return HW_OK;
}

static bool parse_loss(struct hw_cluster *cluster, char *const *words, struct hw_loss *loss)
{
    size_t acks;
    size_t acknowledged;
    size_t cause;

    *loss = (struct hw_loss){.leader_epoch = HW_EPOCH_NONE, .back_ms = HW_TIME_NEVER};
    if (!(strcmp(words[1], "-") == 0 || hw_is_topic_name(words[1], strlen(words[1]))) ||
        !hw_uuid_parse(words[2], strlen(words[2]), &loss->topic_id) ||
        !hw_state_parse_int32(words[3], 0, INT32_MAX, &loss->partition) ||
        !hw_state_parse_number(words[4], 0, INT64_MAX, &loss->first_offset) ||
        !hw_state_parse_number(words[5], 1, INT64_MAX, &loss->end_offset) ||
        loss->end_offset <= loss->first_offset ||
        !(strcmp(words[6], "-") == 0 ||
          hw_state_parse_int32(words[6], 0, INT32_MAX, &loss->leader_epoch)) ||
        !hw_state_parse_name(words[7], acks_words, ACKS_WORDS, &acks) ||
        !hw_state_parse_name(words[8], yes_no, 2, &acknowledged) ||
        !hw_state_parse_number(words[9], 0, HW_CLOCK_MS_MAX, &loss->lost_ms) ||
        !hw_state_parse_name(words[10], cause_words, CAUSES, &cause) ||
        !hw_state_parse_int32(words[11], 0, INT32_MAX, &loss->broker) ||
        !hw_state_parse_int32(words[12], 0, INT32_MAX, &loss->lost_epoch)) {
        return false;
    }
    loss->topic = strcmp(words[1], "-") == 0 ? 0 : hw_journal_topic(&cluster->journal, words[1]);
    loss->is_answer_known = acks != ACKS_UNKNOWN;
    loss->acks = acks == ACKS_ALL ? HW_ACKS_ALL : acks == ACKS_UNKNOWN ? 0 : (int32_t)acks;
    loss->is_acknowledged = acknowledged == 1;
    loss->cause = (enum hw_loss_cause)cause;
    return true;
}

/* Whether the process ended before what lost the records was in cluster.state. */
static bool is_undone(const struct hw_cluster *cluster, const struct hw_loss *loss)
{
    const struct hw_topic *topic = hw_cluster_topic_by_id(cluster, &loss->topic_id);

    return topic != NULL && loss->partition < topic->partition_count &&
           topic->partitions[loss->partition].record.leader_epoch < loss->lost_epoch;
}

/* Note what the current line says. *undone is set where it is to be forgotten. */
static enum hw_status read_line(struct hw_cluster *cluster, struct hw_state_reader *reader,
                                bool *undone)
{
    struct hw_loss loss;
    enum hw_status status;
    bool is_back;

    if (reader->line > 1 && hw_state_is_at(reader, "forgotten")) {
        int64_t records;

        status = hw_state_expect(reader, "forgotten", 2);
        if (status == HW_OK && !hw_state_parse_number(reader->words[1], 1, INT64_MAX, &records)) {
            return hw_state_malformed(reader, "the number is out of range");
        }
        cluster->losses.forgotten += status == HW_OK ? records : 0;
        return status;
    }
    is_back = hw_state_is_at(reader, "back");
    status = hw_state_expect(reader, is_back ? "back" : "lost", is_back ? BACK_WORDS : LOST_WORDS);
    if (status == HW_OK && (!parse_loss(cluster, reader->words, &loss) ||
                            (is_back && !hw_state_parse_number(reader->words[LOST_WORDS], 0,
                                                               HW_CLOCK_MS_MAX, &loss.back_ms)))) {
        return hw_state_malformed(reader, "a field of the loss is out of range");
    }
    if (status == HW_OK && is_undone(cluster, &loss)) {
        *undone = true;
    } else if (status == HW_OK) {
        hw_losses_restore(&cluster->losses, &loss);
    }
    return status;
}

/* All whole lines. */
static enum hw_status read_lines(struct hw_cluster *cluster, struct hw_state_reader *reader,
                                 bool *undone)
{
    enum hw_status status = HW_OK;

    while (status == HW_OK && reader->at < reader->end) {
        reader->at += CRC_DIGITS + 1;
        status = hw_state_next_line(reader);
        if (status == HW_OK && reader->line == 1) {
            status = hw_state_expect_format(reader, "highwater-losses", LOSS_FILE_VERSION);
        } else if (status == HW_OK) {
            status = read_line(cluster, reader, undone);
            cluster->loss_file.line_count++;
        }
    }
    return status;
}

enum hw_status hw_loss_file_load(struct hw_cluster *cluster, struct hw_error *error)
{
    char path[HW_PATH_MAX];
    struct hw_state_reader reader = {.path = path, .error = error};
    struct hw_buffer content;
    char *whole_end;
    bool undone = false;
    enum hw_status status = loss_file_path(cluster, path, error);

    HW_ASSERT(cluster->losses.count == 0 && cluster->loss_file.file == NULL);
    hw_buffer_init(&content, cluster->allocator);
    if (status == HW_OK) {
        status = hw_store_read_whole(cluster->store, path, LOSS_FILE_SIZE_MAX, &content, error);
    }
    if (status == HW_OK && content.size > 0) {
        reader.at = (char *)content.bytes;
        reader.end = reader.at + content.size;
        status = find_end(&reader, &whole_end);
        if (status == HW_OK) {
            reader.end = whole_end;
            cluster->loss_file.size_bytes = reader.end - reader.at;
            status = read_lines(cluster, &reader, &undone);
        }
    }
    /* A torn line is written over by the next one, which may be shorter. */
    if (status == HW_OK && (undone || (size_t)cluster->loss_file.size_bytes < content.size)) {
        status = write_whole(cluster, path, error);
    }
    hw_buffer_release(&content);
    return status == HW_NOT_FOUND ? HW_OK : status;
}
