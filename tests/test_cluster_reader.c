/* SPDX-License-Identifier: MIT */
/*
 * Rows of a partition: which are shown to whom, in both directions, and what happens when the
 * cluster moves while they are read. Batches of every shape are put into the leader's log as a
 * follower would; a list of their records says what is to be seen.
 */
#include "core/cluster/reader.h"

#include "core/base/bytes.h"
#include "core/base/random.h"
#include "core/record/compressed_batch.h"
#include "tests/support_topics.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ITEMS_MAX = 6000, BATCH_RECORDS_MAX = 40 };

/* One record of the log, as it is to be seen. */
struct item {
    hw_offset_t offset;
    hw_offset_t batch_base;
    hw_offset_t batch_next;
    hw_time_ms_t timestamp;
    hw_epoch_t epoch;
    int64_t producer_id;
    int32_t sequence;
    uint32_t number; /* Key and value follow from it. */
    const char *control;
};

struct fixture {
    struct test_topics topics;
    struct hw_random random;
    struct hw_log *log;
    struct item *items;
    size_t count;
    hw_epoch_t epoch;
    struct hw_buffer bytes;
    struct hw_buffer packed;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    if (f == NULL) {
        return -1;
    }
    f->items = calloc(ITEMS_MAX, sizeof *f->items);
    test_topics_open(&f->topics, 1);
    (void)test_topics_create(
        &f->topics, "orders", 1, 1,
        (const char *const[]){"segment.bytes", "20000", "index.interval.bytes", "500", NULL});
    f->log = test_topics_log(&f->topics, "orders", 0);
    hw_random_init(&f->random, 1);
    hw_buffer_init(&f->bytes, &hw_allocator_libc);
    hw_buffer_init(&f->packed, &hw_allocator_libc);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    hw_buffer_release(&f->bytes);
    hw_buffer_release(&f->packed);
    test_topics_close(&f->topics);
    free(f->items);
    free(f);
    return 0;
}

/* --------------------------------------------------------------------------- batches to be read */

static int dice(struct fixture *f, int sides)
{
    return (int)hw_random_below(&f->random, (uint64_t)sides);
}

struct shape {
    int records;      /* 0: only a header. */
    bool has_holes;   /* Some offsets are missing, as after compaction. */
    bool ends_early;  /* The last offset is missing too. */
    int control_type; /* -1: data. */
    enum hw_codec codec;
    int64_t producer_id; /* -1: none. */
    int32_t base_sequence;
    int value_size;
};

static struct shape plain_shape(int records)
{
    return (struct shape){
        .records = records, .control_type = -1, .producer_id = -1, .base_sequence = -1};
}

static struct shape random_shape(struct fixture *f)
{
    struct shape shape = plain_shape(1 + dice(f, BATCH_RECORDS_MAX));

    shape.value_size = dice(f, dice(f, 10) == 0 ? 3000 : 60);
    shape.has_holes = dice(f, 3) == 0;
    shape.ends_early = dice(f, 5) == 0;
    if (dice(f, 8) == 0) {
        shape.records = 0;
        shape.ends_early = true;
    }
    if (dice(f, 8) == 0) {
        shape.records = 1;
        shape.control_type = dice(f, 3);
    } else if (dice(f, 3) == 0) {
        shape.codec = (enum hw_codec)dice(f, 5);
    }
    if (dice(f, 2) == 0) {
        shape.producer_id = dice(f, 5);
        shape.base_sequence = dice(f, 2) == 0 ? dice(f, 1000) : INT32_MAX - dice(f, 20);
    }
    return shape;
}

static size_t fill_text(uint8_t *bytes, uint32_t number, int size)
{
    for (int i = 0; i < size; i++) {
        bytes[i] = (uint8_t)(number + (uint32_t)i * 3);
    }
    return (size_t)size;
}

/* Key and value of a record: those of its number, or what a marker has. */
static void fill_record(struct hw_record *record, const struct item *item, int control_type,
                        int value_size, uint8_t key[4], uint8_t *value)
{
    hw_put_u32(key, item->number);
    if (control_type >= 0) {
        hw_put_u16(key, 0);
        hw_put_u16(key + 2, (uint16_t)control_type);
    }
    *record = (struct hw_record){.offset = item->offset,
                                 .timestamp = item->timestamp,
                                 .key = key,
                                 .key_size = 4,
                                 .value = value,
                                 .value_size = value_size};
    (void)fill_text(value, item->number, value_size);
}

