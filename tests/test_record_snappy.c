/* SPDX-License-Identifier: MIT */
/*
 * Is the Snappy in C that packages are built with the same format as libsnappy? Each reads what the
 * other has written, and of damaged blocks both say the same.
 */
#include "core/base/random.h"
#include "tests/support_snappy.h"

#include <snappy-c.h>
#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

enum { PLAIN_MAX = 200000, ROOM = 300000 };

static char plain[PLAIN_MAX];
static char block[ROOM];
static char for_damaged[ROOM];
static char by_us[PLAIN_MAX];
static char by_them[PLAIN_MAX];

static uint32_t pick(struct hw_random *random, uint32_t count)
{
    return (uint32_t)hw_random_below(random, count);
}

/* Bytes that repeat themselves at random distances, with something new in between. */
static void fill(struct hw_random *random, size_t size)
{
    uint32_t letters = 1 + pick(random, 256);
    size_t at = 0;

    while (at < size) {
        size_t run = 1 + pick(random, 1u << (1 + pick(random, 12)));

        run = run < size - at ? run : size - at;
        if (at > 0 && pick(random, 3) != 0) {
            size_t distance = 1 + pick(random, (uint32_t)(at < 70000 ? at : 70000));

            for (size_t i = 0; i < run; i++) {
                plain[at + i] = plain[at + i - distance];
            }
        } else {
            for (size_t i = 0; i < run; i++) {
                plain[at + i] = (char)pick(random, letters);
            }
        }
        at += run;
    }
}

static size_t some_size(struct hw_random *random)
{
    return pick(random, pick(random, 4) == 0 ? PLAIN_MAX : 1u << (1 + pick(random, 10)));
}

TEST_ALONE(each_reads_what_the_other_wrote)
{
    struct hw_random random = {0};

    hw_random_init(&random, 1);
    for (int i = 0; i < 400; i++) {
        size_t size = some_size(&random);
        size_t block_size = ROOM;
        size_t plain_size = PLAIN_MAX;

        fill(&random, size);
        assert_true(test_snappy_compress(plain, size, block, &block_size));
        assert_int_equal(snappy_uncompress(block, block_size, by_them, &plain_size), SNAPPY_OK);
        assert_int_equal(plain_size, size);
        assert_memory_equal(by_them, plain, size);

        block_size = ROOM;
        plain_size = PLAIN_MAX;
        assert_int_equal(snappy_compress(plain, size, block, &block_size), SNAPPY_OK);
        assert_true(test_snappy_uncompress(block, block_size, by_us, &plain_size));
        assert_int_equal(plain_size, size);
        assert_memory_equal(by_us, plain, size);
    }
}

/* A tenth of the bytes of text that says the same again and again are enough. */
TEST_ALONE(what_repeats_becomes_small)
{
    size_t block_size = ROOM;
    size_t size = 0;

    while (size < PLAIN_MAX - 100) {
        size += (size_t)snprintf(plain + size, PLAIN_MAX - size,
                                 "{\"order\":%zu,\"state\":\"paid\"}", size % 10);
    }
    assert_true(test_snappy_compress(plain, size, block, &block_size));
    assert_true(block_size < size / 10);
}

/* The same bytes on every machine: a sum of what some blocks are. */
TEST_ALONE(the_compressed_bytes_are_the_same_everywhere)
{
    struct hw_random random = {0};
    uint32_t sum = 0;

    hw_random_init(&random, 3);
    for (int i = 0; i < 50; i++) {
        size_t size = some_size(&random);
        size_t block_size = ROOM;

        fill(&random, size);
        assert_true(test_snappy_compress(plain, size, block, &block_size));
        for (size_t at = 0; at < block_size; at++) {
            sum = sum * 31 + (uint8_t)block[at];
        }
    }
    assert_int_equal(sum, 0x3d7a62dd);
}

TEST_ALONE(damaged_blocks_are_judged_alike)
{
    struct hw_random random = {0};
    int refused = 0;
    int compared = 0;

    hw_random_init(&random, 2);
    for (int i = 0; i < 20000; i++) {
        size_t size = 1 + pick(&random, 600);
        size_t block_size = ROOM;
        size_t our_size = 0;
        size_t their_size = 0;
        char *damaged;
        bool ours;
        bool theirs;

        fill(&random, size);
        assert_true(test_snappy_compress(plain, size, block, &block_size));
        for (uint32_t flips = pick(&random, 4); flips > 0; flips--) {
            block[pick(&random, (uint32_t)block_size)] ^= (char)(1 << pick(&random, 8));
        }
        block_size -= pick(&random, 3) == 0 ? pick(&random, (uint32_t)block_size) : 0;
        /* At the end of its memory, so that a sanitizer sees a read behind it. */
        damaged = for_damaged + ROOM - block_size;
        memcpy(damaged, block, block_size);
        theirs = snappy_uncompressed_length(damaged, block_size, &their_size) == SNAPPY_OK;
        ours = test_snappy_plain_size(damaged, block_size, &our_size);
        assert_int_equal(ours, theirs);
        if (!ours || our_size > PLAIN_MAX) {
            continue;
        }
        assert_int_equal(our_size, their_size);
        theirs = snappy_uncompress(damaged, block_size, by_them, &their_size) == SNAPPY_OK;
        ours = test_snappy_uncompress(damaged, block_size, by_us, &our_size);
        assert_int_equal(ours, theirs);
        refused += !ours;
        compared++;
        if (ours) {
            assert_int_equal(our_size, their_size);
            assert_memory_equal(by_us, by_them, our_size);
        }
    }
    assert_true(refused > 2000 && compared - refused > 2000);
}

TEST_ALONE(too_little_room_is_refused)
{
    size_t size = test_snappy_room(100) - 1;

    memset(plain, 'x', 100);
    assert_false(test_snappy_compress(plain, 100, block, &size));
    size = ROOM;
    assert_true(test_snappy_compress(plain, 100, block, &size));
    assert_int_equal(test_snappy_room(100), snappy_max_compressed_length(100));
    {
        size_t plain_size = 99;

        assert_false(test_snappy_uncompress(block, size, by_us, &plain_size));
    }
}

int main(void)
{
    return test_run(NULL, NULL);
}
