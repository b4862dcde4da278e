/* SPDX-License-Identifier: MIT */
#include "core/cluster/load.h"

#include "core/base/assert.h"
#include "core/cluster/cluster_internal.h"
#include "core/cluster/partitioner.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Bytes of a produce request and of its answer, with frame and headers, beside the record: W2.3. */
enum { LOAD_REQUEST_BYTES = 120, LOAD_ANSWER_BYTES = 66, LOAD_KEY_SIZE = 24 };

enum load_state {
    LOAD_TRAVELS,  /* To the leader. */
    LOAD_WAITS,    /* To be committed. */
    LOAD_RETURNS,  /* The answer does. */
    LOAD_IS_LATER, /* It is sent again after a while. */
};

/* One record under way. */
struct load_record {
    enum load_state state;
    int64_t number;
    int64_t request_id; /* Of its message that is under way, or that waits. */
    int64_t sent_us;
    int64_t due_us; /* INT64_MAX while it waits. */
    int64_t created_us;
    int64_t ack_id;
    int64_t attempts;
    int32_t partition; /* Chosen when it is made, for all its attempts. */
    hw_broker_id_t leader;
    bool is_acknowledged;
};

struct hw_load {
    struct hw_load_options options; /* The topic's name is owned. */
    int64_t id;
    bool is_running;
    int64_t next_us; /* When the next record is due. */
    int64_t next_number;
    int64_t sent;
    int64_t acknowledged;
    int64_t failed;
    int64_t latency_us; /* Of all acknowledged ones, summed up. */
    int64_t max_latency_us;
    int64_t last_request_us;
    int64_t last_answer_us;
    int64_t under_way;
    struct load_record *records; /* options.in_flight of them. */
    uint8_t *value;
};

struct hw_load_options hw_load_options_default(void)
{
    return (struct hw_load_options){.records_per_s = 1,
                                    .size_bytes = 100,
                                    .acks = HW_ACKS_ALL,
                                    .in_flight = 5,
                                    .retry_ms = 100,
                                    .until_ms = HW_TIME_NEVER};
}

/* -------------------------------------------------------------------------- beginning and ending
 */

static void load_destroy(const struct hw_cluster *cluster, struct hw_load *load)
{
    if (load->options.topic != NULL) {
        hw_text_free(cluster->allocator, (char *)(uintptr_t)load->options.topic);
    }
    hw_free(cluster->allocator, load->records,
            (size_t)load->options.in_flight * sizeof *load->records);
    hw_free(cluster->allocator, load->value, (size_t)load->options.size_bytes + 1);
    hw_free(cluster->allocator, load, sizeof *load);
}

void hw_loads_release(struct hw_cluster *cluster)
{
    for (size_t i = 0; i < cluster->loads.count; i++) {
        load_destroy(cluster, cluster->loads.loads[i]);
    }
    hw_free(cluster->allocator, cluster->loads.loads, cluster->loads.capacity * sizeof(void *));
    cluster->loads = (struct hw_loads){0};
}

static enum hw_status load_check(const struct hw_cluster *cluster,
                                 const struct hw_load_options *options, struct hw_error *error)
{
    if (!cluster->is_timed) {
        return hw_error_set(error, HW_MISUSE,
                            "load() runs on the clock: configure('replication', 'timed') first");
    }
    if (hw_cluster_topic(cluster, options->topic) == NULL) {
        return hw_cluster_refuse_topic(cluster, options->topic, error);
    }
    if (!(options->records_per_s >= 0.001 && options->records_per_s <= 1000000)) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_CONFIG, "records_per_s is 0.001 to 1000000");
    }
    if (options->size_bytes < 0 || options->size_bytes > 16777216) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_CONFIG, "size is 0 to 16777216 bytes");
    }
    if (options->keys < 0 || options->retries < 0 || options->retry_ms < 1 ||
        options->retry_ms > INT32_MAX) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_CONFIG,
                               "keys and retries are 0 or more, retry_ms is 1 to 2147483647");
    }
    if (options->in_flight < 1 || options->in_flight > HW_LOAD_IN_FLIGHT_MAX) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_CONFIG, "in_flight is 1 to %d",
                               (int)HW_LOAD_IN_FLIGHT_MAX);
    }
    if (!(options->start_ms >= 0 && options->start_ms <= 1e12) ||
        options->until_ms > HW_CLOCK_MS_MAX || cluster->loads.count == HW_LOADS_MAX) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_CONFIG,
                               "start_ms is 0 to 10^12, until_ms 0 to %" PRId64
                               ", and there are at most %d loads",
                               HW_CLOCK_MS_MAX, (int)HW_LOADS_MAX);
    }
    return options->acks == HW_ACKS_DEFAULT ? HW_OK : hw_replica_check_acks(options->acks, error);
}

