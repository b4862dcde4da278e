/* SPDX-License-Identifier: MIT */
#include "tests/support_log.h"

#include "core/io/memory_store.h"
#include "core/record/codec.h"
#include "tests/support_config.h"

#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

int test_log_setup(void **state)
{
    static struct test_log log;

    log = (struct test_log){.config = test_log_config(),
                            .load = {.topic_id = {{1, 2, 3, 4, 5, 6, 7, 8, 9}}}};
    test_heap_init(&log.heap, -1);
    *state = &log;
    return hw_memory_store_create(&log.heap.allocator, &log.store, &log.error) == HW_OK ? 0 : -1;
}

int test_log_teardown(void **state)
{
    struct test_log *t = *state;

    hw_log_close(t->log);
    hw_store_destroy(t->store);
    if (t->heap.bytes_in_use != 0) {
        print_error("%zu bytes were not given back\n", t->heap.bytes_in_use);
        return -1;
    }
    return 0;
}

void test_expect_ok(struct test_log *t, enum hw_status status, const char *file, int line)
{
    if (status != HW_OK) {
        print_error("%s: %s\n", hw_status_name(status), t->error.message);
        _fail(file, line);
    }
    if (t->log != NULL) {
        hw_log_check(t->log);
    }
}

void test_expect_refused(struct test_log *t, enum hw_status status, enum hw_kafka_error kafka,
                         const char *file, int line)
{
    if (status != HW_REFUSED || t->error.kafka_error != kafka) {
        print_error("%s %s instead of %s: %s\n", hw_status_name(status),
                    status == HW_REFUSED ? hw_kafka_error_name(t->error.kafka_error) : "",
                    hw_kafka_error_name(kafka), status == HW_OK ? "" : t->error.message);
        _fail(file, line);
    }
    hw_log_check(t->log);
}

void test_open_log(struct test_log *t, const char *file, int line)
{
    test_expect_ok(t,
                   hw_log_open(&t->heap.allocator, t->store, LOG_DIRECTORY, &t->config, &t->load,
                               t->now_ms, &t->log, &t->recovery, &t->error),
                   file, line);
    hw_log_keep_recent(t->log, t->recent);
}

void close_log(struct test_log *t)
{
    t->load.log_start = hw_log_start(t->log);
    t->load.recovery_point = hw_log_recovery_point(t->log);
    t->load.high_watermark = hw_log_high_watermark(t->log);
    t->load.clean = false;
    hw_log_close(t->log);
    t->log = NULL;
}

void test_reopen_cleanly(struct test_log *t, const char *file, int line)
{
    test_expect_ok(t, hw_log_clean_stop(t->log, &t->error), file, line);
    close_log(t);
    t->load.clean = true;
    test_open_log(t, file, line);
}

void test_crash_and_reopen(struct test_log *t, const char *file, int line)
{
    close_log(t);
    test_open_log(t, file, line);
}

void build_batch(struct hw_buffer *buffer, hw_offset_t base_offset, int count, hw_epoch_t epoch,
                 hw_time_ms_t timestamp)
{
    struct hw_batch_options options = hw_batch_options_plain();
    struct hw_batch_builder builder;
    struct hw_error error;

    options.base_offset = base_offset;
    options.leader_epoch = epoch;
    assert_int_equal(hw_batch_builder_begin(&builder, buffer, base_offset, &error), HW_OK);
    for (int i = 0; i < count; i++) {
        char value[32];
        int size = snprintf(value, sizeof value, "v%d", i);
        struct hw_record record = {.offset = base_offset + i,
                                   .timestamp = timestamp,
                                   .key_size = -1,
                                   .value = (const uint8_t *)value,
                                   .value_size = size};

        assert_int_equal(hw_batch_builder_add(&builder, &record, &error), HW_OK);
    }
    hw_batch_builder_finish(&builder, &options);
}

void build_sized_batch(struct hw_buffer *buffer, hw_offset_t offset, hw_time_ms_t timestamp,
                       size_t size_bytes)
{
    static const uint8_t filler[1 << 16];
    size_t start = buffer->size;

    assert_true(size_bytes >= 80 && size_bytes < sizeof filler);
    /* The varints in front of the value take some bytes or others: try. */
    for (size_t size = size_bytes - 80; buffer->size != start + size_bytes; size++) {
        struct hw_batch_options options = hw_batch_options_plain();
        struct hw_record record = {.offset = offset,
                                   .timestamp = timestamp,
                                   .key_size = -1,
                                   .value = filler,
                                   .value_size = (int32_t)size};
        struct hw_batch_builder builder;
        struct hw_error error;

        buffer->size = start;
        options.base_offset = offset;
        assert_int_equal(hw_batch_builder_begin(&builder, buffer, offset, &error), HW_OK);
        assert_int_equal(hw_batch_builder_add(&builder, &record, &error), HW_OK);
        hw_batch_builder_finish(&builder, &options);
        assert_true(buffer->size <= start + size_bytes);
    }
}

