/* SPDX-License-Identifier: MIT */
#include "tests/support_reader.h"

#include "core/base/bytes.h"
#include "core/record/codec.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"

enum {
    ITEMS_MAX = 6000,
    BATCH_RECORDS_MAX = 40,
    VALUE_SIZE_MAX = 3000,
    CONTROL_SHORT = 3 /* A control record whose key is too short to name a type. */
};

int test_reader_setup(void **state)
{
    struct test_reader *f = calloc(1, sizeof *f);

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

int test_reader_teardown(void **state)
{
    struct test_reader *f = *state;

    hw_buffer_release(&f->bytes);
    hw_buffer_release(&f->packed);
    test_topics_close(&f->topics);
    free(f->items);
    free(f);
    return 0;
}

/* --------------------------------------------------------------------------- batches to be read */

int test_reader_dice(struct test_reader *f, int sides)
{
    return (int)hw_random_below(&f->random, (uint64_t)sides);
}

struct test_shape test_shape_plain(int records)
{
    return (struct test_shape){
        .records = records, .control_type = -1, .producer_id = -1, .base_sequence = -1};
}

static struct test_shape random_shape(struct test_reader *f)
{
    struct test_shape shape = test_shape_plain(1 + test_reader_dice(f, BATCH_RECORDS_MAX));

    shape.value_size = test_reader_dice(f, test_reader_dice(f, 10) == 0 ? VALUE_SIZE_MAX : 60);
    shape.has_holes = test_reader_dice(f, 3) == 0;
    shape.ends_early = test_reader_dice(f, 5) == 0;
    if (test_reader_dice(f, 8) == 0) {
        shape.records = 0;
        shape.ends_early = true;
    }
    if (test_reader_dice(f, 8) == 0) {
        shape.records = 1;
        shape.control_type = test_reader_dice(f, 4);
    } else if (test_reader_dice(f, 3) == 0) {
        shape.codec = (enum hw_codec)test_reader_dice(f, 5);
    }
    if (test_reader_dice(f, 2) == 0) {
        shape.producer_id = test_reader_dice(f, 5);
        shape.base_sequence = test_reader_dice(f, 2) == 0 ? test_reader_dice(f, 1000)
                                                          : INT32_MAX - test_reader_dice(f, 20);
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
static void fill_record(struct hw_record *record, const struct test_item *item, int control_type,
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
                                 .key_size = control_type == CONTROL_SHORT ? 2 : 4,
                                 .value = value,
                                 .value_size = value_size};
    (void)fill_text(value, item->number, value_size);
}

static const char *control_name(int type)
{
    static const char *const names[] = {"ABORT", "COMMIT", "LEADER_CHANGE", "UNKNOWN"};

    return type < 0 ? NULL : names[type];
}

/* Append the items of one batch to f->items and its records to the builder; returns its last
 * offset. */
static hw_offset_t build_records(struct test_reader *f, struct hw_batch_builder *builder,
                                 const struct test_shape *shape, hw_offset_t base)
{
    hw_offset_t next = base;
    struct hw_error error;
    uint8_t key[4];
    uint8_t value[VALUE_SIZE_MAX];

    for (int i = 0; i < shape->records; i++) {
        struct test_item *item = &f->items[f->count];
        struct hw_record record;

        next += shape->has_holes ? test_reader_dice(f, 3) : 0;
        *item = (struct test_item){.offset = next++,
                                   .batch_base = base,
                                   .timestamp =
                                       1000 + (int64_t)f->count * 10 + test_reader_dice(f, 200),
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
    return next - 1 + (shape->ends_early ? 1 + test_reader_dice(f, 3) : 0);
}

/* Put one batch behind the log's end, `gap` offsets further on. */
void append_shape(struct test_reader *f, const struct test_shape *shape, int gap)
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
    assert_ok(
        hw_batch_recompress(f->bytes.bytes, &batch, shape->codec, 1 << 20, &f->packed, &error));
    assert_ok(hw_log_append_as_follower(f->log, f->packed.bytes, f->packed.size, 0, &info, &error));
    assert_int_equal(hw_log_end(f->log), last + 1);
    for (size_t i = first_item; i < f->count; i++) {
        f->items[i].batch_next = last + 1;
    }
}

void append_random(struct test_reader *f, int batches)
{
    for (int i = 0; i < batches; i++) {
        struct test_shape shape = random_shape(f);

        f->epoch += test_reader_dice(f, 6) == 0;
        append_shape(f, &shape, test_reader_dice(f, 6) == 0 ? test_reader_dice(f, 4) : 0);
    }
}

void append_plain(struct test_reader *f, int batches, int records)
{
    struct test_shape shape = test_shape_plain(records);

    for (int i = 0; i < batches; i++) {
        append_shape(f, &shape, 0);
    }
}

void set_high_watermark(struct test_reader *f, hw_offset_t offset)
{
    (void)hw_log_update_high_watermark(f->log, offset);
}

struct hw_reader_options options_of(enum hw_read_mode mode)
{
    return (struct hw_reader_options){
        .topic = "orders", .replica = -1, .mode = mode, .end = INT64_MAX};
}

/* ------------------------------------------------------------------------------------ expecting */

/* The record's key and value are the item's, or a marker's. */
static void expect_content(const struct test_item *item, const struct hw_row *row)
{
    uint8_t value[VALUE_SIZE_MAX];

    if (item->control == NULL) {
        assert_int_equal(row->record.key_size, 4);
        assert_int_equal(hw_get_u32(row->record.key), item->number);
    }
    assert_in_range(row->record.value_size, 0, VALUE_SIZE_MAX);
    (void)fill_text(value, item->number, row->record.value_size);
    assert_memory_equal(row->record.value, value, (size_t)row->record.value_size);
}

static const char *visibility_of(struct test_reader *f, const struct test_item *item)
{
    if (item->offset < hw_log_start(f->log)) {
        return "below_log_start";
    }
    if (item->offset >= hw_log_high_watermark(f->log)) {
        return "above_hw";
    }
    return item->control == NULL ? "visible" : "control";
}

static void expect_item(struct test_reader *f, const struct test_item *item,
                        const struct hw_row *row)
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
bool test_reader_is_expected(struct test_reader *f, const struct hw_reader_options *options,
                             const struct test_item *item)
{
    if (item->offset < options->first || item->offset >= options->end) {
        return false;
    }
    if (options->mode == HW_READ_LOG) {
        return item->offset >= hw_log_first_segment_base(f->log);
    }
    return item->control == NULL && item->offset >= hw_log_start(f->log) &&
           item->offset < hw_log_high_watermark(f->log);
}

/* The next item to be returned, from *i on in the reader's direction; NULL at the end. */
static const struct test_item *next_expected(struct test_reader *f,
                                             const struct hw_reader_options *options, size_t *i)
{
    while (*i < f->count) {
        const struct test_item *item = &f->items[options->descending ? f->count - 1 - *i : *i];

        (*i)++;
        if (test_reader_is_expected(f, options, item)) {
            return item;
        }
    }
    return NULL;
}

/* At some rows, take those that the reader has read ahead of it. */
static void expect_rows_ahead(struct test_reader *f, const struct hw_reader_options *options,
                              struct hw_reader *reader, struct hw_row *row, size_t *i)
{
    const struct hw_record *ahead;
    const struct hw_record *end;

    if (options->mode == HW_READ_LOG || options->count_only || row->record.offset % 3 != 0) {
        return;
    }
    for (hw_reader_take_ahead(reader, &ahead, &end); ahead < end; ahead++) {
        const struct test_item *item = next_expected(f, options, i);

        assert_non_null(item);
        row->record = *ahead;
        row->sequence = item->sequence;
        assert_int_equal(row->record.offset, item->offset);
        expect_item(f, item, row);
    }
}

void test_reader_expect_rows(struct test_reader *f, const struct hw_reader_options *options,
                             const char *file, int line)
{
    struct hw_reader *reader;
    struct hw_row row;
    struct hw_error error;
    size_t i = 0;
    bool found = true;

    assert_ok(hw_reader_open(f->topics.cluster, options, &reader, &error));
    while (found) {
        const struct test_item *item = next_expected(f, options, &i);

        assert_ok(hw_reader_next(reader, &row, &found, &error));
        if (found != (item != NULL) || (found && row.record.offset != item->offset)) {
            print_error(
                "mode %d %s[%" PRId64 ", %" PRId64 "): offset %" PRId64 ", expected %" PRId64 "\n",
                (int)options->mode, options->descending ? "descending " : "", options->first,
                options->end, found ? row.record.offset : -1, item == NULL ? -1 : item->offset);
            _fail(file, line);
        }
        if (found && !options->count_only) {
            expect_item(f, item, &row);
            expect_rows_ahead(f, options, reader, &row, &i);
        }
    }
    assert_ok(hw_reader_next(reader, &row, &found, &error));
    assert_false(found);
    hw_reader_close(reader);
}

enum hw_status test_reader_finish(struct hw_reader *reader, int *count, hw_offset_t *last,
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
