/* SPDX-License-Identifier: MIT */
/*
 * The logs of a partition's replicas side by side, as text of at most 80 columns:
 *
 *     orders-0  leader 1, epoch 1, isr [1,2], min.insync.replicas 2
 *                0    5|   10
 *     1 leader   [0....|1...)   leo 9 hw 5
 *     2 in isr   [0....|1.)     leo 7 hw 5
 *     3 follower [0......)      leo 7 hw 3
 *                      ^ hw 5
 *                  ^ lso 2
 *     open transactions: producer 4 from 2 on
 *
 * [ is a log's start, ) its end. Each epoch begins with its number. Where a log does not fit, one
 * column stands for 2, 5, 10, 20 ... offsets.
 */
#include "core/base/broker_list.h"
#include "core/look/views_internal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { DIAGRAM_WIDTH = 80, DIAGRAM_PICTURE_MIN = 24, DIAGRAM_LABEL_SIZE = 40 };

struct diagram {
    const struct hw_cluster *cluster;
    const struct hw_partition *partition;
    hw_offset_t high_watermark; /* Of the leader; HW_OFFSET_NONE: nobody leads. */
    hw_offset_t last_stable;    /* The same. */
    bool is_utf8;
    struct hw_buffer *text;
    enum hw_status status;
    struct hw_error *error;

    int picture;      /* Column where the picture begins: that of a [ at offset `first`. */
    int log_end_size; /* Widths of the numbers on the right; 0: not shown. */
    int high_watermark_size;
    hw_offset_t first; /* Of the first cell. */
    hw_offset_t end;   /* Largest log end. */
    int64_t scale;     /* Offsets a cell. */
    char line[DIAGRAM_WIDTH + 1];
};

/* --------------------------------------------------------------------------------------- lines */

static void line_begin(struct diagram *d)
{
    memset(d->line, ' ', DIAGRAM_WIDTH);
    d->line[DIAGRAM_WIDTH] = '\0';
}

/* Put text at a column; what is beyond the edge is left out. */
__attribute__((format(printf, 3, 4))) static void line_put(struct diagram *d, int column,
                                                           const char *format, ...)
{
    char text[DIAGRAM_WIDTH + 1];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (int i = 0; text[i] != '\0' && column + i < DIAGRAM_WIDTH; i++) {
        d->line[column + i] = text[i];
    }
}

static void append(struct diagram *d, const char *text, size_t size)
{
    if (d->status == HW_OK) {
        d->status = hw_buffer_append(d->text, text, size, d->error);
    }
}

static const char *utf8_of(char c)
{
    static const char *const drawn[] = {"[├", ")┤", ".─", "|║", "^╨"};

    for (size_t i = 0; i < sizeof drawn / sizeof drawn[0]; i++) {
        if (drawn[i][0] == c) {
            return drawn[i] + 1;
        }
    }
    return NULL;
}

/* Add the line to the text, without the blanks at its end. */
static void line_end(struct diagram *d)
{
    int length = DIAGRAM_WIDTH;

    while (length > 0 && d->line[length - 1] == ' ') {
        length--;
    }
    append(d, "\n", 1);
    for (int i = 0; i < length; i++) {
        const char *drawn = d->is_utf8 ? utf8_of(d->line[i]) : NULL;

        append(d, drawn == NULL ? &d->line[i] : drawn, drawn == NULL ? 1 : strlen(drawn));
    }
}

/* ------------------------------------------------------------------------------------ measuring */

static const char *role_of(const struct diagram *d, hw_broker_id_t id)
{
    const struct hw_partition *partition = d->partition;
    const struct hw_replica *replica = hw_partition_find(partition, id);
    char failure[HW_VIEWS_FAILURE_SIZE];

    if (hw_views_failure(d->cluster, partition, id, failure)) {
        return hw_broker_list_contains(&partition->record.isr, id) ? "failed, in isr" : "failed";
    }
    if (replica == NULL) {
        return "down";
    }
    if (replica->role == HW_ROLE_LEADER) {
        return id == partition->record.leader ? "leader" : "deposed leader";
    }
    if (id == partition->record.leader) {
        return "leader, not told";
    }
    if (!hw_broker_list_contains(&partition->record.replicas, id)) {
        return "removed, not told";
    }
    return hw_broker_list_contains(&partition->record.isr, id) ? "in isr" : "follower";
}

/* Also one that the record has dropped and that has not heard of it. */
static bool diagram_has(const struct hw_partition *partition, hw_broker_id_t id)
{
    return hw_broker_list_contains(&partition->record.replicas, id) ||
           hw_partition_find(partition, id) != NULL;
}