static const char *control_name(int type)
{
    static const char *const names[] = {"ABORT", "COMMIT", "2"};

    return type < 0 ? NULL : names[type];
}

/* Append the items of one batch to f->items and its records to the builder; returns its last
 * offset. */
static hw_offset_t build_records(struct fixture *f, struct hw_batch_builder *builder,
                                 const struct shape *shape, hw_offset_t base)
{
    hw_offset_t next = base;
    struct hw_error error;
    uint8_t key[4];
    uint8_t value[3000];

    for (int i = 0; i < shape->records; i++) {
        struct item *item = &f->items[f->count];
        struct hw_record record;

        next += shape->has_holes ? dice(f, 3) : 0;
        *item = (struct item){.offset = next++,
                              .batch_base = base,
                              .timestamp = 1000 + (int64_t)f->count * 10 + dice(f, 200),
                              .epoch = f->epoch,
                              .producer_id = shape->producer_id,
                              .sequence = -1,
                              .number = (uint32_t)f->count,
                              .control = control_name(shape->control_type)};
        if (shape->base_sequence >= 0) {
            item->sequence = hw_sequence_add(shape->base_sequence, (int32_t)(item->offset - base));
        }
        fill_record(&record, item, shape->control_type, shape->value_size, key, value);
        assert_ok(hw_batch_builder_add(builder, &record, &error));
        f->count++;
    }
    return next - 1 + (shape->ends_early ? 1 + dice(f, 3) : 0);
}

/* Put one batch behind the log's end, `gap` offsets further on. */
static void append_batch(struct fixture *f, const struct shape *shape, int gap)
{
    struct hw_batch_options options = hw_batch_options_plain();
    hw_offset_t base = hw_log_end(f->log) + gap;
    size_t first_item = f->count;
    struct hw_record filler = {.offset = base, .key_size = -1, .value_size = -1};
    struct hw_batch_builder builder;
    struct hw_log_append_info info;
    struct hw_batch batch;
    hw_offset_t last;
    struct hw_error error;

    f->bytes.size = 0;
    assert_ok(hw_batch_builder_begin(&builder, &f->bytes, base, &error));
    last = build_records(f, &builder, shape, base);
    if (shape->records == 0) {
        assert_ok(hw_batch_builder_add(&builder, &filler, &error));
    }
    options.base_offset = base;
    options.leader_epoch = f->epoch;
    options.producer_id = shape->producer_id;
    options.producer_epoch = shape->producer_id < 0 ? -1 : 3;
    options.base_sequence = shape->base_sequence;
    options.attributes = shape->control_type >= 0 ? HW_BATCH_CONTROL : 0;
    hw_batch_builder_finish(&builder, &options);

    assert_int_equal(hw_batch_parse(f->bytes.bytes, f->bytes.size, &batch), HW_BATCH_OK);
    batch.last_offset_delta = (int32_t)(last - base);
    if (shape->records == 0) { /* What compaction leaves of a batch: its header. */
        batch.record_count = 0;
        batch.batch_length = HW_BATCH_HEADER_SIZE - HW_BATCH_OVERHEAD;
        f->bytes.size = HW_BATCH_HEADER_SIZE;
    }
    hw_batch_encode(f->bytes.bytes, &batch);
    assert_int_equal(hw_batch_parse(f->bytes.bytes, f->bytes.size, &batch), HW_BATCH_OK);
    f->packed.size = 0;
    assert_ok(hw_batch_recompress(f->bytes.bytes, &batch, shape->codec,
                                  hw_codec_level_default(shape->codec), 1 << 20, &f->packed,
                                  &error));
    assert_ok(hw_log_append_as_follower(f->log, f->packed.bytes, f->packed.size, 0, &info, &error));
    assert_int_equal(hw_log_end(f->log), last + 1);
    for (size_t i = first_item; i < f->count; i++) {
        f->items[i].batch_next = last + 1;
    }
}

static void append_random(struct fixture *f, int batches)
{
    for (int i = 0; i < batches; i++) {
        struct shape shape = random_shape(f);

        f->epoch += dice(f, 6) == 0;
        append_batch(f, &shape, dice(f, 6) == 0 ? dice(f, 4) : 0);
    }
}

static void append_plain(struct fixture *f, int batches, int records)
{
    struct shape shape = plain_shape(records);

    for (int i = 0; i < batches; i++) {
        append_batch(f, &shape, 0);
    }
}

