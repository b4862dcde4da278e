/* SPDX-License-Identifier: MIT */
/* The ends of links in cluster.state, and its lines about how long links and disks take: link() and
 * disk(). */
#include "core/durable/state_file.h"

void hw_state_link_end(struct hw_state_lines *lines, const struct hw_metadata *metadata,
                       bool may_be_clients, hw_broker_id_t *end)
{
    if (hw_state_maybe(lines, "controller", *end == HW_CONTROLLER)) {
        *end = HW_CONTROLLER;
    } else if (may_be_clients && hw_state_maybe(lines, "client", *end == HW_CLIENTS)) {
        *end = HW_CLIENTS;
    } else {
        hw_state_int32(lines, end, 0, INT32_MAX);
        lines->is_wrong |= lines->out == NULL && hw_metadata_find(metadata, *end) == NULL;
    }
}

static bool times_are_set(const struct hw_wire_times *times)
{
    return times->latency_us > 0 || times->jitter_us > 0 || times->bytes_per_s > 0 ||
           times->loss > 0;
}

static void times_link(struct hw_state_lines *lines, const struct hw_metadata *metadata,
                       struct hw_wire *wire)
{
    hw_state_begin(lines, "link", 6);
    hw_state_link_end(lines, metadata, true, &wire->from);
    hw_state_link_end(lines, metadata, true, &wire->to);
    (void)hw_state_insist(lines, wire->from != wire->to, "there is no such link");
    hw_state_number(lines, &wire->times.latency_us, 0, HW_WIRE_US_MAX);
    hw_state_number(lines, &wire->times.jitter_us, 0, HW_WIRE_US_MAX);
    hw_state_number(lines, &wire->times.bytes_per_s, 0, HW_WIRE_BYTES_PER_S_MAX);
    hw_state_int32(lines, &wire->times.loss, 0, HW_WIRE_LOSS_WHOLE);
}

static void times_disk(struct hw_state_lines *lines, struct hw_timed_disk *disk)
{
    hw_state_begin(lines, "disk", 3);
    hw_state_int32(lines, &disk->broker, 0, INT32_MAX);
    hw_state_number(lines, &disk->append_us, 0, HW_WIRE_US_MAX);
    hw_state_number(lines, &disk->bytes_per_s, 0, HW_WIRE_BYTES_PER_S_MAX);
}

void hw_state_write_times(struct hw_state_lines *lines, struct hw_timed *timed)
{
    for (size_t i = 0; i < timed->wires.count; i++) {
        if (times_are_set(&timed->wires.wires[i].times)) { /* Else it only counts. */
            times_link(lines, NULL, &timed->wires.wires[i]);
            hw_state_end(lines);
        }
    }
    for (size_t i = 0; i < timed->disk_count; i++) {
        if (timed->disks[i].append_us > 0 || timed->disks[i].bytes_per_s > 0) {
            times_disk(lines, &timed->disks[i]);
            hw_state_end(lines);
        }
    }
}

static void times_read_link(struct hw_state_lines *lines, struct hw_cluster *cluster)
{
    struct hw_wire read = {.from = HW_BROKER_ID_NONE, .to = HW_BROKER_ID_NONE};
    struct hw_wires *wires = &cluster->timed.wires;
    struct hw_wire *wire;

    times_link(lines, &cluster->controller.metadata, &read);
    if (hw_state_insist(
            lines, times_are_set(&read.times) && hw_wires_find(wires, read.from, read.to) == NULL,
            "no link takes such times, or it was there before")) {
        lines->status = hw_wires_have(wires, read.from, read.to, &wire, lines->error);
    }
    if (lines->status == HW_OK) {
        wire->times = read.times;
    }
    hw_state_end(lines);
}

static void times_read_disk(struct hw_state_lines *lines, struct hw_cluster *cluster)
{
    struct hw_timed_disk read = {.broker = HW_BROKER_ID_NONE};
    struct hw_timed_disk *disk;

    times_disk(lines, &read);
    if (hw_state_insist(lines, hw_metadata_find(&cluster->controller.metadata, read.broker) != NULL,
                        "there is no such disk")) {
        lines->status = hw_timed_have_disk(&cluster->timed, read.broker, &disk, lines->error);
    }
    if (lines->status == HW_OK &&
        hw_state_insist(lines, disk->append_us == 0 && disk->bytes_per_s == 0,
                        "the disk was there before")) {
        *disk = read;
    }
    hw_state_end(lines);
}

void hw_state_read_times(struct hw_state_lines *lines, struct hw_cluster *cluster)
{
    while (hw_state_is_at(lines, "link")) {
        times_read_link(lines, cluster);
    }
    while (hw_state_is_at(lines, "disk")) {
        times_read_disk(lines, cluster);
    }
}
