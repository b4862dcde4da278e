/* SPDX-License-Identifier: MIT */
/* Writing cluster.state; state_file_read.c reads it. */
#include "core/durable/state_file.h"

#include "core/base/assert.h"
#include "core/base/broker_list.h"
#include "core/base/crc32c.h"
#include "core/base/uuid.h"
#include "core/durable/state_words.h"

#include <inttypes.h>
#include <stdio.h>

const char *const hw_state_broker_words[HW_STATE_BROKER_WORDS] = {
    [HW_BROKER_RUNNING] = "running",   [HW_BROKER_CRASHED] = "crashed",
    [HW_BROKER_SHUTDOWN] = "shutdown", [HW_STATE_UNREGISTERED] = "unregistered",
    [HW_STATE_STOPPING] = "stopping",
};

const char *const hw_state_registration_words[HW_STATE_REGISTRATION_WORDS] = {
    "active", "fenced", "leaving", "fenced-leaving"};

const char *const hw_state_recovery_words[HW_STATE_RECOVERY_WORDS] = {"recovered", "recovering"};

enum hw_status hw_state_file_path(const struct hw_cluster *cluster, char path[HW_PATH_MAX],
                                  struct hw_error *error)
{
    return hw_path_join(path, cluster->directory, "cluster.state", error);
}

/* A space, then the text; NULL: none. */
static enum hw_status append_text(struct hw_buffer *out, const char *text, struct hw_error *error)
{
    enum hw_status status = hw_buffer_append(out, text == NULL ? " -" : " =", 2, error);

    return status == HW_OK && text != NULL ? hw_state_append_escaped(out, text, error) : status;
}

static enum hw_status append_list(struct hw_buffer *out, const struct hw_broker_list *list,
                                  struct hw_error *error)
{
    char text[HW_BROKER_LIST_TEXT_SIZE];

    return hw_buffer_append_format(out, error, " %s",
                                   hw_broker_list_format(list, text, sizeof text));
}

static enum hw_status append_configs(struct hw_buffer *out, const char *keyword,
                                     const struct hw_config_values *configs, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (size_t i = 0; status == HW_OK && configs->values != NULL && i < hw_config_count(); i++) {
        if (configs->values[i] == NULL) {
            continue;
        }
        status =
            hw_buffer_append_format(out, error, "%s %s ", keyword, hw_config_entry_at(i)->name);
        if (status == HW_OK) {
            status = hw_state_append_escaped(out, configs->values[i], error);
        }
        if (status == HW_OK) {
            status = hw_buffer_append(out, "\n", 1, error);
        }
    }
    return status;
}

static enum hw_status append_broker(struct hw_buffer *out, const struct hw_cluster *cluster,
                                    const struct hw_broker *broker, struct hw_error *error)
{
    const struct hw_registration *registration =
        hw_metadata_find(&cluster->controller.metadata, broker->id);
    size_t state = broker->state != HW_BROKER_RUNNING ? (size_t)broker->state
                   : broker->is_unregistered          ? (size_t)HW_STATE_UNREGISTERED
                   : broker->leaves                   ? (size_t)HW_STATE_STOPPING
                                                      : (size_t)HW_BROKER_RUNNING;
    size_t flags;
    enum hw_status status;

    HW_ASSERT(registration != NULL);
    flags = (registration->fenced ? 1U : 0U) + (registration->in_controlled_shutdown ? 2U : 0U);
    status = hw_buffer_append_format(out, error, "broker %" PRId32 " %s %" PRId64 " %s ",
                                     broker->id, hw_state_broker_words[state], registration->epoch,
                                     hw_state_registration_words[flags]);
    if (status == HW_OK) {
        status = broker->down_since_ms == HW_TIME_NEVER
                     ? hw_buffer_append(out, "-", 1, error)
                     : hw_buffer_append_format(out, error, "%" PRId64, broker->down_since_ms);
    }
    if (status == HW_OK) {
        status = append_text(out, broker->rack, error);
    }
    if (status == HW_OK) {
        status = append_text(out, broker->is_dir_given ? broker->dir : NULL, error);
    }
    return status == HW_OK ? hw_buffer_append(out, "\n", 1, error) : status;
}

static enum hw_status append_links(struct hw_buffer *out, const struct hw_links *links,
                                   struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (int32_t i = 0; status == HW_OK && i < links->count; i++) {
        status = hw_buffer_append(out, "cut", 3, error);
        if (status == HW_OK) {
            status = hw_state_append_link_end(out, links->cut[i].a, error);
        }
        if (status == HW_OK) {
            status = hw_state_append_link_end(out, links->cut[i].b, error);
        }
        if (status == HW_OK) {
            status = hw_buffer_append(out, "\n", 1, error);
        }
    }
    return status;
}

static enum hw_status append_slots(struct hw_buffer *out, const size_t *slots, int32_t count,
                                   struct hw_error *error)
{
    enum hw_status status = hw_buffer_append(out, " [", 2, error);