static void set_high_watermark(struct fixture *f, hw_offset_t offset)
{
    (void)hw_log_update_high_watermark(f->log, offset);
}

static struct hw_reader_options options_of(enum hw_read_mode mode)
{
    return (struct hw_reader_options){
        .topic = "orders", .replica = -1, .mode = mode, .end = INT64_MAX};
}

/* ------------------------------------------------------------------------------------- expecting
 */

/* The record's key and value are the item's, or a marker's. */
static void expect_content(const struct item *item, const struct hw_row *row)
{
    uint8_t value[3000];

    assert_int_equal(row->record.key_size, 4);
    if (item->control == NULL) {
        assert_int_equal(hw_get_u32(row->record.key), item->number);
    }
    assert_in_range(row->record.value_size, 0, 3000);
    (void)fill_text(value, item->number, row->record.value_size);
    assert_memory_equal(row->record.value, value, (size_t)row->record.value_size);
}

static const char *visibility_of(struct fixture *f, const struct item *item)
{
    if (item->offset < hw_log_start(f->log)) {
        return "below_log_start";
    }
    if (item->offset >= hw_log_high_watermark(f->log)) {
        return "above_hw";
    }
    return item->control == NULL ? "visible" : "control";
}

static void expect_item(struct fixture *f, const struct item *item, const struct hw_row *row)
{
    expect_content(item, row);
    assert_int_equal(row->partition, 0);
    assert_int_equal(row->record.timestamp, item->timestamp);
    assert_int_equal(row->leader_epoch, item->epoch);
    assert_int_equal(row->producer_id, item->producer_id);
    assert_int_equal(row->producer_epoch, item->producer_id < 0 ? -1 : 3);
    assert_int_equal(row->sequence, item->sequence);
    assert_int_equal(row->batch_base_offset, item->batch_base);
    assert_string_equal(row->visibility, visibility_of(f, item));
    if (item->control == NULL) {
        assert_null(row->control);
    } else {
        assert_string_equal(row->control, item->control);
    }
}

/* Whether a reader with these options is to return the item. */
static bool is_expected(struct fixture *f, const struct hw_reader_options *options,
                        const struct item *item)
{
    if (item->offset < options->first || item->offset >= options->end) {
        return false;
    }
    if (options->mode == HW_READ_LOG) {
        return item->batch_next > hw_log_start(f->log);
    }
    return item->control == NULL && item->offset >= hw_log_start(f->log) &&
           item->offset < hw_log_high_watermark(f->log);
}

/* The next item to be returned, from *i on in the reader's direction; NULL at the end. */
static const struct item *next_expected(struct fixture *f, const struct hw_reader_options *options,
                                        size_t *i)
{
    while (*i < f->count) {
        const struct item *item = &f->items[options->descending ? f->count - 1 - *i : *i];

        (*i)++;
        if (is_expected(f, options, item)) {
            return item;
        }
    }
    return NULL;
}

/* All rows that the reader returns are the list's. */
static void expect_rows(struct fixture *f, const struct hw_reader_options *options)
{
    struct hw_reader *reader;
    struct hw_row row;
    struct hw_error error;
    size_t i = 0;
    bool found = true;

    assert_ok(hw_reader_open(f->topics.cluster, options, &reader, &error));
    while (found) {
        const struct item *item = next_expected(f, options, &i);

        assert_ok(hw_reader_next(reader, &row, &found, &error));
        if (found != (item != NULL) || (found && row.record.offset != item->offset)) {
            fail_msg("mode %d %s[%" PRId64 ", %" PRId64 "): offset %" PRId64 ", expected %" PRId64,
                     (int)options->mode, options->descending ? "descending " : "", options->first,
                     options->end, found ? row.record.offset : -1,
                     item == NULL ? -1 : item->offset);
        }
        if (found && !options->count_only) {
            expect_item(f, item, &row);
        }
    }
    assert_ok(hw_reader_next(reader, &row, &found, &error));
    assert_false(found);
    hw_reader_close(reader);
}

/* ---------------------------------------------------------------------------------------- tests */

