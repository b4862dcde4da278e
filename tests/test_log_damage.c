/* SPDX-License-Identifier: MIT */
/*
 * A log whose files were changed at random: it opens, it can be used, it never stops the program,
 * and what it reads is whole. HW_SEED and HW_STEPS in the environment choose other damages.
 */
#include "core/base/random.h"
#include "core/record/batch.h"
#include "tests/support_log.h"
#include "tests/support_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct vandal {
    struct test_log *t;
    struct hw_random random;
};

static uint64_t roll_dice(struct vandal *v, uint64_t bound)
{
    return hw_random_below(&v->random, bound);
}

static void build_log(struct vandal *v)
{
    struct test_log *t = v->t;

    t->load = (struct hw_log_load){.topic_id = t->load.topic_id};
    t->config.segment_bytes = 500 + (int32_t)roll_dice(v, 1000);
    t->config.index_interval_bytes = (int32_t)roll_dice(v, 200);
    open_log(t);
    for (int i = 0; i < 40; i++) {
        if (roll_dice(v, 3) == 0) {
            expect_ok(t, follow(t, hw_log_end(t->log) + (hw_offset_t)roll_dice(v, 3),
                                1 + (int)roll_dice(v, 4), i / 10, 10 * i));
        } else {
            produce(t, i / 10, 1 + (int)roll_dice(v, 4),
                    30 + 10 * i - (hw_time_ms_t)roll_dice(v, 30));
        }
    }
    hw_log_update_high_watermark(t->log, hw_log_end(t->log) / 2);
    expect_ok(t, hw_log_clean_stop(t->log, &t->error));
    close_log(t);
}

/* Plausible index entries: in order, but not the right ones. */
static void forge_index(struct vandal *v, struct hw_buffer *content, bool is_time)
{
    uint64_t key = 0;
    uint64_t value = 0;
    uint64_t count = roll_dice(v, 20);

    content->size = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint8_t entry[12];
        size_t size = is_time ? 12 : 8;

        key += 1 + roll_dice(v, 6);
        value += 1 + roll_dice(v, is_time ? 4 : 120);
        memset(entry, 0, sizeof entry);
        entry[is_time ? 6 : 2] = (uint8_t)(key >> 8);
        entry[is_time ? 7 : 3] = (uint8_t)key;
        entry[size - 2] = (uint8_t)(value >> 8);
        entry[size - 1] = (uint8_t)value;
        expect_ok(v->t, hw_buffer_append(content, entry, size, &v->t->error));
    }
}

static void damage_content(struct vandal *v, struct hw_buffer *content, const char *name)
{
    bool is_time = strstr(name, ".timeindex") != NULL;

    switch (roll_dice(v, strstr(name, "index") != NULL ? 6 : 4)) {
    case 0:
        content->size = (size_t)roll_dice(v, content->size + 1);
        break;
    case 1:
        for (uint64_t i = roll_dice(v, 8) + 1; i > 0 && content->size > 0; i--) {
            content->bytes[roll_dice(v, content->size)] ^= (uint8_t)(1 << roll_dice(v, 8));
        }
        break;
    case 2:
        for (uint64_t i = roll_dice(v, 100); i > 0; i--) {
            uint8_t byte = roll_dice(v, 2) == 0 ? 0 : (uint8_t)hw_random_next(&v->random);

            expect_ok(v->t, hw_buffer_append(content, &byte, 1, &v->t->error));
        }
        break;
    case 3:
        if (content->size > 0) { /* A run that another place of the file has. */
            size_t from = (size_t)roll_dice(v, content->size);
            size_t to = (size_t)roll_dice(v, content->size);
            size_t size = content->size - (from > to ? from : to);

            memmove(content->bytes + to, content->bytes + from, (size_t)roll_dice(v, size + 1));
        }
        break;
    default:
        forge_index(v, content, is_time);
        break;
    }
}

static void damage_one_file(struct vandal *v)
{
    struct hw_name_list names = {.allocator = &v->t->heap.allocator};
    struct hw_buffer content;
    const char *name;

    expect_ok(v->t, hw_store_list(v->t->store, LOG_DIRECTORY, &names, &v->t->error));
    name = names.names[roll_dice(v, names.count)];
    if (strcmp(name, "partition.metadata") != 0) {
        hw_buffer_init(&content, &hw_allocator_libc);
        file_read(v->t, name, &content);
        if (roll_dice(v, 8) == 0) {
            file_remove(v->t, name);
        } else if (roll_dice(v, 10) == 0) {
            file_write(v->t, names.names[roll_dice(v, names.count)], content.bytes, content.size);
        } else {
            damage_content(v, &content, name);
            file_write(v->t, name, content.bytes, content.size);
        }
        hw_buffer_release(&content);
    }
    hw_name_list_release(&names);
}

