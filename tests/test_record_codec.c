/* SPDX-License-Identifier: MIT */
/*
 * Do the codecs read every framing that is found in real files, write the one that Kafka's clients
 * read, and refuse everything else without harm? Source: the compress package of Kafka's clients.
 */
#include "core/base/bytes.h"
#include "core/base/random.h"
#include "core/record/codec.h"
#include "support_batch.h"
#include "support_heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support_test.h"
#include <lz4frame.h>

enum { LIMIT = 1 << 20 };

/* Buffers of a test. */
struct fixture {
    struct hw_buffer plain;
    struct hw_buffer packed;
    struct hw_buffer out;
};

static int set_up(void **state)
{
    static struct fixture fixture;

    hw_buffer_init(&fixture.plain, &hw_allocator_libc);
    hw_buffer_init(&fixture.packed, &hw_allocator_libc);
    hw_buffer_init(&fixture.out, &hw_allocator_libc);
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    hw_buffer_release(&fixture->plain);
    hw_buffer_release(&fixture->packed);
    hw_buffer_release(&fixture->out);
    return 0;
}

static void append(struct hw_buffer *buffer, const void *bytes, size_t size)
{
    struct hw_error error;

    assert_int_equal(hw_buffer_append(buffer, bytes, size, &error), HW_OK);
}

static void append_u32(struct hw_buffer *buffer, uint32_t value)
{
    uint8_t bytes[4];

    hw_put_u32(bytes, value);
    append(buffer, bytes, sizeof bytes);
}

/* Decompress a copy of exactly its size, so that ASan sees what is read behind it. */
static enum hw_status unpack(struct fixture *fixture, int codec_id, int magic, size_t limit,
                             struct hw_error *error)
{
    uint8_t *copy = malloc(fixture->packed.size + 1);
    enum hw_status status;

    assert_non_null(copy);
    if (fixture->packed.size > 0) {
        memcpy(copy + 1, fixture->packed.bytes, fixture->packed.size);
    }
    fixture->out.size = 0;
    status = hw_codec_decompress(codec_id, magic, copy + 1, fixture->packed.size, limit,
                                 &fixture->out, error);
    free(copy);
    assert_true(status == HW_OK || fixture->out.size == 0);
    return status;
}

/* packed must give plain. */
#define expect_plain(fixture, codec_id, magic)                                                     \
    expect_plain_at(fixture, codec_id, magic, __FILE__, __LINE__)
static void expect_plain_at(struct fixture *fixture, int codec_id, int magic, const char *file,
                            int line)
{
    struct hw_error error;

    if (unpack(fixture, codec_id, magic, LIMIT, &error) != HW_OK) {
        print_error("%s\n", error.message);
        _fail(file, line);
    }
    if (fixture->out.size != fixture->plain.size ||
        (fixture->out.size > 0 &&
         memcmp(fixture->out.bytes, fixture->plain.bytes, fixture->out.size) != 0)) {
        print_error("%zu plain bytes, expected %zu others\n", fixture->out.size,
                    fixture->plain.size);
        _fail(file, line);
    }
}

/* packed must be refused with a message that has `part` in it. */
#define expect_corrupt(fixture, codec_id, magic, part)                                             \
    expect_corrupt_at(fixture, codec_id, magic, part, __FILE__, __LINE__)
static void expect_corrupt_at(struct fixture *fixture, int codec_id, int magic, const char *part,
                              const char *file, int line)
{
    struct hw_error error;
    enum hw_status status = unpack(fixture, codec_id, magic, LIMIT, &error);

    if (status != HW_CORRUPT || strstr(error.message, part) == NULL) {
        print_error("%s: %s\n", hw_status_name(status), status == HW_OK ? "" : error.message);
        _fail(file, line);
    }
}