/* Case: E-01  Case: E-02 */
static void rows_are_the_records_whatever_the_batches_look_like(void **state)
{
    struct fixture *f = *state;
    uint64_t seed = test_topics_number("HW_SEED", 1);
    hw_offset_t end;

    print_message("seed %" PRIu64 "\n", seed);
    hw_random_init(&f->random, seed);
    append_random(f, 160);
    end = hw_log_end(f->log);
    set_high_watermark(f, end - dice(f, 100));
    for (int i = 0; i < 600; i++) {
        struct hw_reader_options options = options_of((enum hw_read_mode)dice(f, 3));

        if (i % 200 == 199) {
            struct hw_error error;
            bool changed;

            assert_ok(
                hw_log_maybe_increment_log_start(f->log, dice(f, (int)end / 2), &changed, &error));
        }
        if (dice(f, 5) > 0) {
            options.first = dice(f, (int)end + 20) - 10;
        }
        if (dice(f, 5) > 0) {
            options.end = options.first + dice(f, dice(f, 2) == 0 ? 5 : (int)end);
        }
        options.descending = dice(f, 2) == 0;
        options.count_only = dice(f, 3) == 0;
        options.rows_wanted = dice(f, 2) == 0 ? 0 : dice(f, 30);
        expect_rows(f, &options);
    }
}

static void bounds_may_be_any_numbers(void **state)
{
    static const hw_offset_t numbers[] = {INT64_MIN, -1, 0, 5, 29, 30, 31, INT64_MAX};
    struct fixture *f = *state;

    append_plain(f, 6, 5);
    set_high_watermark(f, 30);
    for (size_t first = 0; first < sizeof numbers / sizeof *numbers; first++) {
        for (size_t end = 0; end < sizeof numbers / sizeof *numbers; end++) {
            for (int kind = 0; kind < 8; kind++) {
                struct hw_reader_options options =
                    options_of((kind & 1) != 0 ? HW_READ_LOG : HW_READ_UNCOMMITTED);
                hw_offset_t low;
                hw_offset_t high;
                struct hw_error error;

                options.first = numbers[first];
                options.end = numbers[end];
                options.descending = (kind & 2) != 0;
                options.count_only = (kind & 4) != 0;
                expect_rows(f, &options);
                assert_ok(hw_reader_bounds(f->topics.cluster, &options, &low, &high, &error));
                assert_true(low <= high && low >= 0);
                assert_true(low == high || (low < 30 && high <= 30 && low >= options.first &&
                                            high <= options.end));
            }
        }
    }
}

static void only_what_is_below_the_high_watermark_is_a_row(void **state)
{
    struct fixture *f = *state;
    struct hw_reader_options options = options_of(HW_READ_UNCOMMITTED);
    hw_offset_t first;
    hw_offset_t end;
    struct hw_error error;

    append_plain(f, 2, 10);
    set_high_watermark(f, 7); /* Inside of a batch. */
    assert_ok(hw_reader_bounds(f->topics.cluster, &options, &first, &end, &error));
    assert_int_equal(first, 0);
    assert_int_equal(end, 7);
    expect_rows(f, &options);
    options.descending = true;
    expect_rows(f, &options);
    options.mode = HW_READ_LOG;
    assert_ok(hw_reader_bounds(f->topics.cluster, &options, &first, &end, &error));
    assert_int_equal(end, 20);
}

/* Semantics: design 5: written before a high watermark is shown to a reader */
static void the_high_watermark_is_noted_before_a_row_is_shown(void **state)
{
    struct fixture *f = *state;
    size_t slot = hw_cluster_topic(f->topics.cluster, "orders")->slots[0];
    struct hw_reader_options options = options_of(HW_READ_LOG);
    struct hw_reader *reader;
    struct hw_error error;

    append_plain(f, 1, 10);
    set_high_watermark(f, 10);
    assert_ok(hw_reader_open(f->topics.cluster, &options, &reader, &error));
    hw_reader_close(reader);
    assert_true(hw_shown_file_get(&f->topics.cluster->shown, slot) < 10);

    options.mode = HW_READ_UNCOMMITTED;
    f->topics.faults = (struct hw_faults){.fail_at = 0};
    assert_status(hw_reader_open(f->topics.cluster, &options, &reader, &error), HW_IO);
    f->topics.faults.fail_at = -1;
    assert_ok(hw_reader_open(f->topics.cluster, &options, &reader, &error));
    hw_reader_close(reader);
    assert_int_equal(hw_shown_file_get(&f->topics.cluster->shown, slot), 10);
}