enum hw_status hw_cluster_load(struct hw_cluster *cluster, const struct hw_load_options *options,
                               int64_t *id, struct hw_error *error)
{
    struct hw_load *load;
    enum hw_status status = load_check(cluster, options, error);

    if (status == HW_OK) {
        status = hw_array_reserve(cluster->allocator, (void **)&cluster->loads.loads,
                                  &cluster->loads.capacity, cluster->loads.count + 1,
                                  sizeof(void *), error);
    }
    if (status != HW_OK) {
        return status;
    }
    load = hw_alloc_zeroed(cluster->allocator, sizeof *load);
    if (load == NULL) {
        return hw_error_no_memory(error, "a load");
    }
    load->options = *options;
    load->options.topic = hw_text_copy(cluster->allocator, options->topic);
    load->records =
        hw_alloc_zeroed(cluster->allocator, (size_t)options->in_flight * sizeof *load->records);
    load->value = hw_alloc(cluster->allocator, (size_t)options->size_bytes + 1);
    if (load->options.topic == NULL || load->records == NULL || load->value == NULL) {
        load_destroy(cluster, load);
        return hw_error_no_memory(error, "a load");
    }
    memset(load->value, 'x', (size_t)options->size_bytes);
    load->is_running = true;
    load->next_us = cluster->now_ms * 1000 + (int64_t)(options->start_ms * 1000 + 0.5);
    load->id = ++cluster->loads.next_id;
    cluster->loads.loads[cluster->loads.count++] = load;
    *id = load->id;
    return HW_OK;
}

enum hw_status hw_cluster_end_load(struct hw_cluster *cluster, int64_t id, struct hw_error *error)
{
    for (size_t i = 0; i < cluster->loads.count; i++) {
        if (cluster->loads.loads[i]->id == id) {
            cluster->loads.loads[i]->is_running = false;
            return HW_OK;
        }
    }
    return hw_error_set(error, HW_MISUSE, "there is no load %" PRId64 ": hw_loads lists them", id);
}

/* ------------------------------------------------------------------------------------ one record
 */

static void load_done(struct hw_load *load, struct load_record *record, int64_t now_us)
{
    int64_t latency_us = now_us - record->created_us;

    if (record->is_acknowledged) {
        load->acknowledged++;
        load->latency_us += latency_us;
        load->max_latency_us = HW_MAX(latency_us, load->max_latency_us);
    } else {
        load->failed++;
    }
    *record = load->records[--load->under_way];
}

/* The key of a record; its size, -1 where it has none. */
static int32_t load_key(const struct hw_load *load, const struct load_record *record,
                        char key[LOAD_KEY_SIZE])
{
    return load->options.keys == 0
               ? -1
               : snprintf(key, LOAD_KEY_SIZE, "k%" PRId64, record->number % load->options.keys);
}

/* Choose the partition of a record, as any producer does. */
static void load_choose(struct hw_cluster *cluster, const struct hw_load *load,
                        struct load_record *record)
{
    struct hw_topic *topic = hw_cluster_topic(cluster, load->options.topic);
    char key[LOAD_KEY_SIZE];
    int32_t key_size = load_key(load, record, key);

    if (topic == NULL) {
        return;
    }
    if (key_size >= 0) {
        record->partition =
            hw_partition_for_key((const uint8_t *)key, key_size, topic->partition_count);
        return;
    }
    record->partition = topic->sticky_partition;
    hw_topic_next_sticky(topic);
}

