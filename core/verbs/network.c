/* SPDX-License-Identifier: MIT */
/* Links between brokers, and to the controller and clients: cut and healed by hand, and how long they
 * take with replication=timed, as disks do. */
#include "core/cluster/cluster_internal.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

static_assert((int)HW_CLUSTER_CONTROLLER == (int)HW_CONTROLLER, "one id for the controller");
static_assert((int)HW_CLUSTER_CLIENT == (int)HW_CLIENTS, "one id for clients");

#define LINK_MS_MAX ((double)HW_WIRE_US_MAX / 1000)

static enum hw_status network_check_end(const struct hw_cluster *cluster, int64_t id,
                                        bool with_clients, struct hw_error *error)
{
    struct hw_broker *unused;

    return id == HW_CLUSTER_CONTROLLER || (with_clients && id == HW_CLUSTER_CLIENT)
               ? HW_OK
               : hw_cluster_find_broker(cluster, id, &unused, error);
}

static enum hw_status network_check_link(const struct hw_cluster *cluster, int64_t a, int64_t b,
                                         bool with_clients, struct hw_error *error)
{
    enum hw_status status = network_check_end(cluster, a, with_clients, error);

    if (status == HW_OK) {
        status = network_check_end(cluster, b, with_clients, error);
    }
    return status == HW_OK && a == b
               ? hw_error_set(error, HW_MISUSE, "there is no link from a thing to itself")
               : status;
}

static void network_note(struct hw_cluster *cluster, int64_t a, int64_t b, const char *what)
{
    struct hw_event event = hw_event_of(&cluster->journal, HW_EVENT_NETWORK);
    bool is_to_controller = a == HW_CLUSTER_CONTROLLER || b == HW_CLUSTER_CONTROLLER;

    event.broker = (hw_broker_id_t)(a == HW_CLUSTER_CONTROLLER ? b : a);
    event.peer = is_to_controller ? HW_BROKER_ID_NONE : (hw_broker_id_t)b;
    hw_journal_add(&cluster->journal, event, "link%s %s",
                   is_to_controller ? " to the controller" : "", what);
}

/* The broker at the other end of a link to the controller, if it runs; else NULL. */
static struct hw_broker *network_cut_off(const struct hw_cluster *cluster, int64_t a, int64_t b)
{
    struct hw_broker *broker = a == HW_CLUSTER_CONTROLLER   ? hw_cluster_broker(cluster, b)
                               : b == HW_CLUSTER_CONTROLLER ? hw_cluster_broker(cluster, a)
                                                            : NULL;

    return broker != NULL && broker->state == HW_BROKER_RUNNING ? broker : NULL;
}

enum hw_status hw_cluster_cut(struct hw_cluster *cluster, int64_t a, int64_t b, int64_t *links_cut,
                              struct hw_error *error)
{
    struct hw_links *links = &cluster->links;
    struct hw_broker *cut_off;
    enum hw_status status = network_check_link(cluster, a, b, false, error);

    if (status != HW_OK) {
        return status;
    }
    if (hw_links_connected(links, (hw_broker_id_t)a, (hw_broker_id_t)b)) {
        status =
            hw_links_cut(links, cluster->allocator, (hw_broker_id_t)a, (hw_broker_id_t)b, error);
        if (status != HW_OK) {
            return status;
        }
        network_note(cluster, a, b, "cut");
        cut_off = network_cut_off(cluster, a, b);
        if (cut_off != NULL) {
            cut_off->down_since_ms = cluster->now_ms;
        }
        cluster->is_state_dirty = true;
    }
    *links_cut = links->count;
    return hw_cluster_finish_step(cluster, HW_OK, error);
}

/* A broker reaches the controller again: it gets the metadata and the records that it missed, and
 * if its session had ended it is unfenced. */
static enum hw_status network_reconnect(struct hw_cluster *cluster, struct hw_broker *broker,
                                        struct hw_error *error)
{
    struct hw_selection all = hw_cluster_all(cluster);
    struct hw_partition *partition;
    struct hw_replica *replica;
    enum hw_status status;

    /* Restarted while it was cut off: it has not registered yet. Where messages travel its own tell
     * the controller that it lives. */
    if (broker->is_unregistered && cluster->is_timed) {
        return HW_OK;
    }
    if (broker->is_unregistered) {
        status = hw_broker_put_strays_aside(cluster, broker, error);
        return status == HW_OK ? hw_cluster_register(cluster, broker, error) : status;
    }
    broker->down_since_ms = HW_TIME_NEVER;
    status = cluster->is_timed ? HW_OK : hw_cluster_unfence(cluster, broker, error);
    while (status == HW_OK &&
           (replica = hw_selection_next_on(&all, broker->id, &partition)) != NULL) {
        status = hw_exchange_tell(partition, hw_cluster_step(cluster), replica, error);
        if (status == HW_OK && replica->role == HW_ROLE_LEADER) {
            status = hw_exchange_proposals(partition, hw_cluster_step(cluster), replica, error);
        }
        status = hw_cluster_finish_partition(cluster, partition, status, error);
    }
    return status == HW_OK ? hw_broker_put_strays_aside(cluster, broker, error) : status;
}