static void a_small_hint_reads_little(void **state)
{
    struct fixture *f = *state;
    struct hw_reader_options options = options_of(HW_READ_LOG);
    struct hw_reader *reader;
    struct hw_row row;
    size_t before;
    struct hw_error error;
    bool found;

    append_plain(f, 300, 20); /* Some 150 KB in 8 segments. */
    for (int i = 0; i < 4; i++) {
        options.rows_wanted = i < 2 ? 1 : 0;
        options.descending = i % 2 == 1;
        before = f->topics.heap.bytes_in_use;
        assert_ok(hw_reader_open(f->topics.cluster, &options, &reader, &error));
        assert_ok(hw_reader_next(reader, &row, &found, &error));
        assert_int_equal(row.record.offset, options.descending ? 5999 : 0);
        if (i < 2) {
            assert_in_range(f->topics.heap.bytes_in_use - before, 1, 8000);
        }
        hw_reader_close(reader);
    }
}

/* ------------------------------------------------------------- what moves while a reader is open
 */

/* A reader that has returned one row, its first chunk being small. */
static struct hw_reader *begin(struct fixture *f, bool descending)
{
    struct hw_reader_options options = options_of(HW_READ_UNCOMMITTED);
    struct hw_reader *reader;
    struct hw_row row;
    struct hw_error error;
    bool found;

    options.descending = descending;
    options.rows_wanted = 1;
    assert_ok(hw_reader_open(f->topics.cluster, &options, &reader, &error));
    assert_ok(hw_reader_next(reader, &row, &found, &error));
    assert_true(found);
    return reader;
}

/* Read on to the end; the last offset returned. */
static enum hw_status finish(struct hw_reader *reader, int *count, hw_offset_t *last,
                             struct hw_error *error)
{
    struct hw_row row;
    bool found = true;
    enum hw_status status = HW_OK;

    *count = 0;
    *last = -1;
    while (status == HW_OK && found) {
        status = hw_reader_next(reader, &row, &found, error);
        if (status == HW_OK && found) {
            (*count)++;
            *last = row.record.offset;
        }
    }
    assert_false(found);
    return status;
}

static void a_reader_does_not_see_what_is_added_later(void **state)
{
    struct fixture *f = *state;
    struct hw_reader *reader;
    struct hw_error error;
    hw_offset_t last;
    int count;

    append_plain(f, 100, 20);
    set_high_watermark(f, 2000);
    reader = begin(f, false);
    append_plain(f, 50, 20);
    set_high_watermark(f, 3000);
    assert_ok(finish(reader, &count, &last, &error));
    assert_int_equal(count, 1999);
    assert_int_equal(last, 1999);
    hw_reader_close(reader);
}

static void a_reader_ends_early_where_the_log_was_cut(void **state)
{
    struct fixture *f = *state;
    struct hw_reader *reader;
    struct hw_error error;
    hw_offset_t last;
    int count;

    append_plain(f, 100, 20);
    set_high_watermark(f, 2000);
    reader = begin(f, false);
    assert_ok(hw_log_truncate_to(f->log, 1000, &error));
    assert_ok(finish(reader, &count, &last, &error));
    assert_int_equal(last, 999);
    hw_reader_close(reader);

    reader = begin(f, true); /* From 999 downwards. */
    assert_ok(hw_log_truncate_to(f->log, 500, &error));
    assert_ok(finish(reader, &count, &last, &error));
    assert_int_equal(last, 0);
    hw_reader_close(reader);

    reader = begin(f, false);
    assert_ok(hw_log_truncate_to(f->log, 0, &error));
    assert_ok(finish(reader, &count, &last, &error));
    assert_in_range(count, 1, 100); /* What was read already. */
    hw_reader_close(reader);
}

static void a_reader_goes_on_behind_deleted_records(void **state)
{
    struct fixture *f = *state;
    struct hw_reader *reader;
    struct hw_error error;
    hw_offset_t last;
    int count;
    bool changed;

    append_plain(f, 100, 20);
    set_high_watermark(f, 2000);
    reader = begin(f, false);
    assert_ok(hw_log_maybe_increment_log_start(f->log, 1500, &changed, &error));
    assert_ok(finish(reader, &count, &last, &error));
    assert_in_range(count, 500, 620);
    assert_int_equal(last, 1999);
    hw_reader_close(reader);
}