/* `size` bytes of what a log holds: text that repeats, with some noise in it. */
static void make_plain(struct hw_buffer *plain, size_t size)
{
    struct hw_random random;
    struct hw_error error;

    hw_random_init(&random, size);
    plain->size = 0;
    assert_int_equal(hw_buffer_reserve(plain, size + 1, &error), HW_OK);
    for (size_t i = 0; i < size; i++) {
        plain->bytes[i] = i % 7 == 0 ? (uint8_t)hw_random_next(&random) : (uint8_t) "record"[i % 6];
    }
    plain->size = size;
}

static void pack(struct fixture *fixture, enum hw_codec codec)
{
    struct hw_error error;

    fixture->packed.size = 0;
    assert_int_equal(hw_codec_compress(codec, fixture->plain.bytes, fixture->plain.size,
                                       &fixture->packed, &error),
                     HW_OK);
}

TEST(each_payload_vector_gives_the_plain_records, struct fixture *fixture)
{
    static const char *names[] = {NULL, "H-payload.gz", "H-payload.snappy", "H-payload.lz4",
                                  "H-payload.zst"};

    test_read_vector(&fixture->plain, "H-payload.plain");
    for (int codec = HW_CODEC_GZIP; codec <= HW_CODEC_ZSTD; codec++) {
        fixture->packed.size = 0;
        test_read_vector(&fixture->packed, names[codec]);
        expect_plain(fixture, codec, 2);
    }
}

TEST(what_is_compressed_comes_back_whatever_its_size, struct fixture *fixture)
{
    static const size_t sizes[] = {0, 1, 27, 32767, 32768, 32769, 65536, 65537, 400000};

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        make_plain(&fixture->plain, sizes[s]);
        for (int codec = HW_CODEC_NONE; codec <= HW_CODEC_ZSTD; codec++) {
            pack(fixture, (enum hw_codec)codec);
            expect_plain(fixture, codec, 2);
            /* Each makes it smaller, or there is no codec at work. */
            if (sizes[s] > 30000 && codec != HW_CODEC_NONE) {
                assert_true(fixture->packed.size < sizes[s] * 9 / 10);
            }
        }
    }
}

/* Both ways append: what the buffers held before stays. */
TEST(output_goes_behind_what_the_buffer_holds, struct fixture *fixture)
{
    struct hw_error error;

    make_plain(&fixture->plain, 100);
    for (int codec = HW_CODEC_NONE; codec <= HW_CODEC_ZSTD; codec++) {
        fixture->packed.size = fixture->out.size = 0;
        append(&fixture->packed, "before", 6);
        append(&fixture->out, "before", 6);
        assert_int_equal(hw_codec_compress((enum hw_codec)codec, fixture->plain.bytes, 100,
                                           &fixture->packed, &error),
                         HW_OK);
        assert_memory_equal(fixture->packed.bytes, "before", 6);
        assert_int_equal(hw_codec_decompress(codec, 2, fixture->packed.bytes + 6,
                                             fixture->packed.size - 6, 100, &fixture->out, &error),
                         HW_OK);
        assert_int_equal(fixture->out.size, 106);
        assert_memory_equal(fixture->out.bytes, "before", 6);
        assert_memory_equal(fixture->out.bytes + 6, fixture->plain.bytes, 100);
    }
}

/* The frame that Kafka's reader insists on: see kafka's Lz4BlockOutputStream. */
TEST(lz4_frames_have_independent_blocks_of_64_kib_and_nothing_else, struct fixture *fixture)
{
    static const uint8_t header[] = {0x04, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82};
    static const size_t sizes[] = {0, 27, 65536, 400000};

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        make_plain(&fixture->plain, sizes[s]);
        pack(fixture, HW_CODEC_LZ4);
        assert_true(fixture->packed.size >= sizeof header + 4);
        assert_memory_equal(fixture->packed.bytes, header, sizeof header);
        assert_int_equal(hw_get_u32(fixture->packed.bytes + fixture->packed.size - 4), 0);
    }
}

