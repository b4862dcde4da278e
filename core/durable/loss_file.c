/* SPDX-License-Identifier: MIT */
#include "core/durable/loss_file.h"

#include "core/base/assert.h"
#include "core/base/crc32c.h"
#include "core/cluster/cluster_internal.h"
#include "core/durable/state_words.h"
#include "core/format/segment_name.h"

#include <string.h>

enum {
    LOSS_FILE_SIZE_MAX = 1 << 26, /* Bounds the memory for a file that is something else. */
    LOSS_FILE_LINES_MAX = 2 * HW_LOSSES_MAX,
    LOSS_FILE_VERSION = 1
};

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

/* ---------------------------------------------------------------------------------------- lines */

static void loss_head(struct hw_state_lines *lines)
{
    hw_state_format(lines, "highwater-losses", LOSS_FILE_VERSION);
}

static void loss_forgotten(struct hw_state_lines *lines, int64_t *records)
{
    hw_state_begin(lines, "forgotten", 1);
    hw_state_number(lines, records, 1, INT64_MAX);
    (void)hw_state_insist(lines, true, "the number is out of range");
    hw_state_end(lines);
}

static void loss_line(struct hw_state_lines *lines, struct hw_cluster *cluster,
                      struct hw_loss *loss)
{
    bool is_back = hw_state_has(lines, "back", loss->back_ms != HW_TIME_NEVER);
    const char *topic = hw_journal_topic_name(&cluster->journal, loss->topic);
    size_t acks = !loss->is_answer_known      ? ACKS_UNKNOWN
                  : loss->acks == HW_ACKS_ALL ? ACKS_ALL
                                              : (size_t)loss->acks;
    size_t acknowledged = loss->is_acknowledged;
    size_t cause = loss->cause;

    hw_state_begin(lines, is_back ? "back" : "lost", is_back ? 13 : 12);
    topic = topic == NULL ? "-" : topic;
    hw_state_word(lines, &topic);
    hw_state_uuid(lines, &loss->topic_id);
    hw_state_int32(lines, &loss->partition, 0, INT32_MAX);
    hw_state_number(lines, &loss->first_offset, 0, INT64_MAX);
    hw_state_number(lines, &loss->end_offset, 1, INT64_MAX);
    hw_state_int32(lines, &loss->leader_epoch, HW_EPOCH_NONE, INT32_MAX);
    hw_state_name(lines, &acks, acks_words, ACKS_WORDS);
    hw_state_name(lines, &acknowledged, yes_no, 2);
    hw_state_number(lines, &loss->lost_ms, 0, HW_CLOCK_MS_MAX);
    hw_state_name(lines, &cause, cause_words, CAUSES);
    hw_state_int32(lines, &loss->broker, 0, INT32_MAX);
    hw_state_int32(lines, &loss->lost_epoch, 0, INT32_MAX);
    if (is_back) {
        hw_state_number(lines, &loss->back_ms, 0, HW_CLOCK_MS_MAX);
    }
    (void)hw_state_insist(lines,
                          (strcmp(topic, "-") == 0 || hw_is_topic_name(topic, strlen(topic))) &&
                              loss->end_offset > loss->first_offset,
                          "a field of the loss is out of range");
    if (lines->out == NULL && lines->status == HW_OK) {
        loss->topic = strcmp(topic, "-") == 0 ? 0 : hw_journal_topic(&cluster->journal, topic);
        loss->is_answer_known = acks != ACKS_UNKNOWN;
        loss->acks = acks == ACKS_ALL ? HW_ACKS_ALL : acks == ACKS_UNKNOWN ? 0 : (int32_t)acks;
        loss->is_acknowledged = acknowledged == 1;
        loss->cause = (enum hw_loss_cause)cause;
    }
    hw_state_end(lines);
}

/* -------------------------------------------------------------------------------------- writing */

/* Put the whole ledger into a new file. */
static enum hw_status write_whole(struct hw_cluster *cluster, const char *path,
                                  struct hw_error *error)
{
    struct hw_loss_file *losses = &cluster->loss_file;
    const struct hw_loss *loss;
    struct hw_buffer content;
    struct hw_state_lines lines = {.out = &content, .error = error, .have_crcs = true};
    size_t count = 0;

    hw_buffer_init(&content, cluster->allocator);
    loss_head(&lines);
    if (cluster->losses.forgotten > 0) {
        loss_forgotten(&lines, &cluster->losses.forgotten);
    }
    for (; (loss = hw_losses_at(&cluster->losses, count)) != NULL; count++) {
        struct hw_loss written = *loss;

        loss_line(&lines, cluster, &written);
    }
    if (lines.status == HW_OK) {
        hw_file_close(losses->file);
        losses->file = NULL;
        lines.status =
            hw_store_write_atomically(cluster->store, path, content.bytes, content.size, error);
    }
    if (lines.status == HW_OK) {
        losses->size_bytes = (int64_t)content.size;
        losses->line_count = count;
        hw_losses_saved(&cluster->losses);
    }
    hw_buffer_release(&content);
    return lines.status;
}

/* Add the unsaved lines behind the others. */
static enum hw_status write_unsaved(struct hw_cluster *cluster, const char *path,
                                    struct hw_error *error)
{
    struct hw_loss_file *losses = &cluster->loss_file;
    struct hw_buffer content;
    struct hw_state_lines lines = {.out = &content, .error = error, .have_crcs = true};

