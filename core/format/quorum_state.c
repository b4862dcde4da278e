/* SPDX-License-Identifier: MIT */
#include "core/format/quorum_state.h"

#include "core/base/buffer.h"
#include "core/format/checkpoint_line.h"

#include <inttypes.h>
#include <string.h>

enum { QUORUM_STATE_SIZE_MAX = 64 * 1024, QUORUM_STATE_VERSION_MAX = 1 };

/* What follows the member's name and colon in the line, up to the next comma or brace. */
static struct hw_checkpoint_span quorum_state_member(struct hw_checkpoint_span line,
                                                     const char *name)
{
    size_t size = strlen(name);
    struct hw_checkpoint_span value = {.text = line.text + line.size};

    for (size_t at = 0; at + size <= line.size; at++) {
        if (memcmp(line.text + at, name, size) == 0) {
            value.text = line.text + at + size;
            value.size = line.size - at - size;
        }
    }
    while (value.size > 0 && (hw_checkpoint_is_space(*value.text) || *value.text == ':')) {
        value.text++;
        value.size--;
    }
    for (size = 0; size < value.size && strchr(",} ", value.text[size]) == NULL; size++) {}
    value.size = size;
    return value;
}

enum hw_status hw_quorum_state_check(struct hw_store *store, const char *path,
                                     const struct hw_allocator *allocator, struct hw_error *error)
{
    struct hw_checkpoint_lines lines;
    struct hw_checkpoint_span line;
    struct hw_buffer content;
    int64_t version;
    enum hw_status status;

    hw_buffer_init(&content, allocator);
    status = hw_store_read_whole(store, path, QUORUM_STATE_SIZE_MAX, &content, error);
    lines = hw_checkpoint_lines_of(content.bytes, content.size);
    if (status == HW_OK) {
        if (!hw_checkpoint_lines_next(&lines, &line) || line.size == 0 || line.text[0] != '{' ||
            line.text[line.size - 1] != '}' ||
            !hw_checkpoint_number(quorum_state_member(line, "\"data_version\""), INT64_MAX,
                                  &version)) {
            status =
                hw_error_set(error, HW_CORRUPT,
                             "%.300s: the first line is no JSON object with a data_version", path);
        } else if (version > QUORUM_STATE_VERSION_MAX) {
            status = hw_error_set(error, HW_CORRUPT,
                                  "%.300s: data_version %" PRId64 ": Kafka 4.4 knows 0 and 1", path,
                                  version);
        }
    }
    hw_buffer_release(&content);
    return status;
}