static void a_reader_of_a_topic_that_went_says_so(void **state)
{
    struct fixture *f = *state;
    struct hw_reader *readers[2];
    struct hw_row row;
    struct hw_error error;
    hw_offset_t last;
    bool found;
    int count;

    append_plain(f, 100, 20);
    set_high_watermark(f, 2000);
    readers[0] = begin(f, false);
    readers[1] = begin(f, true);
    assert_ok(hw_cluster_delete_topic(f->topics.cluster, "orders", &error));
    assert_status(finish(readers[0], &count, &last, &error), HW_REFUSED);
    assert_int_equal(error.kafka_error, HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION);
    assert_ok(hw_reader_next(readers[0], &row, &found, &error)); /* At its end. */
    assert_false(found);
    (void)test_topics_create(&f->topics, "orders", 1, 1, NULL);
    assert_status(finish(readers[1], &count, &last, &error), HW_REFUSED);
    assert_int_equal(error.kafka_error, HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION);
    assert_non_null(strstr(error.message, "made anew"));
    hw_reader_close(readers[0]);
    hw_reader_close(readers[1]);
}

static void a_reader_needs_a_live_leader_or_replica(void **state)
{
    struct fixture *f = *state;
    struct hw_reader_options options = options_of(HW_READ_UNCOMMITTED);
    struct hw_reader *reader;
    const char *broker_state;
    struct hw_error error;
    hw_offset_t last;
    int count;

    append_plain(f, 100, 20);
    set_high_watermark(f, 2000);
    options.partition = 1;
    assert_status(hw_reader_open(f->topics.cluster, &options, &reader, &error), HW_REFUSED);
    assert_int_equal(error.kafka_error, HW_KAFKA_UNKNOWN_TOPIC_OR_PARTITION);
    options.partition = 0;
    options.replica = 7;
    assert_status(hw_reader_open(f->topics.cluster, &options, &reader, &error), HW_REFUSED);
    assert_int_equal(error.kafka_error, HW_KAFKA_BROKER_NOT_AVAILABLE);

    reader = begin(f, false);
    assert_ok(hw_cluster_crash(f->topics.cluster, 1, false, &broker_state, &error));
    assert_status(finish(reader, &count, &last, &error), HW_REFUSED);
    assert_int_equal(error.kafka_error, HW_KAFKA_LEADER_NOT_AVAILABLE);
    hw_reader_close(reader);
    options.replica = 1;
    assert_status(hw_reader_open(f->topics.cluster, &options, &reader, &error), HW_REFUSED);
    assert_int_equal(error.kafka_error, HW_KAFKA_BROKER_NOT_AVAILABLE);
    options.replica = -1;
    assert_status(hw_reader_open(f->topics.cluster, &options, &reader, &error), HW_REFUSED);
    assert_int_equal(error.kafka_error, HW_KAFKA_LEADER_NOT_AVAILABLE);
}

/* Semantics: KIP-392: below the replica's own high watermark */
static void a_named_replica_shows_what_it_knows_to_be_committed(void **state)
{
    struct fixture *f = *state;
    struct hw_produce produce = {.topic = "twice",
                                 .record = {.key_size = -1, .value_size = -1},
                                 .acks = 1,
                                 .leader_epoch = -1};
    struct hw_reader_options options = options_of(HW_READ_UNCOMMITTED);
    struct hw_produced produced;
    hw_offset_t first;
    hw_offset_t end;
    int64_t records;
    struct hw_error error;

    assert_ok(hw_cluster_add_broker(f->topics.cluster, 2, NULL, NULL, &error));
    (void)test_topics_create(&f->topics, "twice", 1, 2, NULL);
    assert_ok(hw_cluster_produce(f->topics.cluster, &produce, &produced, &error));
    assert_ok(hw_cluster_fetch_round(f->topics.cluster, "twice", 0, &records, &error));
    options.topic = "twice";
    assert_ok(hw_reader_bounds(f->topics.cluster, &options, &first, &end, &error));
    assert_int_equal(end, 1);
    options.replica = 2;
    assert_ok(hw_reader_bounds(f->topics.cluster, &options, &first, &end, &error));
    assert_int_equal(end, 0);
    assert_ok(hw_cluster_fetch_round(f->topics.cluster, "twice", 0, &records, &error));
    assert_ok(hw_reader_bounds(f->topics.cluster, &options, &first, &end, &error));
    assert_int_equal(end, 1);
}

/* ----------------------------------------------------------------------------------- bad bytes */