/* Its partition; NULL where that is gone. */
static struct hw_partition *load_partition(const struct hw_cluster *cluster,
                                           const struct hw_load *load,
                                           const struct load_record *record)
{
    struct hw_topic *topic = hw_cluster_topic(cluster, load->options.topic);

    return topic == NULL || record->partition >= topic->partition_count
               ? NULL
               : &topic->partitions[record->partition];
}

/* Send it to who leads its partition, as the controller knows; where nobody does, it is refused at
 * once. */
static enum hw_status load_send(struct hw_cluster *cluster, struct hw_load *load,
                                struct load_record *record, int64_t now_us, struct hw_error *error)
{
    const struct hw_partition *partition = load_partition(cluster, load, record);
    enum hw_status status = HW_OK;

    record->leader = partition == NULL ? HW_BROKER_ID_NONE : partition->record.leader;
    record->state = LOAD_TRAVELS;
    record->request_id = ++cluster->timed.notices.next_id;
    record->sent_us = now_us;
    if (record->leader == HW_BROKER_ID_NONE) {
        record->due_us = now_us;
        return HW_OK;
    }
    status = hw_wires_send(&cluster->timed.wires, &cluster->random, HW_CLIENTS, record->leader,
                           LOAD_REQUEST_BYTES + load->options.size_bytes, now_us,
                           &load->last_request_us, error);
    record->due_us = load->last_request_us;
    return status;
}

/* It was refused, or could not be answered: again, while its attempts last. */
static void load_refused(struct hw_load *load, struct load_record *record, int64_t now_us)
{
    record->is_acknowledged = false;
    if (record->attempts++ >= load->options.retries) {
        load_done(load, record, now_us);
        return;
    }
    record->state = LOAD_IS_LATER;
    record->due_us = now_us + load->options.retry_ms * 1000;
}

static enum hw_status load_answer(struct hw_cluster *cluster, struct hw_load *load,
                                  struct load_record *record, int64_t now_us,
                                  struct hw_error *error)
{
    enum hw_status status =
        hw_wires_send(&cluster->timed.wires, &cluster->random, record->leader, HW_CLIENTS,
                      LOAD_ANSWER_BYTES, now_us, &load->last_answer_us, error);

    record->state = LOAD_RETURNS;
    record->due_us = load->last_answer_us;
    return status;
}

/* It arrives where it was sent to, whoever leads by then. */
static enum hw_status load_produce(struct hw_cluster *cluster, struct hw_load *load,
                                   struct load_record *record, int64_t now_us,
                                   struct hw_error *error)
{
    char key[LOAD_KEY_SIZE];
    struct hw_produced produced;
    struct hw_error refused;
    struct hw_produce produce = {.topic = load->options.topic,
                                 .partition = record->partition,
                                 .acks = load->options.acks,
                                 .has_broker = record->leader != HW_BROKER_ID_NONE,
                                 .broker = record->leader,
                                 .leader_epoch = -1,
                                 .record = {.key = (const uint8_t *)key,
                                            .key_size = load_key(load, record, key),
                                            .value = load->value,
                                            .value_size = (int32_t)load->options.size_bytes,
                                            .timestamp = HW_TIMESTAMP_CLOCK}};
    enum hw_status status = hw_cluster_produce(cluster, &produce, &produced, &refused);

    if (status == HW_NO_MEMORY || status == HW_IO) {
        *error = refused;
        return status;
    }
    if (status != HW_OK && record->leader == HW_BROKER_ID_NONE) {
        load_refused(load, record, now_us);
        return HW_OK;
    }
    if (status != HW_OK) { /* Or the connection breaks, which travels back too. */
        record->is_acknowledged = false;
        return load_answer(cluster, load, record, now_us, error);
    }
    if (!produced.answered) { /* acks=0: the producer waits for nothing. */
        record->is_acknowledged = true;
        load_done(load, record, now_us);
        return HW_OK;
    }
    record->ack_id = produced.ack_id;
    record->state = LOAD_WAITS;
    record->due_us = INT64_MAX;
    return HW_OK;
}