static int label_of(const struct diagram *d, hw_broker_id_t id, char text[DIAGRAM_LABEL_SIZE])
{
    return snprintf(text, DIAGRAM_LABEL_SIZE, "%" PRId32 " %s", id, role_of(d, id));
}

static int digits_of(int64_t number)
{
    char text[24];

    return snprintf(text, sizeof text, "%" PRId64, number);
}

static int larger(int a, int b)
{
    return HW_MAX(a, b);
}

/* What must be seen of the logs, and how wide the numbers are. */
static void measure_logs(struct diagram *d, hw_offset_t *first)
{
    d->log_end_size = 1;
    d->high_watermark_size = 1;
    for (int32_t i = 0; i < d->partition->replica_count; i++) {
        const struct hw_replica *replica = d->partition->replicas[i];
        hw_offset_t start = hw_log_start(replica->log);
        hw_offset_t end = hw_log_end(replica->log);
        hw_offset_t high_watermark = d->partition->variant->high_watermark(d->partition, replica);

        *first = i == 0 || start < *first ? start : *first;
        d->end = HW_MAX(end, d->end);
        d->log_end_size = larger(d->log_end_size, digits_of(end));
        d->high_watermark_size = larger(d->high_watermark_size, digits_of(high_watermark));
    }
}

/* Columns behind the picture. */
static int numbers_width(const struct diagram *d)
{
    return 2 + (int)strlen("leo ") + d->log_end_size +
           (d->high_watermark_size == 0 ? 0 : (int)strlen(" hw ") + d->high_watermark_size);
}

/* 1, 2, 5, 10, 20 ... */
static int64_t next_scale(int64_t scale)
{
    int64_t leading = scale;

    while (leading >= 10) {
        leading /= 10;
    }
    return leading == 2 ? scale / 2 * 5 : scale * 2;
}

static void measure(struct diagram *d)
{
    hw_offset_t first = 0;
    char label[DIAGRAM_LABEL_SIZE];
    int cells_max; /* That fit. */

    measure_logs(d, &first);
    for (size_t i = 0; i < d->cluster->broker_count; i++) {
        hw_broker_id_t id = d->cluster->brokers[i]->id;

        if (diagram_has(d->partition, id)) {
            d->picture = larger(d->picture, label_of(d, id, label) + 1);
        }
    }
    /* Beside the cells a [, the line of the high watermark, and a ) need a column. */
    cells_max = DIAGRAM_WIDTH - d->picture - numbers_width(d) - 3;
    if (cells_max < DIAGRAM_PICTURE_MIN) {
        d->high_watermark_size = 0;
        cells_max = DIAGRAM_WIDTH - d->picture - numbers_width(d) - 3;
    }
    d->scale = 1;
    d->first = first;
    while ((d->end - d->first) / d->scale >= cells_max) {
        d->scale = next_scale(d->scale);
        d->first = first - first % d->scale;
    }
}

/* ------------------------------------------------------------------------------------- drawing */

/* The cell of an offset, or the one behind the cell that holds the offset before it. */
static int cell_of(const struct diagram *d, hw_offset_t offset)
{
    return (int)((offset - d->first) / d->scale);
}

static int cell_behind(const struct diagram *d, hw_offset_t offset)
{
    return (int)((offset - d->first) / d->scale) + ((offset - d->first) % d->scale != 0);
}

/* Cells from the high watermark on stand behind its line. */
static int column_of(const struct diagram *d, int cell)
{
    bool is_behind =
        d->high_watermark != HW_OFFSET_NONE && cell >= cell_behind(d, d->high_watermark);

    return d->picture + 1 + cell + is_behind;
}

static int line_column(const struct diagram *d)
{
    return d->picture + 1 + cell_behind(d, d->high_watermark);
}

/* The epoch of the last record in a cell. */
static hw_epoch_t epoch_of_cell(const struct diagram *d, const struct hw_log *log, int cell)
{
    hw_offset_t start = d->first + cell * d->scale;
    hw_offset_t left = hw_log_end(log) - start;

    return hw_epoch_cache_epoch_for_offset(hw_log_epochs(log), start + HW_MIN(left, d->scale) - 1);
}

/* Cells [from, end) of one epoch: its number, then dots; # where the number does not fit. */
static void draw_epoch(struct diagram *d, hw_epoch_t epoch, int from, int end)
{
    char number[16];
    int length = snprintf(number, sizeof number, "%" PRId32, epoch);

    for (int cell = from; cell < end; cell++) {
        char c = length > end - from ? '#' : cell - from < length ? number[cell - from] : '.';

        d->line[column_of(d, cell)] = epoch == HW_EPOCH_NONE ? '?' : c;
    }
}