/* Change one byte of the first segment, from its end. */
static void damage(struct fixture *f, int64_t from_end)
{
    const char *path = "cluster/broker-1/orders-0/00000000000000000000.log";
    struct hw_file *file;
    struct hw_error error;
    int64_t size;
    uint8_t byte;
    size_t got;

    assert_ok(hw_store_open(f->topics.memory, path, HW_OPEN_EXISTING, &file, &error));
    assert_ok(hw_file_size(file, &size, &error));
    assert_ok(hw_file_read_at(file, size - from_end, &byte, 1, &got, &error));
    byte ^= 1;
    assert_ok(hw_file_write_at(file, size - from_end, &byte, 1, &error));
    hw_file_close(file);
}

static void a_damaged_batch_is_an_error_when_it_is_reached(void **state)
{
    struct fixture *f = *state;
    struct hw_reader_options options = options_of(HW_READ_UNCOMMITTED);
    struct hw_reader *reader;
    struct hw_error error;
    hw_offset_t last;
    int count;

    append_plain(f, 3, 10);
    set_high_watermark(f, 30);
    damage(f, 1);
    assert_ok(hw_reader_open(f->topics.cluster, &options, &reader, &error));
    assert_status(finish(reader, &count, &last, &error), HW_CORRUPT);
    assert_int_equal(count, 20);
    assert_non_null(strstr(error.message, "orders-0: the checksum of the batch at offset 20"));
    assert_ok(finish(reader, &count, &last, &error)); /* It is at its end. */
    assert_int_equal(count, 0);
    hw_reader_close(reader);

    options.descending = true;
    assert_ok(hw_reader_open(f->topics.cluster, &options, &reader, &error));
    assert_status(finish(reader, &count, &last, &error), HW_CORRUPT);
    assert_int_equal(count, 0);
    hw_reader_close(reader);
    options.end = 20; /* What is not wanted is not looked at. */
    assert_ok(hw_reader_open(f->topics.cluster, &options, &reader, &error));
    assert_ok(finish(reader, &count, &last, &error));
    assert_int_equal(count, 20);
    hw_reader_close(reader);
}

/* A batch whose checksum is right and whose records have the offsets 0, `second` and 4. */
static void append_odd(struct fixture *f, uint8_t second)
{
    struct hw_batch_options options = hw_batch_options_plain();
    struct hw_batch_builder builder;
    struct hw_log_append_info info;
    struct hw_batch batch;
    struct hw_error error;

    f->bytes.size = 0;
    assert_ok(hw_batch_builder_begin(&builder, &f->bytes, 0, &error));
    for (hw_offset_t offset = 0; offset <= 4; offset += 2) {
        struct hw_record record = {.offset = offset, .key_size = -1, .value_size = -1};

        assert_ok(hw_batch_builder_add(&builder, &record, &error));
    }
    hw_batch_builder_finish(&builder, &options);
    /* length, attributes, timestamp, offset delta, key, value, header count: 7 bytes a record. */
    assert_int_equal(f->bytes.size, HW_BATCH_HEADER_SIZE + 3 * 7);
    f->bytes.bytes[HW_BATCH_HEADER_SIZE + 7 + 3] = (uint8_t)(second * 2);
    assert_int_equal(hw_batch_parse(f->bytes.bytes, f->bytes.size, &batch), HW_BATCH_OK);
    hw_batch_encode(f->bytes.bytes, &batch);
    assert_ok(hw_log_append_as_follower(f->log, f->bytes.bytes, f->bytes.size, 0, &info, &error));
}

static void records_whose_offsets_do_not_grow_are_an_error(void **state)
{
    struct fixture *f = *state;
    struct hw_reader_options options = options_of(HW_READ_LOG);
    static const uint8_t seconds[] = {0, 4, 5};

    for (size_t i = 0; i < sizeof seconds; i++) {
        for (int descending = 0; descending < 2; descending++) {
            struct hw_reader *reader;
            struct hw_error error;
            hw_offset_t last;
            int count;

            assert_ok(hw_log_truncate_to(f->log, 0, &error));
            append_odd(f, seconds[i]);
            options.descending = descending == 1;
            assert_ok(hw_reader_open(f->topics.cluster, &options, &reader, &error));
            assert_status(finish(reader, &count, &last, &error), HW_CORRUPT);
            assert_non_null(strstr(error.message, "in the batch [0, 4] has offset"));
            hw_reader_close(reader);
        }
    }
}

/* ------------------------------------------------------------------------------------------ time
 */