    for (int32_t i = 0; status == HW_OK && i < count; i++) {
        status = hw_buffer_append_format(out, error, "%s%zu", i == 0 ? "" : ",", slots[i]);
    }
    return status == HW_OK ? hw_buffer_append(out, "]\n", 2, error) : status;
}

static enum hw_status append_partition(struct hw_buffer *out, const struct hw_topic *topic,
                                       int32_t index, struct hw_error *error)
{
    const struct hw_partition_record *record = &topic->partitions[index].record;
    const struct hw_broker_list *lists[HW_STATE_LISTS] = {
        &record->replicas,       &record->isr,    &record->elr,
        &record->last_known_elr, &record->adding, &record->removing};
    char leader[12] = "-";
    enum hw_status status;

    hw_partition_record_check(record); /* What it asserts, reading insists on. */
    if (record->leader != HW_BROKER_ID_NONE) {
        (void)snprintf(leader, sizeof leader, "%" PRId32, record->leader);
    }
    status = hw_buffer_append_format(
        out, error, "partition %" PRId32 " %s %" PRId32 " %" PRId32 " %s", index, leader,
        record->leader_epoch, record->partition_epoch, hw_state_recovery_words[record->recovering]);
    for (size_t i = 0; status == HW_OK && i < HW_STATE_LISTS; i++) {
        status = append_list(out, lists[i], error);
    }
    return status == HW_OK
               ? append_slots(out, topic->partitions[index].slots, record->replicas.count, error)
               : status;
}

static enum hw_status append_topic(struct hw_buffer *out, const struct hw_topic *topic,
                                   struct hw_error *error)
{
    char id[HW_UUID_TEXT_SIZE];
    enum hw_status status;

    hw_uuid_format(&topic->id, id);
    status = hw_buffer_append_format(
        out, error, "topic %s %s %" PRId32 " %" PRId32 " %" PRId32 "\n", topic->name, id,
        topic->partition_count, topic->replication_factor, topic->sticky_partition);
    if (status == HW_OK && topic->decision != HW_TOPIC_DECIDED) {
        status = hw_buffer_append_format(out, error, "undecided\n");
    }
    if (status == HW_OK) {
        status = append_configs(out, "topic-config", &topic->configs, error);
    }
    for (int32_t p = 0; status == HW_OK && p < topic->partition_count; p++) {
        status = append_partition(out, topic, p, error);
    }
    return status;
}

static enum hw_status append_cluster(struct hw_buffer *out, const struct hw_cluster *cluster,
                                     struct hw_error *error)
{
    enum hw_status status =
        hw_buffer_append_format(out, error,
                                "highwater %d\nclock %" PRId64 "\nrandom %016" PRIx64
                                "\ncontroller %" PRId64 "\nslots %zu\n",
                                (int)HW_STATE_VERSION, cluster->now_ms, cluster->random.state,
                                cluster->controller.next_broker_epoch, cluster->next_slot);

    if (status == HW_OK) {
        status = hw_state_append_transactions(out, &cluster->coordinator, error);
    }
    if (status == HW_OK) {
        status = append_configs(out, "config", &cluster->configs, error);
    }
    for (size_t i = 0; status == HW_OK && i < cluster->broker_count; i++) {
        status = append_broker(out, cluster, cluster->brokers[i], error);
    }
    if (status == HW_OK) {
        status = append_links(out, &cluster->links, error);
    }
    if (status == HW_OK) {
        status = hw_state_append_times(out, &cluster->timed, error);
    }
    for (size_t i = 0; status == HW_OK && i < cluster->topic_count; i++) {
        status = append_topic(out, cluster->topics[i], error);
    }
    return status == HW_OK ? hw_buffer_append_format(out, error, "crc32c %08" PRIx32 "\n",
                                                     hw_crc32c(out->bytes, out->size))
                           : status;
}

enum hw_status hw_state_file_write(struct hw_cluster *cluster, struct hw_error *error)
{
    char path[HW_PATH_MAX];
    struct hw_buffer content;
    enum hw_status status = hw_state_file_path(cluster, path, error);

    hw_buffer_init(&content, cluster->allocator);
    if (status == HW_OK) {
        status = append_cluster(&content, cluster, error);
    }
    if (status == HW_OK && content.size > HW_STATE_SIZE_MAX) {
        status = hw_error_set(error, HW_MISUSE,
                              "'%.300s' would have %zu bytes, at most %d: delete topics", path,
                              content.size, (int)HW_STATE_SIZE_MAX);
    }
    if (status == HW_OK) {
        status =
            hw_store_write_atomically(cluster->store, path, content.bytes, content.size, error);
    }
    hw_buffer_release(&content);
    if (status == HW_OK) {
        cluster->is_state_dirty = false;
    }
    return status;
}