enum hw_status lead_bytes(struct test_log *t, struct hw_buffer *buffer)
{
    struct hw_log_append_info info;

    return hw_log_append_as_leader(t->log, buffer->bytes, buffer->size, 0, t->now_ms, &info,
                                   &t->error);
}

enum hw_status follow_bytes(struct test_log *t, const struct hw_buffer *buffer)
{
    struct hw_log_append_info info;
    enum hw_status status =
        hw_log_append_as_follower(t->log, buffer->bytes, buffer->size, t->now_ms, &info, &t->error);

    hw_log_check(t->log);
    return status;
}

void test_produce_sized(struct test_log *t, hw_time_ms_t timestamp, size_t size_bytes,
                        const char *file, int line)
{
    struct hw_buffer buffer;
    enum hw_status status;

    hw_buffer_init(&buffer, &hw_allocator_libc);
    build_sized_batch(&buffer, 0, timestamp, size_bytes);
    status = lead_bytes(t, &buffer);
    hw_buffer_release(&buffer);
    test_expect_ok(t, status, file, line);
}

void test_log_fill(struct test_log *t, int count)
{
    t->config.segment_bytes = 1000;
    t->config.index_interval_bytes = 150;
    open_log(t);
    for (int i = 0; i < count; i++) {
        produce_sized(t, 10 * i, 100);
    }
}

void test_produce(struct test_log *t, hw_epoch_t epoch, int count, hw_time_ms_t timestamp,
                  const char *file, int line)
{
    struct hw_log_append_info info;
    struct hw_buffer buffer;
    hw_offset_t end = hw_log_end(t->log);
    enum hw_status status;

    hw_buffer_init(&buffer, &hw_allocator_libc);
    build_batch(&buffer, 0, count, HW_EPOCH_NONE, timestamp);
    status = hw_log_append_as_leader(t->log, buffer.bytes, buffer.size, epoch, t->now_ms, &info,
                                     &t->error);
    hw_buffer_release(&buffer);
    test_expect_ok(t, status, file, line);
    assert_int_equal(info.first_offset, end);
    assert_int_equal(info.last_offset, end + count - 1);
}

enum hw_status follow(struct test_log *t, hw_offset_t base_offset, int count, hw_epoch_t epoch,
                      hw_time_ms_t timestamp)
{
    struct hw_buffer buffer;
    enum hw_status status;

    hw_buffer_init(&buffer, &hw_allocator_libc);
    build_batch(&buffer, base_offset, count, epoch, timestamp);
    status = follow_bytes(t, &buffer);
    hw_buffer_release(&buffer);
    return status;
}

void describe_batches(const struct hw_buffer *buffer, char *text, size_t size)
{
    struct hw_batch batch;

    for (size_t at = 0; at < buffer->size; at += hw_batch_size_bytes(&batch)) {
        size_t used = strlen(text);

        if (hw_batch_parse(buffer->bytes + at, buffer->size - at, &batch) != HW_BATCH_OK ||
            !hw_batch_crc_ok(buffer->bytes + at, &batch)) {
            (void)snprintf(text + used, size - used, " broken");
            return;
        }
        (void)snprintf(text + used, size - used,
                       batch.last_offset_delta == 0 ? "%s%lld" : "%s%lld-%lld",
                       used == 0 ? "" : " ", (long long)batch.base_offset,
                       (long long)hw_batch_last_offset(&batch));
    }
}

static void expect_text_at(const char *what, const char *text, const char *expected,
                           const char *file, int line)
{
    if (strcmp(text, expected) != 0) {
        print_error("%s: \"%s\", expected \"%s\"\n", what, text, expected);
        _fail(file, line);
    }
}

void test_expect_read(struct test_log *t, hw_offset_t offset, size_t max_bytes,
                      const char *expected, const char *file, int line)
{
    char text[1000] = "";
    struct hw_buffer buffer;
    enum hw_status status;

    hw_buffer_init(&buffer, &hw_allocator_libc);
    status = hw_log_read(t->log, offset, INT64_MAX, max_bytes, true, &buffer, &t->error);
    describe_batches(&buffer, text, sizeof text);
    hw_buffer_release(&buffer);
    test_expect_ok(t, status, file, line);
    expect_text_at("read", text, expected, file, line);
}