/* Header with version 1 and 1, then a chunk for each 32768 bytes. */
TEST(snappy_is_written_in_chunks_of_32_kib, struct fixture *fixture)
{
    static const uint8_t header[] = {0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0, 0, 0, 0, 1, 0, 0, 0, 1};
    size_t at = sizeof header;
    int chunks = 0;

    make_plain(&fixture->plain, 2 * 32768 + 5);
    pack(fixture, HW_CODEC_SNAPPY);
    assert_memory_equal(fixture->packed.bytes, header, sizeof header);
    while (at < fixture->packed.size) {
        at += 4 + hw_get_u32(fixture->packed.bytes + at);
        chunks++;
    }
    assert_int_equal(at, fixture->packed.size);
    assert_int_equal(chunks, 3);
}

/* Case: E-10. What producers other than Kafka's own have written. */
TEST(snappy_is_read_in_every_framing, struct fixture *fixture)
{
    static const uint8_t magic[] = {0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0};
    static const uint32_t versions[] = {1, 0x01000000, 0, 0xffffffff};
    const uint8_t block[] = {0x03, 0x08, 'a', 'b', 'c'};

    append(&fixture->plain, "abc", 3);
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        fixture->packed.size = 0;
        append(&fixture->packed, magic, sizeof magic);
        append_u32(&fixture->packed, versions[i]);
        append_u32(&fixture->packed, versions[i]);
        append_u32(&fixture->packed, sizeof block);
        append(&fixture->packed, block, sizeof block);
        expect_plain(fixture, HW_CODEC_SNAPPY, 2);
    }

    /* Up to three bytes are no chunk size. */
    append(&fixture->packed, "\0\0\0", 3);
    expect_plain(fixture, HW_CODEC_SNAPPY, 2);

    /* A block without a frame, as librdkafka writes it. */
    fixture->packed.size = 0;
    append(&fixture->packed, block, sizeof block);
    expect_plain(fixture, HW_CODEC_SNAPPY, 0);

    /* Two chunks, the second behind another header, of little-endian version 1. */
    append(&fixture->plain, "abc", 3);
    fixture->packed.size = 0;
    append(&fixture->packed, magic, sizeof magic);
    append_u32(&fixture->packed, 1);
    append_u32(&fixture->packed, 1);
    append_u32(&fixture->packed, sizeof block);
    append(&fixture->packed, block, sizeof block);
    append(&fixture->packed, magic, sizeof magic);
    append_u32(&fixture->packed, 0x01000000);
    append_u32(&fixture->packed, 0x01000000);
    append_u32(&fixture->packed, sizeof block);
    append(&fixture->packed, block, sizeof block);
    expect_plain(fixture, HW_CODEC_SNAPPY, 2);

    /* There the version counts, and all of the magic. */
    hw_put_u32(fixture->packed.bytes + 16 + 9 + 8, 0);
    expect_corrupt(fixture, HW_CODEC_SNAPPY, 2, "snappy: a header between the chunks");
    hw_put_u32(fixture->packed.bytes + 16 + 9 + 8, 1);
    fixture->packed.bytes[16 + 9 + 7] = 1;
    expect_corrupt(fixture, HW_CODEC_SNAPPY, 2, "snappy: a header between the chunks");
}