static enum hw_status load_step(struct hw_cluster *cluster, struct hw_load *load,
                                struct load_record *record, int64_t now_us, struct hw_error *error)
{
    switch (record->state) {
    case LOAD_TRAVELS:
        return load_produce(cluster, load, record, now_us, error);
    case LOAD_RETURNS:
        if (record->is_acknowledged) {
            load_done(load, record, now_us);
        } else {
            load_refused(load, record, now_us);
        }
        return HW_OK;
    case LOAD_IS_LATER:
        return load_send(cluster, load, record, now_us, error);
    case LOAD_WAITS:
        break;
    }
    HW_ASSERT(false);
    return HW_OK;
}

/* ------------------------------------------------------------------------------------- the clock
 */

/* Whether the load sends another record when that is due, and there is room for it. */
static bool load_goes_on(const struct hw_load *load)
{
    return load->is_running && (load->options.until_ms == HW_TIME_NEVER ||
                                load->next_us <= load->options.until_ms * 1000);
}

/* When something happens to it: what arrives where a broker stands still waits until that wakes. */
static int64_t load_due_us(const struct hw_cluster *cluster, const struct load_record *record)
{
    int64_t wakes_us =
        record->state == LOAD_TRAVELS ? hw_timed_wakes_us(&cluster->timed, record->leader) : 0;

    return HW_MAX(wakes_us, record->due_us);
}

/* The record that is due first, or NULL where the next one to be made is; *due_us: when. */
static struct load_record *load_first(const struct hw_cluster *cluster, struct hw_load *load,
                                      int64_t *due_us)
{
    struct load_record *first = NULL;

    *due_us =
        load_goes_on(load) && load->under_way < load->options.in_flight ? load->next_us : INT64_MAX;
    for (int64_t i = 0; i < load->under_way; i++) {
        int64_t record_due_us = load_due_us(cluster, &load->records[i]);

        if (record_due_us < *due_us) {
            first = &load->records[i];
            *due_us = record_due_us;
        }
    }
    return first;
}

int64_t hw_loads_next_us(const struct hw_cluster *cluster)
{
    int64_t earliest = INT64_MAX;

    for (size_t i = 0; i < cluster->loads.count; i++) {
        int64_t due_us;

        (void)load_first(cluster, cluster->loads.loads[i], &due_us);
        earliest = HW_MIN(due_us, earliest);
    }
    return earliest;
}

/* -ln(u) for u in (0, 1], by the series of atanh; exact enough for times, and the same everywhere.
 */
static double load_exponential(struct hw_random *random)
{
    double u = ((double)(hw_random_next(random) >> 11) + 1) / 9007199254740992.0;
    double sum = 0;
    double y;
    double power;

    while (u < 0.5) {
        u *= 2;
        sum += 0.69314718055994530942;
    }
    y = (1 - u) / (1 + u);
    power = y;
    for (int i = 1; i < 40; i += 2) {
        sum += 2 * power / i;
        power *= y * y;
    }
    return sum;
}

static enum hw_status load_make(struct hw_cluster *cluster, struct hw_load *load, int64_t now_us,
                                struct hw_error *error)
{
    struct load_record *record = &load->records[load->under_way++];
    double gap_us = 1e6 / load->options.records_per_s;

    *record = (struct load_record){.number = load->next_number++, .created_us = now_us};
    load_choose(cluster, load, record);
    load->sent++;
    gap_us *= load->options.random ? load_exponential(&cluster->random) : 1;
    load->next_us = HW_MAX(load->next_us, now_us) + (gap_us < 1 ? 1 : (int64_t)(gap_us + 0.5));
    return load_send(cluster, load, record, now_us, error);
}

enum hw_status hw_loads_run_next(struct hw_cluster *cluster, struct hw_error *error)
{
    int64_t now_us = hw_loads_next_us(cluster);

    for (size_t i = 0; i < cluster->loads.count; i++) {
        struct hw_load *load = cluster->loads.loads[i];
        int64_t due_us;
        struct load_record *record = load_first(cluster, load, &due_us);
        int64_t at_us = HW_MAX(due_us, cluster->timed.now_us);

        if (due_us == now_us) {
            cluster->timed.now_us = at_us;
            return record == NULL ? load_make(cluster, load, at_us, error)
                                  : load_step(cluster, load, record, at_us, error);
        }
    }
    return HW_OK;
}