void test_expect_batches(struct test_log *t, const char *expected, const char *file, int line)
{
    char text[1000] = "";
    struct hw_buffer buffer;
    enum hw_status status = HW_OK;
    hw_offset_t offset = hw_log_start(t->log);

    hw_buffer_init(&buffer, &hw_allocator_libc);
    while (status == HW_OK && offset < hw_log_end(t->log)) {
        struct hw_batch batch;

        buffer.size = 0;
        status = hw_log_read(t->log, offset, INT64_MAX, 1, true, &buffer, &t->error);
        if (status != HW_OK || buffer.size == 0) {
            break;
        }
        describe_batches(&buffer, text, sizeof text);
        assert_int_equal(hw_batch_parse(buffer.bytes, buffer.size, &batch), HW_BATCH_OK);
        offset = hw_batch_next_offset(&batch);
    }
    hw_buffer_release(&buffer);
    test_expect_ok(t, status, file, line);
    expect_text_at("batches", text, expected, file, line);
}

void test_expect_epochs(struct test_log *t, const char *expected, const char *file, int line)
{
    const struct hw_epoch_cache *epochs = hw_log_epochs(t->log);
    char text[1000] = "";

    for (size_t i = 0; i < epochs->count; i++) {
        size_t used = strlen(text);

        (void)snprintf(text + used, sizeof text - used, "%s%d:%lld", i == 0 ? "" : " ",
                       epochs->entries[i].epoch, (long long)epochs->entries[i].start_offset);
    }
    expect_text_at("epochs", text, expected, file, line);
}

void test_expect_log(struct test_log *t, hw_offset_t start, hw_offset_t high_watermark,
                     hw_offset_t end, const char *file, int line)
{
    if (hw_log_start(t->log) != start || hw_log_high_watermark(t->log) != high_watermark ||
        hw_log_end(t->log) != end) {
        print_error("log is %lld %lld %lld, expected %lld %lld %lld\n",
                    (long long)hw_log_start(t->log), (long long)hw_log_high_watermark(t->log),
                    (long long)hw_log_end(t->log), (long long)start, (long long)high_watermark,
                    (long long)end);
        _fail(file, line);
    }
}

void test_expect_segments(struct test_log *t, const char *expected, const char *file, int line)
{
    char text[1000] = "";

    for (size_t i = 0; i < hw_log_segment_count(t->log); i++) {
        size_t used = strlen(text);

        (void)snprintf(text + used, sizeof text - used, "%s%lld", i == 0 ? "" : " ",
                       (long long)hw_log_segment_view(t->log, i).base_offset);
    }
    expect_text_at("segments", text, expected, file, line);
}

/* One record must be found at its offset and, unless an earlier one has its timestamp, by that. */
static void expect_record_at(struct test_log *t, const struct hw_record *record, const char *file,
                             int line)
{
    struct hw_buffer buffer;
    struct hw_batch batch = {0};
    hw_offset_t offset;
    hw_time_ms_t timestamp;
    enum hw_status status;

    hw_buffer_init(&buffer, &hw_allocator_libc);
    status = hw_log_read(t->log, record->offset, INT64_MAX, 1, true, &buffer, &t->error);
    test_expect_ok(t, status, file, line);
    (void)hw_batch_parse(buffer.bytes, buffer.size, &batch);
    hw_buffer_release(&buffer);
    if (batch.base_offset > record->offset || hw_batch_last_offset(&batch) < record->offset) {
        print_error("reading at %lld gives a batch from %lld on\n", (long long)record->offset,
                    (long long)batch.base_offset);
        _fail(file, line);
    }
    status = hw_log_offset_for_timestamp(t->log, record->timestamp, INT64_MAX, true, &offset,
                                         &timestamp, &t->error);
    test_expect_ok(t, status, file, line);
    if (offset < 0 || offset > record->offset || timestamp < record->timestamp) {
        print_error("time %lld is found at offset %lld, not at %lld\n",
                    (long long)record->timestamp, (long long)offset, (long long)record->offset);
        _fail(file, line);
    }
}

/* Add the records of the batch at the start of `buffer` that are at or above the log start. */
static void collect_records(struct test_log *t, const struct hw_buffer *buffer,
                            struct hw_buffer *records, hw_offset_t *next_offset)
{
    struct hw_record_iterator iterator;
    struct hw_buffer scratch;
    struct hw_record record;
    struct hw_batch batch;
    bool found = true;