TEST(a_snappy_chunk_must_fit_and_be_a_block, struct fixture *fixture)
{
    static const uint8_t frame[] = {0x82, 'S', 'N', 'A', 'P', 'P', 'Y', 0, 0, 0, 0, 1, 0, 0, 0, 1};
    static const struct {
        uint32_t size;
        uint8_t block[5];
        const char *message;
    } cases[] = {
        {6, {0x03, 0x08, 'a', 'b', 'c'}, "a chunk does not end"},
        {UINT32_MAX, {0x03, 0x08, 'a', 'b', 'c'}, "a chunk does not end"},
        {0, {0x03, 0x08, 'a', 'b', 'c'}, "a block has no size"},
        {4, {0x03, 0x08, 'a', 'b', 'c'}, "a block is damaged"},
        {5, {0x04, 0x08, 'a', 'b', 'c'}, "a block is damaged"},
        {5, {0xff, 0xff, 0xff, 0x0f, 0x00}, "a block has no size"},
        {5, {0xff, 0xff, 0xff, 0xff, 0xff}, "a block has no size"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture->packed.size = 0;
        append(&fixture->packed, frame, sizeof frame);
        append_u32(&fixture->packed, cases[i].size);
        append(&fixture->packed, cases[i].block, sizeof cases[i].block);
        expect_corrupt(fixture, HW_CODEC_SNAPPY, 2, cases[i].message);
    }
    fixture->packed.size = 0;
    expect_corrupt(fixture, HW_CODEC_SNAPPY, 2, "a block has no size");
}

/* Case: E-10. Old producers hashed the magic too: 0x1a in place of 0x82. */
TEST(an_old_lz4_header_checksum_is_accepted_in_magic_0_and_1_only, struct fixture *fixture)
{
    test_read_vector(&fixture->plain, "H-payload.plain");
    test_read_vector(&fixture->packed, "H-payload.lz4");
    assert_int_equal(fixture->packed.bytes[6], 0x82);
    expect_plain(fixture, HW_CODEC_LZ4, 0);
    fixture->packed.bytes[6] = 0x1a;
    expect_plain(fixture, HW_CODEC_LZ4, 0);
    expect_plain(fixture, HW_CODEC_LZ4, 1);
    expect_corrupt(fixture, HW_CODEC_LZ4, 2, "lz4: the frame header has a wrong checksum");
}

/* A frame of liblz4's with the options that a producer could choose. */
static void make_lz4_frame(struct fixture *fixture, LZ4F_frameInfo_t info)
{
    LZ4F_preferences_t preferences = {.frameInfo = info};
    size_t room = LZ4F_compressFrameBound(fixture->plain.size, &preferences);
    struct hw_error error;

    fixture->packed.size = 0;
    assert_int_equal(hw_buffer_reserve(&fixture->packed, room, &error), HW_OK);
    fixture->packed.size = LZ4F_compressFrame(fixture->packed.bytes, room, fixture->plain.bytes,
                                              fixture->plain.size, &preferences);
    assert_false(LZ4F_isError(fixture->packed.size));
}

TEST(lz4_frames_with_sizes_and_checksums_are_read, struct fixture *fixture)
{
    static const LZ4F_frameInfo_t infos[] = {
        {.blockMode = LZ4F_blockIndependent, .contentSize = 1},
        {.blockMode = LZ4F_blockIndependent, .contentChecksumFlag = LZ4F_contentChecksumEnabled},
        {.blockMode = LZ4F_blockIndependent, .blockChecksumFlag = LZ4F_blockChecksumEnabled},
        {.blockMode = LZ4F_blockIndependent, .blockSizeID = LZ4F_max4MB},
        {.blockMode = LZ4F_blockIndependent,
         .blockSizeID = LZ4F_max256KB,
         .contentSize = 1,
         .contentChecksumFlag = LZ4F_contentChecksumEnabled,
         .blockChecksumFlag = LZ4F_blockChecksumEnabled},
    };

    make_plain(&fixture->plain, 300000);
    for (size_t i = 0; i < sizeof infos / sizeof *infos; i++) {
        make_lz4_frame(fixture, infos[i]);
        expect_plain(fixture, HW_CODEC_LZ4, 2);
    }
    /* Neither is compared, as in Kafka, but the checksum of a block is. */
    make_lz4_frame(fixture, infos[1]);
    fixture->packed.bytes[fixture->packed.size - 1] ^= 1;
    expect_plain(fixture, HW_CODEC_LZ4, 2);
    make_lz4_frame(fixture, infos[2]);
    fixture->packed.bytes[fixture->packed.size - 5] ^= 1;
    expect_corrupt(fixture, HW_CODEC_LZ4, 2, "lz4: ERROR_blockChecksum_invalid");
}

TEST(an_lz4_header_that_kafka_would_refuse_is_refused, struct fixture *fixture)
{
    static const struct {
        int flg;
        int bd;
        const char *message;
    } cases[] = {
        {0x40, 0x40, "frame flags 0x40"}, /* Dependent blocks. */
        {0x61, 0x40, "frame flags 0x61"}, /* A dictionary. */
        {0x62, 0x40, "frame flags 0x62"}, /* A reserved bit. */
        {0xa0, 0x40, "frame flags 0xa0"}, /* Version 2. */
        {0x60, 0x30, "block descriptor 0x30"}, {0x60, 0xc0, "block descriptor 0xc0"},
        {0x60, 0x41, "block descriptor 0x41"}, {0x60, 0x50, "wrong checksum"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture->packed.size = 0;
        test_read_vector(&fixture->packed, "H-payload.lz4");
        fixture->packed.bytes[4] = (uint8_t)cases[i].flg;
        fixture->packed.bytes[5] = (uint8_t)cases[i].bd;
        expect_corrupt(fixture, HW_CODEC_LZ4, 2, cases[i].message);
    }
    fixture->packed.bytes[0] = 0x50; /* A skippable frame is no frame here. */
    expect_corrupt(fixture, HW_CODEC_LZ4, 2, "does not begin with a frame");
}

TEST(an_lz4_frame_needs_its_end_mark_and_ends_with_it, struct fixture *fixture)
{
    test_read_vector(&fixture->plain, "H-payload.plain");
    test_read_vector(&fixture->packed, "H-payload.lz4");
    append(&fixture->packed, "whatever", 8);
    expect_plain(fixture, HW_CODEC_LZ4, 2);
    fixture->packed.size -= 8 + 4;
    expect_corrupt(fixture, HW_CODEC_LZ4, 2, "without an end mark");
}

TEST(gzip_members_may_follow_each_other_and_be_followed_by_anything, struct fixture *fixture)
{
    test_read_vector(&fixture->plain, "H-payload.plain");
    test_read_vector(&fixture->plain, "H-payload.plain");
    test_read_vector(&fixture->packed, "H-payload.gz");
    test_read_vector(&fixture->packed, "H-payload.gz");
    expect_plain(fixture, HW_CODEC_GZIP, 2);
    /* Whatever is no header of a member is no error either. */
    for (int i = 0; i < 4; i++) {
        static const uint8_t headers[4][3] = {
            {0x77, 0x8b, 8}, {0x1f, 0x77, 8}, {0x1f, 0x8b, 7}, {0, 0, 0}};

        append(&fixture->packed, headers[i], 3);
        append(&fixture->packed, "and what follows it here", 24);
        expect_plain(fixture, HW_CODEC_GZIP, 2);
        fixture->packed.size -= 27;
    }

    /* Cut the second one. */
    fixture->packed.size -= 1;
    expect_corrupt(fixture, HW_CODEC_GZIP, 2, "gzip: the payload is cut off");
}

/* Checksum and size at the end of a member. */
TEST(a_gzip_trailer_must_be_right, struct fixture *fixture)
{
    test_read_vector(&fixture->packed, "H-payload.gz");
    fixture->packed.bytes[fixture->packed.size - 8] ^= 1;
    expect_corrupt(fixture, HW_CODEC_GZIP, 2, "gzip: incorrect data check");
    fixture->packed.bytes[fixture->packed.size - 8] ^= 1;
    fixture->packed.bytes[fixture->packed.size - 4] ^= 1;
    expect_corrupt(fixture, HW_CODEC_GZIP, 2, "gzip: incorrect length check");
}

TEST(zstd_frames_may_follow_each_other_but_not_in_old_entries, struct fixture *fixture)
{
    test_read_vector(&fixture->plain, "H-payload.plain");
    test_read_vector(&fixture->plain, "H-payload.plain");
    test_read_vector(&fixture->packed, "H-payload.zst");
    test_read_vector(&fixture->packed, "H-payload.zst");
    expect_plain(fixture, HW_CODEC_ZSTD, 2);
    expect_corrupt(fixture, HW_CODEC_ZSTD, 1, "zstd: not allowed with magic 1");
    fixture->packed.size -= 1;
    expect_corrupt(fixture, HW_CODEC_ZSTD, 2, "zstd: the payload is cut off");
    append(&fixture->packed, "xgarbage", 8);
    expect_corrupt(fixture, HW_CODEC_ZSTD, 2, "zstd: ");
    fixture->packed.size = 0;
    expect_corrupt(fixture, HW_CODEC_ZSTD, 2, "zstd: the payload is cut off");
}

/* Case: E-10. */
TEST(an_unknown_codec_is_named, struct fixture *fixture)
{
    append(&fixture->packed, "x", 1);
    expect_corrupt(fixture, 5, 2, "there is no codec with id 5");
    expect_corrupt(fixture, 6, 2, "there is no codec with id 6");
    expect_corrupt(fixture, 7, 0, "there is no codec with id 7");
}

/* A payload of a few hundred bytes that would be a million: the limit is named. */
TEST(a_bomb_stops_at_the_limit, struct fixture *fixture)
{
    struct hw_error error;

    make_plain(&fixture->plain, LIMIT);
    memset(fixture->plain.bytes, 0, LIMIT);
    for (int codec = HW_CODEC_NONE; codec <= HW_CODEC_ZSTD; codec++) {
        pack(fixture, (enum hw_codec)codec);
        expect_plain(fixture, codec, 2);
        assert_int_equal(unpack(fixture, codec, 2, LIMIT - 1, &error), HW_CORRUPT);
        assert_non_null(strstr(error.message, "more than 1048575 bytes"));
        assert_non_null(strstr(error.message, hw_codec_name(codec)));
        assert_int_equal(unpack(fixture, codec, 2, 0, &error), HW_CORRUPT);
        assert_int_equal(unpack(fixture, codec, 2, SIZE_MAX, &error), HW_OK);
    }
}

/* Neither a claim of 4 GiB in six bytes nor an honest one above the limit allocates anything. */
TEST(a_claim_allocates_nothing, struct fixture *fixture)
{
    static const uint8_t claim[] = {0xff, 0xff, 0xff, 0xff, 0x0f, 0x00};
    struct test_heap heap;
    struct hw_buffer out;
    struct hw_error error;

    test_heap_init(&heap, -1);
    hw_buffer_init(&out, &heap.allocator);
    assert_int_equal(
        hw_codec_decompress(HW_CODEC_SNAPPY, 2, claim, sizeof claim, INT32_MAX, &out, &error),
        HW_CORRUPT);
    assert_int_equal(heap.bytes_in_use, 0);
    make_plain(&fixture->plain, 32768);
    pack(fixture, HW_CODEC_SNAPPY);
    assert_int_equal(hw_codec_decompress(HW_CODEC_SNAPPY, 2, fixture->packed.bytes,
                                         fixture->packed.size, 32767, &out, &error),
                     HW_CORRUPT);
    assert_int_equal(heap.bytes_in_use, 0);
    hw_buffer_release(&out);
}

/* Every length that a payload can be cut to, and every value of each byte. */
TEST(hostile_payloads_end_in_an_error_or_in_bytes, struct fixture *fixture)
{
    const int step = getenv("HW_TEST_QUICK") != NULL ? 15 : 1;
    struct hw_error error;

    make_plain(&fixture->plain, 120);
    for (int codec = HW_CODEC_GZIP; codec <= HW_CODEC_ZSTD; codec++) {
        size_t size;

        pack(fixture, (enum hw_codec)codec);
        size = fixture->packed.size;
        for (size_t i = 0; i < size; i++) {
            uint8_t original = fixture->packed.bytes[i];

            for (int value = 0; value < 256; value += step) {
                enum hw_status status;

                fixture->packed.bytes[i] = (uint8_t)value;
                status = unpack(fixture, codec, value & 1 ? 2 : 0, 4096, &error);
                assert_true(status == HW_OK || status == HW_CORRUPT);
                assert_true(fixture->out.size <= 4096);
            }
            fixture->packed.bytes[i] = original;
        }
        /* Cut off, there is no end. Only snappy's stream has none to miss, between its chunks. */
        for (size_t i = 0; i < size; i++) {
            fixture->packed.size = i;
            if (codec != HW_CODEC_SNAPPY || i < 16 || i >= 20) {
                assert_int_equal(unpack(fixture, codec, 2, 4096, &error), HW_CORRUPT);
            } else {
                assert_int_equal(unpack(fixture, codec, 2, 4096, &error), HW_OK);
                assert_int_equal(fixture->out.size, 0);
            }
        }
    }
}

TEST_ALONE(names_and_codecs_go_both_ways)
{
    static const char *names[] = {"none", "gzip", "snappy", "lz4", "zstd"};
    enum hw_codec codec = HW_CODEC_LZ4;

    for (int i = HW_CODEC_NONE; i <= HW_CODEC_ZSTD; i++) {
        assert_string_equal(hw_codec_name(i), names[i]);
        assert_true(hw_codec_from_name(names[i], &codec));
        assert_int_equal(codec, i);
    }
    assert_true(hw_codec_from_name("uncompressed", &codec));
    assert_int_equal(codec, HW_CODEC_NONE);
    codec = HW_CODEC_LZ4;
    assert_false(hw_codec_from_name("GZIP", &codec));
    assert_false(hw_codec_from_name("5", &codec));
    assert_false(hw_codec_from_name("", &codec));
    assert_int_equal(codec, HW_CODEC_LZ4);
    assert_string_equal(hw_codec_name(5), "5");
    assert_string_equal(hw_codec_name(7), "7");
}

/* There and back with every codec. */
static enum hw_status round_trips(const struct hw_allocator *allocator,
                                  const struct hw_buffer *plain)
{
    enum hw_status status = HW_OK;

    for (int codec = HW_CODEC_NONE; status == HW_OK && codec <= HW_CODEC_ZSTD; codec++) {
        struct hw_buffer packed;
        struct hw_buffer out;
        struct hw_error error;

        hw_buffer_init(&packed, allocator);
        hw_buffer_init(&out, allocator);
        status =
            hw_codec_compress((enum hw_codec)codec, plain->bytes, plain->size, &packed, &error);
        assert_true(status == HW_OK || packed.size == 0);
        if (status == HW_OK) {
            status =
                hw_codec_decompress(codec, 2, packed.bytes, packed.size, plain->size, &out, &error);
            assert_int_equal(out.size, status == HW_OK ? plain->size : 0);
        }
        hw_buffer_release(&packed);
        hw_buffer_release(&out);
    }
    return status;
}

TEST(every_allocation_of_the_codecs_can_fail, struct fixture *fixture)
{
    struct test_heap heap;
    int fail_at = 0;

    make_plain(&fixture->plain, 100000);
    do {
        enum hw_status status;

        test_heap_init(&heap, fail_at++);
        status = round_trips(&heap.allocator, &fixture->plain);
        assert_int_equal(status, test_heap_has_failed(&heap) ? HW_NO_MEMORY : HW_OK);
        assert_int_equal(heap.bytes_in_use, 0);
    } while (test_heap_has_failed(&heap));
    assert_true(fail_at > 10);
}

int main(void)
{
    return test_run(set_up, tear_down);
}