enum hw_status hw_cluster_reconnect_all(struct hw_cluster *cluster, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (size_t i = 0; status == HW_OK && i < cluster->broker_count; i++) {
        struct hw_broker *broker = cluster->brokers[i];

        if (broker->state == HW_BROKER_RUNNING &&
            hw_links_connected(&cluster->links, HW_CONTROLLER, broker->id)) {
            status = network_reconnect(cluster, broker, error);
        }
    }
    return status;
}

static enum hw_status network_healed(struct hw_cluster *cluster, hw_broker_id_t a, hw_broker_id_t b,
                                     struct hw_error *error)
{
    struct hw_broker *cut_off = network_cut_off(cluster, a, b);

    cluster->is_state_dirty = true;
    network_note(cluster, a, b, "healed");
    hw_cluster_all_have_news(cluster);
    return cut_off != NULL ? network_reconnect(cluster, cut_off, error) : HW_OK;
}

enum hw_status hw_cluster_heal(struct hw_cluster *cluster, int64_t a, int64_t b, int64_t *links_cut,
                               struct hw_error *error)
{
    struct hw_links *links = &cluster->links;
    enum hw_status status = network_check_link(cluster, a, b, false, error);

    for (int32_t i = 0; status == HW_OK && i < links->count; i++) {
        if ((links->cut[i].a == a && links->cut[i].b == b) ||
            (links->cut[i].a == b && links->cut[i].b == a)) {
            links->cut[i] = links->cut[--links->count];
            status = network_healed(cluster, (hw_broker_id_t)a, (hw_broker_id_t)b, error);
            break;
        }
    }
    *links_cut = links->count;
    return hw_cluster_finish_step(cluster, status, error);
}

enum hw_status hw_cluster_heal_all(struct hw_cluster *cluster, int64_t *links_cut,
                                   struct hw_error *error)
{
    struct hw_links healed = cluster->links;
    enum hw_status status = HW_OK;

    cluster->links = (struct hw_links){.count = 0};
    for (int32_t i = 0; status == HW_OK && i < healed.count; i++) {
        status = network_healed(cluster, healed.cut[i].a, healed.cut[i].b, error);
    }
    hw_links_release(&healed, cluster->allocator);
    *links_cut = 0;
    return hw_cluster_finish_step(cluster, status, error);
}

/* ----------------------------------------------------------------------------------------- times */

static enum hw_status link_check_ms(double ms, const char *name, struct hw_error *error)
{
    return ms <= LINK_MS_MAX ? HW_OK
                             : hw_error_refuse(error, HW_KAFKA_INVALID_CONFIG, "%s is 0 to %.0f",
                                               name, LINK_MS_MAX);
}

static enum hw_status link_check_rate(int64_t bytes_per_s, struct hw_error *error)
{
    return bytes_per_s <= HW_WIRE_BYTES_PER_S_MAX
               ? HW_OK
               : hw_error_refuse(error, HW_KAFKA_INVALID_CONFIG,
                                 "bytes_per_s is 1 to %" PRId64 ", or 0 for no limit",
                                 HW_WIRE_BYTES_PER_S_MAX);
}

static enum hw_status link_check(const struct hw_cluster *cluster, int64_t a, int64_t b,
                                 const struct hw_link_times *times, struct hw_error *error)
{
    enum hw_status status = network_check_link(cluster, a, b, true, error);

    if (status == HW_OK) {
        status = link_check_ms(times->latency_ms, "latency_ms", error);
    }
    if (status == HW_OK) {
        status = link_check_ms(times->jitter_ms, "jitter_ms", error);
    }
    if (status == HW_OK && times->loss > 1) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_CONFIG, "loss is 0 to 1");
    }
    return status == HW_OK ? link_check_rate(times->bytes_per_s, error) : status;
}

static void link_set(struct hw_wire_times *wire, const struct hw_link_times *times)
{
    if (times->latency_ms >= 0) {
        wire->latency_us = (int64_t)(times->latency_ms * 1000 + 0.5);
    }
    if (times->jitter_ms >= 0) {
        wire->jitter_us = (int64_t)(times->jitter_ms * 1000 + 0.5);
    }
    if (times->loss >= 0) {
        wire->loss = (int32_t)(times->loss * HW_WIRE_LOSS_WHOLE + 0.5);
    }
    if (times->bytes_per_s >= 0) {
        wire->bytes_per_s = times->bytes_per_s;
    }
}

static struct hw_link_times link_times_of(const struct hw_wire_times *wire)
{
    return (struct hw_link_times){.latency_ms = (double)wire->latency_us / 1000,
                                  .jitter_ms = (double)wire->jitter_us / 1000,
                                  .loss = (double)wire->loss / HW_WIRE_LOSS_WHOLE,
                                  .bytes_per_s = wire->bytes_per_s};
}