    assert_int_equal(hw_batch_parse(buffer->bytes, buffer->size, &batch), HW_BATCH_OK);
    assert_true(hw_batch_crc_ok(buffer->bytes, &batch));
    *next_offset = hw_batch_next_offset(&batch);
    hw_buffer_init(&scratch, &hw_allocator_libc);
    assert_int_equal(
        hw_record_iterator_open(&iterator, buffer->bytes, &batch, SIZE_MAX, &scratch, &t->error),
        HW_OK);
    while (found) {
        assert_int_equal(hw_record_iterator_next(&iterator, &record, &found, &t->error), HW_OK);
        if (found && record.offset >= hw_log_start(t->log)) {
            assert_int_equal(hw_buffer_append(records, &record, sizeof record, &t->error), HW_OK);
        }
    }
    hw_buffer_release(&scratch);
}

int64_t test_expect_all_readable(struct test_log *t, const char *file, int line)
{
    hw_offset_t offset = hw_log_start(t->log);
    struct hw_buffer buffer;
    struct hw_buffer records;
    size_t count;

    hw_buffer_init(&buffer, &hw_allocator_libc);
    hw_buffer_init(&records, &hw_allocator_libc);
    for (;;) {
        enum hw_status status;

        buffer.size = 0;
        status = hw_log_read(t->log, offset, INT64_MAX, 1, true, &buffer, &t->error);
        test_expect_ok(t, status, file, line);
        if (buffer.size == 0) {
            break;
        }
        collect_records(t, &buffer, &records, &offset);
    }
    /* Backwards, so that the log cannot go on where it was but has to search. */
    count = records.size / sizeof(struct hw_record);
    for (size_t i = count; i > 0; i--) {
        struct hw_record record;

        memcpy(&record, records.bytes + (i - 1) * sizeof record, sizeof record);
        expect_record_at(t, &record, file, line);
    }
    hw_buffer_release(&records);
    hw_buffer_release(&buffer);
    return (int64_t)count;
}

static void file_path(const char *name, char path[HW_PATH_MAX])
{
    (void)snprintf(path, HW_PATH_MAX, "%s/%s", LOG_DIRECTORY, name);
}

void file_read(struct test_log *t, const char *name, struct hw_buffer *content)
{
    char path[HW_PATH_MAX];

    file_path(name, path);
    assert_int_equal(hw_store_read_whole(t->store, path, 1 << 30, content, &t->error), HW_OK);
}

void file_write(struct test_log *t, const char *name, const void *bytes, size_t size)
{
    char path[HW_PATH_MAX];
    struct hw_file *file;

    file_path(name, path);
    assert_int_equal(hw_store_open(t->store, path, HW_OPEN_TRUNCATE, &file, &t->error), HW_OK);
    assert_int_equal(hw_file_write_at(file, 0, bytes, size, &t->error), HW_OK);
    hw_file_close(file);
}

void file_append(struct test_log *t, const char *name, const void *bytes, size_t size)
{
    char path[HW_PATH_MAX];
    struct hw_file *file;
    int64_t end;

    file_path(name, path);
    assert_int_equal(hw_store_open(t->store, path, HW_OPEN_OR_CREATE, &file, &t->error), HW_OK);
    assert_int_equal(hw_file_size(file, &end, &t->error), HW_OK);
    assert_int_equal(hw_file_write_at(file, end, bytes, size, &t->error), HW_OK);
    hw_file_close(file);
}

bool file_exists(struct test_log *t, const char *name)
{
    char path[HW_PATH_MAX];
    bool exists;

    file_path(name, path);
    assert_int_equal(hw_store_exists(t->store, path, &exists, &t->error), HW_OK);
    return exists;
}

int64_t file_size(struct test_log *t, const char *name)
{
    char path[HW_PATH_MAX];
    struct hw_file *file;
    int64_t size = -1;

    file_path(name, path);
    if (hw_store_open(t->store, path, HW_OPEN_READ, &file, &t->error) == HW_OK) {
        assert_int_equal(hw_file_size(file, &size, &t->error), HW_OK);
        hw_file_close(file);
    }
    return size;
}

void file_remove(struct test_log *t, const char *name)
{
    char path[HW_PATH_MAX];

    file_path(name, path);
    assert_int_equal(hw_store_remove(t->store, path, &t->error), HW_OK);
}