    hw_buffer_init(&content, cluster->allocator);
    if (losses->size_bytes == 0) {
        loss_head(&lines);
    }
    for (size_t i = 0; i < cluster->losses.unsaved_count; i++) {
        loss_line(&lines, cluster, &cluster->losses.unsaved[i]);
    }
    if (lines.status == HW_OK && losses->file == NULL) {
        lines.status = hw_store_open(cluster->store, path, HW_OPEN_OR_CREATE, &losses->file, error);
    }
    /* Where a write failed before, the next one begins at the same place. */
    if (lines.status == HW_OK) {
        lines.status =
            hw_file_write_at(losses->file, losses->size_bytes, content.bytes, content.size, error);
    }
    if (lines.status == HW_OK) {
        losses->size_bytes += (int64_t)content.size;
        losses->line_count += cluster->losses.unsaved_count;
        hw_losses_saved(&cluster->losses);
    }
    hw_buffer_release(&content);
    return lines.status;
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
    char digits[HW_STATE_CRC_DIGITS + 1] = "";
    uint64_t crc;

    if (newline == NULL || newline - at <= HW_STATE_CRC_DIGITS || at[HW_STATE_CRC_DIGITS] != ' ' ||
        memchr(at, '\0', (size_t)(newline - at)) != NULL) {
        return false;
    }
    memcpy(digits, at, HW_STATE_CRC_DIGITS);
    at += HW_STATE_CRC_PREFIX;
    return hw_state_parse_hex(digits, HW_STATE_CRC_DIGITS, &crc) &&
           crc == hw_crc32c(at, (size_t)(newline - at));
}

/* Leave out what follows the whole lines. HW_CORRUPT where that is no torn write. */
static void leave_out_torn(struct hw_state_lines *lines)
{
    char *at = lines->at;
    char *whole_end;

    for (lines->line = 1; at < lines->end && is_line(at, lines->end); lines->line++) {
        at = (char *)memchr(at, '\n', (size_t)(lines->end - at)) + 1;
    }
    whole_end = at;
    while (at < lines->end) {
        char *newline = memchr(at, '\n', (size_t)(lines->end - at));
        char *end = newline == NULL ? lines->end : newline;

        /* Of a write that was torn the end is missing, or zeros. */
        if (is_line(at, lines->end) ||
            (newline != NULL && memchr(at, '\0', (size_t)(end - at)) == NULL)) {
            hw_state_malformed(lines, "its checksum is wrong");
            return;
        }
        at = newline == NULL ? end : newline + 1;
    }
    lines->end = whole_end;
    lines->line = 0;
}

/* Whether the process ended before what lost the records was in cluster.state. */
static bool is_undone(const struct hw_cluster *cluster, const struct hw_loss *loss)
{
    const struct hw_topic *topic = hw_cluster_topic_by_id(cluster, &loss->topic_id);

    return topic != NULL && loss->partition < topic->partition_count &&
           topic->partitions[loss->partition].record.leader_epoch < loss->lost_epoch;
}

/* All whole lines. Returns whether one of them is to be forgotten. */
static bool read_lines(struct hw_state_lines *lines, struct hw_cluster *cluster)
{
    bool undone = false;

    hw_state_next_line(lines);
    loss_head(lines);
    for (; lines->status == HW_OK && lines->word_count > 0; cluster->loss_file.line_count++) {
        struct hw_loss loss = {.leader_epoch = HW_EPOCH_NONE, .back_ms = HW_TIME_NEVER};
        int64_t records = 0;

        if (hw_state_is_at(lines, "forgotten")) {
            loss_forgotten(lines, &records);
            cluster->losses.forgotten += records;
            continue;
        }
        loss_line(lines, cluster, &loss);
        if (lines->status == HW_OK && is_undone(cluster, &loss)) {
            undone = true;
        } else if (lines->status == HW_OK) {
            hw_losses_restore(cluster, &loss);
        }
    }
    return undone;
}

enum hw_status hw_loss_file_load(struct hw_cluster *cluster, struct hw_error *error)
{
    char path[HW_PATH_MAX];
    struct hw_state_lines lines = {.path = path, .error = error, .have_crcs = true};
    struct hw_buffer content;
    bool undone = false;

    HW_ASSERT(cluster->losses.count == 0 && cluster->loss_file.file == NULL);
    hw_buffer_init(&content, cluster->allocator);
    lines.status = loss_file_path(cluster, path, error);
    if (lines.status == HW_OK) {
        lines.status =
            hw_store_read_whole(cluster->store, path, LOSS_FILE_SIZE_MAX, &content, error);
    }
    if (lines.status == HW_OK && content.size > 0) {
        lines.at = (char *)content.bytes;
        lines.end = lines.at + content.size;
        leave_out_torn(&lines);
        cluster->loss_file.size_bytes = lines.end - lines.at;
        undone = lines.end > lines.at && read_lines(&lines, cluster);
    }
    /* A torn line is written over by the next one, which may be shorter. */
    if (lines.status == HW_OK && (undone || (size_t)cluster->loss_file.size_bytes < content.size)) {
        lines.status = write_whole(cluster, path, error);
    }
    hw_buffer_release(&content);
    return lines.status == HW_NOT_FOUND ? HW_OK : lines.status;
}