static void draw_log(struct diagram *d, const struct hw_replica *replica)
{
    const struct hw_log *log = replica->log;
    int end = cell_behind(d, hw_log_end(log));
    int from = hw_log_start(log) == hw_log_end(log) ? end : cell_of(d, hw_log_start(log));

    d->line[from == 0 ? d->picture : column_of(d, from - 1)] = '[';
    for (int cell = from; cell < end;) {
        hw_epoch_t epoch = epoch_of_cell(d, log, cell);
        int next = cell + 1;

        while (next < end && epoch_of_cell(d, log, next) == epoch) {
            next++;
        }
        draw_epoch(d, epoch, cell, next);
        cell = next;
    }
    d->line[column_of(d, end)] = ')';
}

static void draw_replica(struct diagram *d, hw_broker_id_t id)
{
    const struct hw_replica *replica = hw_partition_find(d->partition, id);
    int right = d->picture + 1 + cell_behind(d, d->end) + 4;
    char label[DIAGRAM_LABEL_SIZE];

    line_begin(d);
    (void)label_of(d, id, label);
    line_put(d, 0, "%s", label);
    if (replica != NULL) {
        draw_log(d, replica);
        line_put(d, right, "leo %*" PRId64, d->log_end_size, hw_log_end(replica->log));
        if (d->high_watermark_size > 0) {
            line_put(d, right + 4 + d->log_end_size, " hw %*" PRId64, d->high_watermark_size,
                     d->partition->variant->high_watermark(d->partition, replica));
        }
    }
    if (d->high_watermark != HW_OFFSET_NONE) {
        d->line[line_column(d)] = '|';
    }
    line_end(d);
}

/* The offset of the first cell, unless a mark is in its place, `to_mark` offsets further. */
static void draw_first_offset(struct diagram *d, int64_t to_mark)
{
    bool has_mark = to_mark <= d->end - d->first;

    if (!has_mark || to_mark / d->scale > digits_of(d->first)) {
        line_put(d, column_of(d, 0), "%" PRId64, d->first);
    }
}

/* Offsets above the cells, as many as there is room for. */
static void draw_axis(struct diagram *d)
{
    int needed = larger(5, digits_of(d->end) + 2);
    int64_t step = d->scale;
    hw_offset_t offset = d->first;

    while (step / d->scale < needed && step <= INT64_MAX / 5) {
        step = next_scale(step);
    }
    line_begin(d);
    draw_first_offset(d, (step - d->first % step) % step);
    /* The sums stay below the end: it may be near the largest offset there is. */
    for (int64_t next = (step - d->first % step) % step; next <= d->end - offset; next = step) {
        offset += next;
        line_put(d, column_of(d, cell_of(d, offset)), "%" PRId64, offset);
        if (step / d->scale < needed) {
            break;
        }
    }
    line_end(d);
}

/* A mark of the leader. There is room for it: a log end, with no fewer digits, stands further to the
 * right. */
static void draw_mark(struct diagram *d, int column, const char *name, hw_offset_t offset)
{
    line_begin(d);
    line_put(d, column, "^ %s %" PRId64, name, offset);
    line_end(d);
}

/* Add ", producer 4 from 2 on" to the line that ends at *column; false where it is full. */
static bool draw_open(struct diagram *d, int *column, const struct hw_producer *producer)
{
    static const char title[] = "open transactions: ";
    char text[DIAGRAM_WIDTH];
    int length =
        snprintf(text, sizeof text, "%sproducer %" PRId64 " from %" PRId64 " on",
                 *column == 0 ? title : ", ", producer->producer_id, producer->transaction_start);
    bool fits = *column + length <= DIAGRAM_WIDTH - (int)strlen(" ...");

    line_put(d, *column, "%s", fits ? text : " ...");
    *column += length;
    return fits;
}

static void draw_open_transactions(struct diagram *d, const struct hw_producer_state *state)
{
    int column = 0;
    bool fits = true;

    line_begin(d);
    for (size_t i = 0; i < state->count && fits; i++) {
        if (state->producers[i].transaction_start != HW_OFFSET_NONE) {
            fits = draw_open(d, &column, &state->producers[i]);
        }
    }
    if (column > 0) {
        line_end(d);
    }
}

static void draw_marks(struct diagram *d, const struct hw_replica *leader)
{
    draw_mark(d, line_column(d), "hw", d->high_watermark);
    if (d->last_stable < d->high_watermark) {
        draw_mark(d, column_of(d, cell_of(d, d->last_stable)), "lso", d->last_stable);
    }
    draw_open_transactions(d, hw_log_producers(leader->log));
}

