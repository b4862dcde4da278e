/* SPDX-License-Identifier: MIT */
/* The ends of links in cluster.state, and its lines about how long links and disks take: link() and
 * disk(). */
#include "core/durable/state_file.h"
#include "core/durable/state_words.h"

#include <inttypes.h>
#include <string.h>

static const char times_controller_word[] = "controller";
static const char times_client_word[] = "client";

enum hw_status hw_state_append_link_end(struct hw_buffer *out, hw_broker_id_t end,
                                        struct hw_error *error)
{
    const char *word = end == HW_CONTROLLER ? times_controller_word
                       : end == HW_CLIENTS  ? times_client_word
                                            : NULL;

    return word != NULL ? hw_buffer_append_format(out, error, " %s", word)
                        : hw_buffer_append_format(out, error, " %" PRId32, end);
}

bool hw_state_parse_link_end(const struct hw_metadata *metadata, const char *word,
                             hw_broker_id_t *end)
{
    if (strcmp(word, times_controller_word) == 0) {
        *end = HW_CONTROLLER;
        return true;
    }
    return hw_state_parse_int32(word, 0, INT32_MAX, end) &&
           hw_metadata_find(metadata, *end) != NULL;
}

static bool times_are_set(const struct hw_wire_times *times)
{
    return times->latency_us > 0 || times->jitter_us > 0 || times->bytes_per_s > 0 ||
           times->loss > 0;
}

enum hw_status hw_state_append_times(struct hw_buffer *out, const struct hw_timed *timed,
                                     struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (size_t i = 0; status == HW_OK && i < timed->wires.count; i++) {
        const struct hw_wire *wire = &timed->wires.wires[i];

        if (!times_are_set(&wire->times)) {
            continue; /* It only counts. */
        }
        status = hw_buffer_append(out, "link", 4, error);
        if (status == HW_OK) {
            status = hw_state_append_link_end(out, wire->from, error);
        }
        if (status == HW_OK) {
            status = hw_state_append_link_end(out, wire->to, error);
        }
        if (status == HW_OK) {
            status = hw_buffer_append_format(out, error,
                                             " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId32 "\n",
                                             wire->times.latency_us, wire->times.jitter_us,
                                             wire->times.bytes_per_s, wire->times.loss);
        }
    }
    for (size_t i = 0; status == HW_OK && i < timed->disk_count; i++) {
        const struct hw_timed_disk *disk = &timed->disks[i];

        if (disk->append_us > 0 || disk->bytes_per_s > 0) {
            status =
                hw_buffer_append_format(out, error, "disk %" PRId32 " %" PRId64 " %" PRId64 "\n",
                                        disk->broker, disk->append_us, disk->bytes_per_s);
        }
    }
    return status;
}

/* Clients have no link that can be cut. */
static bool times_parse_end(const struct hw_metadata *metadata, const char *word,
                            hw_broker_id_t *end)
{
    if (strcmp(word, times_client_word) == 0) {
        *end = HW_CLIENTS;
        return true;
    }
    return hw_state_parse_link_end(metadata, word, end);
}

static bool times_parse(const struct hw_state_reader *reader, struct hw_wire_times *times)
{
    return hw_state_parse_number(reader->words[3], 0, HW_WIRE_US_MAX, &times->latency_us) &&
           hw_state_parse_number(reader->words[4], 0, HW_WIRE_US_MAX, &times->jitter_us) &&
           hw_state_parse_number(reader->words[5], 0, HW_WIRE_BYTES_PER_S_MAX,
                                 &times->bytes_per_s) &&
           hw_state_parse_int32(reader->words[6], 0, HW_WIRE_LOSS_WHOLE, &times->loss) &&
           times_are_set(times);
}

static enum hw_status times_read_link(struct hw_cluster *cluster, struct hw_state_reader *reader)
{
    const struct hw_metadata *metadata = &cluster->controller.metadata;
    struct hw_wire_times times;
    hw_broker_id_t from;
    hw_broker_id_t to;
    struct hw_wire *wire;
    enum hw_status status = hw_state_expect(reader, "link", 7);

    if (status != HW_OK) {
        return status;
    }
    if (!times_parse_end(metadata, reader->words[1], &from) ||
        !times_parse_end(metadata, reader->words[2], &to) || from == to) {
        return hw_state_malformed(reader, "there is no such link");
    }
    if (!times_parse(reader, &times) || hw_wires_find(&cluster->timed.wires, from, to) != NULL) {
        return hw_state_malformed(reader, "no link takes such times, or it was there before");
    }
    status = hw_wires_have(&cluster->timed.wires, from, to, &wire, reader->error);
    if (status == HW_OK) {
        wire->times = times;
        status = hw_state_next_line(reader);
    }
    return status;
}

static enum hw_status times_read_disk(struct hw_cluster *cluster, struct hw_state_reader *reader)
{
    struct hw_timed_disk read = {.broker = HW_BROKER_ID_NONE};
    struct hw_timed_disk *disk;
    enum hw_status status = hw_state_expect(reader, "disk", 4);

    if (status != HW_OK) {
        return status;
    }
    if (!hw_state_parse_int32(reader->words[1], 0, INT32_MAX, &read.broker) ||
        hw_metadata_find(&cluster->controller.metadata, read.broker) == NULL ||
        !hw_state_parse_number(reader->words[2], 0, HW_WIRE_US_MAX, &read.append_us) ||
        !hw_state_parse_number(reader->words[3], 0, HW_WIRE_BYTES_PER_S_MAX, &read.bytes_per_s)) {
        return hw_state_malformed(reader, "there is no such disk");
    }
    status = hw_timed_have_disk(&cluster->timed, read.broker, &disk, reader->error);
    if (status == HW_OK && (disk->append_us > 0 || disk->bytes_per_s > 0)) {
        return hw_state_malformed(reader, "the disk was there before");
    }
    if (status == HW_OK) {
        *disk = read;
        status = hw_state_next_line(reader);
    }
    return status;
}

enum hw_status hw_state_read_times(struct hw_cluster *cluster, struct hw_state_reader *reader)
{
    enum hw_status status = HW_OK;

    while (status == HW_OK && hw_state_is_at(reader, "link")) {
        status = times_read_link(cluster, reader);
    }
    while (status == HW_OK && hw_state_is_at(reader, "disk")) {
        status = times_read_disk(cluster, reader);
    }
    return status;
}