/* The result must split the records of the bounds: none before it is late enough. */
static void expect_time(struct fixture *f, const struct hw_reader_options *options,
                        hw_time_ms_t timestamp)
{
    hw_offset_t offset;
    struct hw_error error;
    bool is_item = false;

    assert_ok(
        hw_reader_offset_for_timestamp(f->topics.cluster, options, timestamp, &offset, &error));
    for (size_t i = 0; i < f->count; i++) {
        const struct item *item = &f->items[i];

        if (offset == item->offset) {
            assert_true(item->timestamp >= timestamp);
            assert_true(item->offset >= options->first && item->offset < options->end);
            is_item = true;
        } else if (is_expected(f, options, item) &&
                   (offset == HW_OFFSET_NONE || item->offset < offset)) {
            assert_true(item->timestamp < timestamp);
        }
    }
    assert_true(is_item || offset == HW_OFFSET_NONE);
}

/* Semantics: R10.10 */
static void the_first_offset_of_a_time_is_found_within_bounds(void **state)
{
    struct fixture *f = *state;
    uint64_t seed = test_topics_number("HW_SEED", 7);
    int end;

    print_message("seed %" PRIu64 "\n", seed);
    hw_random_init(&f->random, seed);
    append_random(f, 120);
    end = (int)hw_log_end(f->log);
    set_high_watermark(f, end - dice(f, 50));
    for (int i = 0; i < 300; i++) {
        struct hw_reader_options options = options_of(HW_READ_UNCOMMITTED);

        if (dice(f, 3) > 0) {
            options.first = dice(f, end);
            options.end = options.first + dice(f, end);
        }
        expect_time(f, &options, 900 + dice(f, (int)f->count * 10 + 500));
    }
}

/* ---------------------------------------------------------------------------------------- faults
 */

static enum hw_status read_all(struct fixture *f, bool descending, int *count)
{
    struct hw_reader_options options = options_of(HW_READ_UNCOMMITTED);
    struct hw_reader *reader;
    struct hw_error error;
    hw_offset_t last;
    enum hw_status status;

    options.descending = descending;
    status = hw_reader_open(f->topics.cluster, &options, &reader, &error);
    if (status == HW_OK) {
        status = finish(reader, count, &last, &error);
    }
    hw_reader_close(reader);
    return status;
}

static void every_allocation_and_every_call_of_the_store_can_fail(void **state)
{
    struct fixture *f = *state;

    append_random(f, 30);
    set_high_watermark(f, hw_log_end(f->log));
    for (int kind = 0; kind < 4; kind++) {
        bool descending = kind % 2 == 1;
        enum hw_status status = HW_MISUSE;
        int all;
        int count;

        assert_int_equal(read_all(f, descending, &all), HW_OK);
        for (int fail_at = 0; status != HW_OK; fail_at++) {
            size_t before = f->topics.heap.bytes_in_use;

            if (kind < 2) {
                f->topics.heap.fail_at = f->topics.heap.allocations + fail_at;
            } else {
                f->topics.faults = (struct hw_faults){.fail_at = fail_at};
            }
            status = read_all(f, descending, &count);
            f->topics.heap.fail_at = -1;
            f->topics.faults.fail_at = -1;
            assert_true(status == HW_OK || status == (kind < 2 ? HW_NO_MEMORY : HW_IO));
            assert_int_equal(f->topics.heap.bytes_in_use, before);
            assert_true(status != HW_OK || (count == all && fail_at > 3));
        }
    }
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        T(rows_are_the_records_whatever_the_batches_look_like),
        T(bounds_may_be_any_numbers),
        T(only_what_is_below_the_high_watermark_is_a_row),
        T(the_high_watermark_is_noted_before_a_row_is_shown),
        T(a_small_hint_reads_little),
        T(a_reader_does_not_see_what_is_added_later),
        T(a_reader_ends_early_where_the_log_was_cut),
        T(a_reader_goes_on_behind_deleted_records),
        T(a_reader_of_a_topic_that_went_says_so),
        T(a_reader_needs_a_live_leader_or_replica),
        T(a_named_replica_shows_what_it_knows_to_be_committed),
        T(a_damaged_batch_is_an_error_when_it_is_reached),
        T(records_whose_offsets_do_not_grow_are_an_error),
        T(the_first_offset_of_a_time_is_found_within_bounds),
        T(every_allocation_and_every_call_of_the_store_can_fail),
    };
#undef T

    return cmocka_run_group_tests_name("cluster_reader", tests, NULL, NULL);
}