enum hw_status hw_loads_look(struct hw_cluster *cluster, struct hw_error *error)
{
    enum hw_status status = HW_OK;

    if (cluster->loads.seen_finished_id == cluster->acks.last_finished_id) {
        return HW_OK;
    }
    cluster->loads.seen_finished_id = cluster->acks.last_finished_id;
    for (size_t i = 0; i < cluster->loads.count && status == HW_OK; i++) {
        struct hw_load *load = cluster->loads.loads[i];

        for (int64_t r = 0; r < load->under_way && status == HW_OK; r++) {
            struct load_record *record = &load->records[r];
            const struct hw_ack *ack;

            if (record->state != LOAD_WAITS) {
                continue;
            }
            ack = hw_acks_find(&cluster->acks, record->ack_id);
            if (ack != NULL && ack->is_pending) {
                continue;
            }
            record->is_acknowledged = ack != NULL && ack->error == HW_KAFKA_NONE;
            status = load_answer(cluster, load, record, cluster->timed.now_us, error);
        }
    }
    return status;
}

/* The record's message, if it has one. */
static bool load_request(const struct hw_cluster *cluster, const struct hw_load *load,
                         const struct load_record *record, struct hw_request_view *view)
{
    const struct hw_ack *ack = hw_acks_find(&cluster->acks, record->ack_id);
    bool is_answer = record->state == LOAD_RETURNS;
    int64_t due_us = load_due_us(cluster, record);

    *view = (struct hw_request_view){
        .id = record->request_id,
        .kind = "produce",
        .topic = load->options.topic,
        .partition = record->partition,
        .sender = is_answer ? record->leader : HW_CLIENTS,
        .receiver = is_answer ? HW_CLIENTS : record->leader,
        .state = is_answer                     ? "answered"
                 : record->state == LOAD_WAITS ? "waiting"
                                               : "travelling",
        .offset = ack == NULL ? HW_OFFSET_NONE : ack->base_offset,
        .size_bytes = is_answer ? LOAD_ANSWER_BYTES : LOAD_REQUEST_BYTES + load->options.size_bytes,
        .sent_ms = record->sent_us / 1000,
        .due_ms = due_us == INT64_MAX ? HW_TIME_NEVER : due_us / 1000,
        .wait_until_ms = record->state == LOAD_WAITS && ack != NULL
                             ? ack->time_ms + cluster->settings.request_timeout_ms
                             : HW_TIME_NEVER,
        .waits_for = record->state == LOAD_WAITS ? "its commit" : NULL};
    return record->state != LOAD_IS_LATER && record->leader != HW_BROKER_ID_NONE;
}

bool hw_loads_next_request(const struct hw_cluster *cluster, struct hw_position *position,
                           struct hw_request_view *view)
{
    for (; position->topic < cluster->loads.count; position->topic++, position->partition = 0) {
        const struct hw_load *load = cluster->loads.loads[position->topic];

        while (position->partition < (size_t)load->under_way) {
            if (load_request(cluster, load, &load->records[position->partition++], view)) {
                return true;
            }
        }
    }
    return false;
}

bool hw_cluster_next_load(const struct hw_cluster *cluster, struct hw_position *position,
                          struct hw_load_view *view)
{
    const struct hw_load *load;

    if (position->item >= cluster->loads.count) {
        return false;
    }
    load = cluster->loads.loads[position->item++];
    *view = (struct hw_load_view){.id = load->id,
                                  .options = load->options,
                                  .is_running = load_goes_on(load),
                                  .sent = load->sent,
                                  .acknowledged = load->acknowledged,
                                  .failed = load->failed,
                                  .under_way = load->under_way,
                                  .mean_latency_ms = load->acknowledged == 0
                                                         ? 0
                                                         : (double)load->latency_us /
                                                               (double)load->acknowledged / 1000,
                                  .max_latency_ms = (double)load->max_latency_us / 1000};
    return true;
}
