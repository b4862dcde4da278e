/* SPDX-License-Identifier: MIT */
/* Links between brokers, and between a broker and the controller: cut and healed by hand. */
#include "core/cluster/cluster_internal.h"

#include <assert.h>

static_assert((int)HW_CLUSTER_CONTROLLER == (int)HW_CONTROLLER, "one id for the controller");

static enum hw_status network_check_end(const struct hw_cluster *cluster, int64_t id,
                                        struct hw_broker **broker, struct hw_error *error)
{
    *broker = NULL;
    return id == HW_CLUSTER_CONTROLLER ? HW_OK : hw_cluster_find_broker(cluster, id, broker, error);
}

static enum hw_status network_find_link(const struct hw_cluster *cluster, int64_t a, int64_t b,
                                        struct hw_broker **first, struct hw_broker **second,
                                        struct hw_error *error)
{
    enum hw_status status = network_check_end(cluster, a, first, error);

    if (status == HW_OK) {
        status = network_check_end(cluster, b, second, error);
    }
    if (status == HW_OK && a == b) {
        return hw_error_set(error, HW_MISUSE, "there is no link from a thing to itself");
    }
    return status;
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

/* The broker at the other end of a link to the controller, or NULL. */
static struct hw_broker *network_cut_off(int64_t a, int64_t b, struct hw_broker *first,
                                         struct hw_broker *second)
{
    return a == HW_CLUSTER_CONTROLLER ? second : b == HW_CLUSTER_CONTROLLER ? first : NULL;
}

enum hw_status hw_cluster_cut(struct hw_cluster *cluster, int64_t a, int64_t b, int64_t *links_cut,
                              struct hw_error *error)
{
    struct hw_links *links = &cluster->links;
    struct hw_broker *first;
    struct hw_broker *second;
    struct hw_broker *cut_off;
    enum hw_status status = network_find_link(cluster, a, b, &first, &second, error);

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
        cut_off = network_cut_off(a, b, first, second);
        if (cut_off != NULL && cut_off->state == HW_BROKER_RUNNING) {
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
    struct hw_step step = hw_cluster_step(cluster);
    struct hw_selection all = hw_cluster_all(cluster);
    struct hw_topic *topic;
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
           (replica = hw_selection_next_on(&all, broker->id, &topic, &partition)) != NULL) {
        status = hw_exchange_tell(partition, &step, replica, error);
        if (status == HW_OK && replica->role == HW_ROLE_LEADER) {
            status = hw_exchange_proposals(partition, &step, replica, error);
        }
        status = hw_cluster_finish_partition(cluster, topic, partition, status, error);
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

static void network_heal_at(struct hw_links *links, int32_t at)
{
    links->count--;
    links->cut[at] = links->cut[links->count];
}

static enum hw_status network_healed(struct hw_cluster *cluster, hw_broker_id_t a, hw_broker_id_t b,
                                     struct hw_error *error)
{
    struct hw_broker *first;
    struct hw_broker *second;
    struct hw_broker *cut_off;
    enum hw_status status = network_find_link(cluster, a, b, &first, &second, error);

    if (status != HW_OK) {
        return status;
    }
    cluster->is_state_dirty = true;
    network_note(cluster, a, b, "healed");
    hw_cluster_all_have_news(cluster);
    cut_off = network_cut_off(a, b, first, second);
    return cut_off != NULL && cut_off->state == HW_BROKER_RUNNING
               ? network_reconnect(cluster, cut_off, error)
               : HW_OK;
}

enum hw_status hw_cluster_heal(struct hw_cluster *cluster, int64_t a, int64_t b, int64_t *links_cut,
                               struct hw_error *error)
{
    struct hw_links *links = &cluster->links;
    struct hw_broker *first;
    struct hw_broker *second;
    enum hw_status status = network_find_link(cluster, a, b, &first, &second, error);

    for (int32_t i = 0; status == HW_OK && i < links->count; i++) {
        if ((links->cut[i].a == a && links->cut[i].b == b) ||
            (links->cut[i].a == b && links->cut[i].b == a)) {
            network_heal_at(links, i);
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