enum hw_status hw_cluster_link(struct hw_cluster *cluster, int64_t a, int64_t b,
                               struct hw_link_times *times, struct hw_error *error)
{
    struct hw_wires *wires = &cluster->timed.wires;
    hw_broker_id_t from = (hw_broker_id_t)a;
    hw_broker_id_t to = (hw_broker_id_t)b;
    struct hw_wire *wire = NULL;
    enum hw_status status = link_check(cluster, a, b, times, error);

    if (status == HW_OK) {
        status = hw_wires_have(wires, from, to, &wire, error);
    }
    if (status == HW_OK && !times->one_way) {
        status = hw_wires_have(wires, to, from, &wire, error);
    }
    if (status != HW_OK) {
        return status;
    }
    if (!times->one_way) {
        link_set(&wire->times, times);
    }
    wire = hw_wires_find(wires, from, to);
    link_set(&wire->times, times);
    *times = link_times_of(&wire->times);
    cluster->is_state_dirty = true;
    return hw_cluster_finish_step(cluster, HW_OK, error);
}

enum hw_status hw_cluster_disk(struct hw_cluster *cluster, int64_t broker,
                               struct hw_disk_times *times, struct hw_error *error)
{
    struct hw_broker *found;
    struct hw_timed_disk *disk;
    enum hw_status status = hw_cluster_find_broker(cluster, broker, &found, error);

    if (status == HW_OK) {
        status = link_check_ms(times->append_ms, "append_ms", error);
    }
    if (status == HW_OK) {
        status = link_check_rate(times->bytes_per_s, error);
    }
    if (status == HW_OK) {
        status = hw_timed_have_disk(&cluster->timed, found->id, &disk, error);
    }
    if (status != HW_OK) {
        return status;
    }
    if (times->append_ms >= 0) {
        disk->append_us = (int64_t)(times->append_ms * 1000 + 0.5);
    }
    if (times->bytes_per_s >= 0) {
        disk->bytes_per_s = times->bytes_per_s;
    }
    *times = (struct hw_disk_times){.append_ms = (double)disk->append_us / 1000,
                                    .bytes_per_s = disk->bytes_per_s};
    cluster->is_state_dirty = true;
    return hw_cluster_finish_step(cluster, HW_OK, error);
}

/* --------------------------------------------------------------------------------------- looking
 */

bool hw_cluster_next_link(const struct hw_cluster *cluster, struct hw_position *position,
                          struct hw_link_view *view)
{
    const struct hw_wires *wires = &cluster->timed.wires;
    const struct hw_links *links = &cluster->links;

    if (position->item < wires->count) {
        const struct hw_wire *wire = &wires->wires[position->item++];

        *view = (struct hw_link_view){.a = wire->from,
                                      .b = wire->to,
                                      .times = link_times_of(&wire->times),
                                      .is_cut = !hw_links_connected(links, wire->from, wire->to),
                                      .messages = wire->messages,
                                      .bytes = wire->bytes};
        return true;
    }
    /* Links that are cut, and on which nothing was ever sent. */
    while (position->item - wires->count < (size_t)links->count) {
        size_t at = position->item++ - wires->count;

        if (hw_wires_find(wires, links->cut[at].a, links->cut[at].b) == NULL) {
            *view =
                (struct hw_link_view){.a = links->cut[at].a, .b = links->cut[at].b, .is_cut = true};
            return true;
        }
    }
    return false;
}

static hw_time_ms_t link_ms(int64_t us)
{
    return us == INT64_MAX ? HW_TIME_NEVER : us / 1000;
}

static const char *link_waits_for(const struct hw_timed_request *request)
{
    if (strcmp(request->state, "waiting") == 0) {
        return request->min_bytes > 1 ? "min bytes, or the end of its wait"
                                      : "records, or the end of its wait";
    }
    return strcmp(request->state, "held") == 0 ? "the link to heal" : NULL;
}

bool hw_cluster_next_request(const struct hw_cluster *cluster, struct hw_position *position,
                             struct hw_request_view *view)
{
    struct hw_timed_request request;
    const struct hw_topic *topic;

    if (cluster->settings.is_held) {
        return hw_held_next_request(cluster, position, view);
    }
    if (!hw_timed_request_at(&cluster->timed, position->item, &request)) {
        return hw_loads_next_request(cluster, position, view);
    }
    position->item++;
    topic = request.partition == NULL ? NULL : hw_cluster_topic_by_id(cluster, &request.topic_id);
    *view = (struct hw_request_view){.id = request.id,
                                     .kind = request.kind,
                                     .topic = topic == NULL ? NULL : topic->name,
                                     .partition = topic == NULL ? -1 : request.partition->number,
                                     .sender = request.sender,
                                     .receiver = request.receiver,
                                     .state = request.state,
                                     .offset = request.offset,
                                     .min_bytes = request.min_bytes,
                                     .max_bytes = request.max_bytes,
                                     .size_bytes = request.size_bytes,
                                     .sent_ms = request.sent_us / 1000,
                                     .due_ms = link_ms(request.due_us),
                                     .wait_until_ms = link_ms(request.wait_until_us),
                                     .waits_for = link_waits_for(&request)};
    return true;
}