/* Damage that is found while reading is an error, and nothing else is. */
static void expect_ok_or_corrupt(struct vandal *v, enum hw_status status)
{
    if (status != HW_OK && status != HW_CORRUPT) {
        fail_msg("%s: %s", hw_status_name(status), v->t->error.message);
    }
    hw_log_check(v->t->log);
}

static void read_everything(struct vandal *v)
{
    struct test_log *t = v->t;
    struct hw_buffer buffer;
    enum hw_status status = HW_OK;
    hw_offset_t offset = hw_log_start(t->log);

    hw_buffer_init(&buffer, &hw_allocator_libc);
    while (status == HW_OK && offset < hw_log_end(t->log)) {
        struct hw_batch batch;
        hw_offset_t found;
        hw_time_ms_t timestamp;

        buffer.size = 0;
        status = hw_log_read(t->log, offset, INT64_MAX, (size_t)roll_dice(v, 1000), true, &buffer,
                             &t->error);
        expect_ok_or_corrupt(v, status);
        if (status != HW_OK || buffer.size == 0) {
            break;
        }
        for (size_t at = 0; at < buffer.size; at += hw_batch_size_bytes(&batch)) {
            assert_int_equal(hw_batch_parse(buffer.bytes + at, buffer.size - at, &batch),
                             HW_BATCH_OK);
            assert_true(hw_batch_next_offset(&batch) > offset);
        }
        expect_ok_or_corrupt(v, hw_log_offset_for_timestamp(t->log, 10 * (hw_time_ms_t)offset,
                                                            INT64_MAX, true, &found, &timestamp,
                                                            &t->error));
        buffer.size = 0;
        expect_ok_or_corrupt(
            v, hw_log_read_before(t->log, hw_log_start(t->log), offset, 300, &buffer, &t->error));
        (void)hw_log_bytes_between(t->log, offset, hw_log_end(t->log));
        /* Nobody must come back to where they were. */
        assert_true(hw_batch_next_offset(&batch) > offset);
        offset = hw_batch_next_offset(&batch);
    }
    hw_buffer_release(&buffer);
}

/* What replication does with a log after it was opened. */
static void use(struct vandal *v)
{
    struct test_log *t = v->t;
    hw_offset_t end = hw_log_end(t->log);
    bool rolled;

    read_everything(v);
    for (int i = 0; i < 5 && end < INT32_MAX; i++) {
        produce(t, 50, 1 + (int)roll_dice(v, 4), 1000 + i);
    }
    if (roll_dice(v, 2) == 0) {
        expect_ok(t, hw_log_roll(t->log, 0, &rolled, &t->error));
    }
    if (roll_dice(v, 2) == 0) {
        hw_offset_t offset = (hw_offset_t)roll_dice(v, (uint64_t)end + 1);

        expect_ok_or_corrupt(v, hw_log_truncate_to(t->log, offset, &t->error));
        if (end < INT32_MAX) {
            produce(t, 51, 2, 2000);
        }
    }
    read_everything(v);
}

TEST_AGAIN(a_damaged_log_can_be_opened_and_used, void **state)
{
    const char *seed_text = getenv("HW_SEED");
    const char *steps_text = getenv("HW_STEPS");
    uint64_t seed = seed_text == NULL ? 1 : strtoull(seed_text, NULL, 10);
    uint64_t steps = steps_text == NULL ? 400 : strtoull(steps_text, NULL, 10);

    for (uint64_t i = 0; i < steps; i++) {
        struct test_log *t = *state;
        struct vandal vandal = {.t = t};

        hw_random_init(&vandal.random, seed + i);
        build_log(&vandal);
        for (uint64_t k = roll_dice(&vandal, 5) + 1; k > 0; k--) {
            damage_one_file(&vandal);
        }
        t->load.clean = roll_dice(&vandal, 2) == 0;
        t->load.recovery_point = (hw_offset_t)roll_dice(&vandal, 150);
        if (hw_log_open(&t->heap.allocator, t->store, LOG_DIRECTORY, &t->config, &t->load, 0,
                        &t->log, &t->recovery, &t->error) != HW_OK) {
            fail_msg("seed %llu: %s", (unsigned long long)(seed + i), t->error.message);
        }
        use(&vandal);
        crash_and_reopen(t);
        use(&vandal);
        assert_int_equal(test_log_teardown(state), 0);
        assert_int_equal(test_log_setup(state), 0);
    }
}

int main(void)
{
    return test_run(test_log_setup, test_log_teardown);
}