/* Add lines of words, the first of which may be cut off. */
static void draw_words(struct diagram *d, char *words)
{
    for (char *at = words; *at != '\0'; at++) {
        *at = *at < ' ' || *at > '~' ? '?' : *at; /* A file's name may be anything. */
    }
    while (*words != '\0') {
        size_t size = strlen(words);
        size_t taken = size;

        if (size > DIAGRAM_WIDTH) {
            taken = DIAGRAM_WIDTH;
            while (taken > 1 && words[taken] != ' ') {
                taken--;
            }
            taken = taken > 1 ? taken : DIAGRAM_WIDTH;
        }
        append(d, "\n", 1);
        append(d, words, taken);
        words += taken;
        words += *words == ' ' ? 1 : 0;
    }
}

/* Who cannot go on, and what mends it. */
static void draw_failures(struct diagram *d)
{
    const struct hw_broker_list *replicas = &d->partition->record.replicas;
    char failure[HW_VIEWS_FAILURE_SIZE];
    char words[HW_VIEWS_FAILURE_SIZE + 24];

    for (int32_t i = 0; i < replicas->count; i++) {
        if (hw_views_failure(d->cluster, d->partition, replicas->ids[i], failure)) {
            (void)snprintf(words, sizeof words, "broker %" PRId32 " %s", replicas->ids[i], failure);
            draw_words(d, words);
        }
    }
}

/* Name and state: in one line if they fit. */
static void draw_title(struct diagram *d)
{
    const struct hw_partition_record *record = &d->partition->record;
    char facts[HW_BROKER_LIST_TEXT_SIZE + 128];
    char isr[HW_BROKER_LIST_TEXT_SIZE];
    char leader[40] = "no leader";
    size_t length = strlen(d->partition->name);

    if (record->leader != HW_BROKER_ID_NONE) {
        (void)snprintf(leader, sizeof leader, "leader %" PRId32 "%s", record->leader,
                       hw_partition_find(d->partition, record->leader) == NULL ? " (down)" : "");
    }
    (void)snprintf(facts, sizeof facts,
                   "%s, epoch %" PRId32 ", isr %s, min.insync.replicas %" PRId32, leader,
                   record->leader_epoch, hw_broker_list_format(&record->isr, isr, sizeof isr),
                   d->partition->settings->min_insync_replicas);
    if (length > DIAGRAM_WIDTH) {
        append(d, d->partition->name, DIAGRAM_WIDTH - 3);
        append(d, "...", 3);
    } else {
        append(d, d->partition->name, length);
    }
    if (length + 2 + strlen(facts) <= DIAGRAM_WIDTH) {
        append(d, "  ", 2);
    } else {
        append(d, "\n", 1);
    }
    if (strlen(facts) > DIAGRAM_WIDTH) {
        memcpy(&facts[DIAGRAM_WIDTH - 3], "...", 4);
    }
    append(d, facts, strlen(facts));
}

enum hw_status hw_cluster_diagram(const struct hw_cluster *cluster, const char *topic,
                                  int64_t partition, bool is_utf8, struct hw_buffer *text,
                                  struct hw_error *error)
{
    struct diagram d = {.cluster = cluster, .is_utf8 = is_utf8, .text = text, .error = error};
    struct hw_partition *p;
    const struct hw_replica *leader;
    enum hw_status status = hw_cluster_find_partition(cluster, topic, partition, &p, error);

    if (status != HW_OK) {
        return status;
    }
    d.partition = p;
    leader = hw_partition_leader(p);
    d.high_watermark =
        leader == NULL ? HW_OFFSET_NONE : cluster->variant->high_watermark(p, leader);
    d.last_stable =
        leader == NULL ? HW_OFFSET_NONE : hw_views_last_stable(leader, d.high_watermark);
    measure(&d);
    draw_title(&d);
    if (p->replica_count > 0) {
        draw_axis(&d);
    }
    for (size_t i = 0; i < cluster->broker_count; i++) {
        if (diagram_has(p, cluster->brokers[i]->id)) {
            draw_replica(&d, cluster->brokers[i]->id);
        }
    }
    if (leader != NULL) {
        draw_marks(&d, leader);
    }
    if (d.scale > 1) {
        line_begin(&d);
        line_put(&d, 0, "one column is %" PRId64 " offsets", d.scale);
        line_end(&d);
    }
    draw_failures(&d);
    return d.status;
}
