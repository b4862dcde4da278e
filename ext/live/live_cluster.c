/* SPDX-License-Identifier: MIT */
/* The life of clusters and handles, and what a handle says when it is not heard of. */
#include "ext/live/live_cluster.h"

#include "ext/ext_error.h"
#include "ext/live/live_error.h"
#include "ext/live/live_properties.h"
#include "ext/live/live_tally.h"

#include <pthread.h>
#include <stdio.h>

SQLITE_EXTENSION_INIT3

/* -------------------------------------------------------------------------------------- a fork() */

/* Between the first process that was here and this one. Each row asks, and getpid() would take long. */
static int cluster_forks;

static void cluster_count_fork(void)
{
    cluster_forks++;
}

static void cluster_watch_forks(void)
{
    (void)pthread_atfork(NULL, NULL, cluster_count_fork);
}

bool live_cluster_is_ours(const struct live_cluster *cluster)
{
    return cluster->forks == cluster_forks;
}

enum hw_status live_cluster_check_process(const struct live_cluster *cluster,
                                          struct hw_error *error)
{
    return live_cluster_is_ours(cluster)
               ? HW_OK
               : ext_error_invalid(error, "this database connection was made in another process: "
                                          "open one of your own after fork()");
}

/* ------------------------------------------------------------------------------------ callbacks */

/* Without one librdkafka writes to stderr. It is called from any thread, so it does nothing. */
static void cluster_on_log(const rd_kafka_t *rk, int level, const char *facility, const char *text)
{
    (void)rk, (void)level, (void)facility, (void)text;
}

/* How much an error explains: the more the larger. */
static int reason_rank(rd_kafka_resp_err_t code)
{
    if (code == RD_KAFKA_RESP_ERR__AUTHENTICATION || code == RD_KAFKA_RESP_ERR__SSL) {
        return 4;
    }
    if (code == RD_KAFKA_RESP_ERR__RESOLVE) {
        return 3;
    }
    if (code == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) {
        return 1;
    }
    return code == RD_KAFKA_RESP_ERR_NO_ERROR ? 0 : 2;
}

/* Called in rd_kafka_poll() only. */
static void cluster_on_error(rd_kafka_t *rk, int code, const char *reason, void *opaque)
{
    struct live_handle *handle = opaque;
    char text[LIVE_REASON_SIZE];

    if (code == RD_KAFKA_RESP_ERR__FATAL) {
        code = rd_kafka_fatal_error(rk, text, sizeof text);
        handle->is_fatal = true;
        reason = text;
    }
    if (reason_rank((rd_kafka_resp_err_t)code) >= reason_rank(handle->reason_code)) {
        handle->reason_code = (rd_kafka_resp_err_t)code;
        (void)snprintf(handle->reason, sizeof handle->reason, "%s", reason);
        live_error_flatten(handle->reason);
    }
}

/* -------------------------------------------------------------------------------------- handles */

static void handle_destroy(struct live_handle *handle)
{
    if (live_cluster_is_ours(handle->cluster) && handle->rk != NULL) {
        rd_kafka_destroy_flags(handle->rk, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    }
    sqlite3_free(handle);
}

static enum hw_status handle_start(struct live_handle *handle, struct hw_error *error)
{
    rd_kafka_type_t type = handle->is_producer ? RD_KAFKA_PRODUCER : RD_KAFKA_CONSUMER;
    char text[LIVE_REASON_SIZE];
    rd_kafka_conf_t *conf = NULL;
    enum hw_status status =
        live_properties_conf(&handle->cluster->properties, handle->is_producer, handle->mode,
                             handle->cluster->timeout_ms, &conf, error);

    if (status != HW_OK) {
        return status;
    }
    rd_kafka_conf_set_opaque(conf, handle);
    rd_kafka_conf_set_log_cb(conf, cluster_on_log);
    rd_kafka_conf_set_error_cb(conf, cluster_on_error);
    if (handle->is_producer) {
        rd_kafka_conf_set_dr_msg_cb(conf, live_tally_on_report);
    }
    handle->rk = rd_kafka_new(type, conf, text, sizeof text);
    if (handle->rk == NULL) {
        rd_kafka_conf_destroy(conf);
        live_error_flatten(text);
        return hw_error_refuse(error, HW_KAFKA_INVALID_CONFIG, "connection \"%.60s\": %s",
                               handle->cluster->name, text);
    }
    return HW_OK;
}

static enum hw_status handle_create(struct live_cluster *cluster, bool is_producer,
                                    enum hw_read_mode mode, struct live_handle **created,
                                    struct hw_error *error)
{
    struct live_handle *handle = sqlite3_malloc64(sizeof *handle);
    enum hw_status status;

    if (handle == NULL) {
        return hw_error_no_memory(error, "a client");
    }
    *handle = (struct live_handle){.cluster = cluster, .mode = mode, .is_producer = is_producer};
    status = handle_start(handle, error);
    if (status != HW_OK) {
        handle_destroy(handle);
        return status;
    }
    *created = handle;
    return HW_OK;
}

enum hw_status live_handle_retry(struct live_handle *handle, rd_kafka_resp_err_t code,
                                 const char *what, struct hw_error *error)
{
    enum hw_status status;

    live_handle_poll(handle, 0);
    if (handle->is_fatal || reason_rank(handle->reason_code) >= 4) {
        return live_error_refuse(error, handle->reason_code, "%s: %s", what, handle->reason);
    }
    status = live_wait_again(&handle->wait, error);
    if (status != HW_BUSY) {
        if (status == HW_OK && code != RD_KAFKA_RESP_ERR__TIMED_OUT) {
            live_handle_poll(handle, 20); /* The call came back at once. */
        }
        return status;
    }
    if (handle->reason_code != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return live_error_refuse(error, handle->reason_code, "%s: no answer within %d ms: %s", what,
                                 handle->wait.timeout_ms, handle->reason);
    }
    return live_error_refuse(error, code, "%s: no answer within %d ms", what,
                             handle->wait.timeout_ms);
}

enum hw_status live_handle_retry_error(struct live_handle *handle, rd_kafka_error_t *taken,
                                       const char *what, struct hw_error *error)
{
    rd_kafka_resp_err_t code = rd_kafka_error_code(taken);

    handle->is_fatal |= rd_kafka_error_is_fatal(taken) != 0;
    if (handle->is_fatal || !rd_kafka_error_is_retriable(taken)) {
        return live_error_take(error, taken, what);
    }
    rd_kafka_error_destroy(taken);
    return live_handle_retry(handle, code, what, error);
}

/* ------------------------------------------------------------------------------------- clusters */

enum hw_status live_cluster_create(sqlite3 *db, const char *name,
                                   struct ext_config_list *properties,
                                   struct live_cluster **created, struct hw_error *error)
{
    static pthread_once_t watched = PTHREAD_ONCE_INIT;
    struct live_cluster *cluster = sqlite3_malloc64(sizeof *cluster);
    enum hw_status status;

    (void)pthread_once(&watched, cluster_watch_forks);
    if (cluster == NULL) {
        ext_config_list_release(properties);
        return hw_error_no_memory(error, "a connection");
    }
    *cluster = (struct live_cluster){.db = db,
                                     .forks = cluster_forks,
                                     .name = sqlite3_mprintf("%s", name),
                                     .properties = *properties,
                                     .timeout_ms = LIVE_TIMEOUT_MS_DEFAULT,
                                     .mode = HW_READ_UNCOMMITTED};
    ext_config_list_init(properties);
    status = cluster->name == NULL ? hw_error_no_memory(error, "a connection's name")
                                   : live_properties_check(cluster, error);
    if (status != HW_OK) {
        live_cluster_destroy(cluster);
        return status;
    }
    *created = cluster;
    return HW_OK;
}

void live_cluster_destroy(struct live_cluster *cluster)
{
    while (cluster->consumers != NULL) {
        struct live_handle *handle = cluster->consumers;

        cluster->consumers = handle->next;
        handle_destroy(handle);
    }
    if (cluster->producer != NULL) {
        handle_destroy(cluster->producer);
    }
    ext_config_list_release(&cluster->properties);
    sqlite3_free(cluster->name);
    sqlite3_free(cluster);
}

bool live_cluster_is_used(const struct live_cluster *cluster)
{
    const struct live_handle *handle = cluster->consumers;

    while (handle != NULL && !handle->is_used) {
        handle = handle->next;
    }
    return handle != NULL;
}

enum hw_status live_cluster_consumer(struct live_cluster *cluster, enum hw_read_mode mode,
                                     int timeout_ms, struct live_handle **found,
                                     struct hw_error *error)
{
    struct live_handle *handle = cluster->consumers;

    while (handle != NULL && (handle->is_used || handle->mode != mode)) {
        handle = handle->next;
    }
    if (handle == NULL) {
        enum hw_status status = handle_create(cluster, false, mode, &handle, error);

        if (status != HW_OK) {
            return status;
        }
        handle->next = cluster->consumers;
        cluster->consumers = handle;
    }
    handle->is_used = true;
    live_handle_wait(handle, timeout_ms);
    *found = handle;
    return HW_OK;
}

void live_cluster_give_back(struct live_handle *handle)
{
    struct live_handle **place = &handle->cluster->consumers;

    handle->is_used = false;
    if (handle->is_fatal || handle->reason_code == RD_KAFKA_RESP_ERR__AUTHENTICATION) {
        while (*place != handle) {
            place = &(*place)->next;
        }
        *place = handle->next;
        handle_destroy(handle);
    }
}

void live_cluster_drop_producer(struct live_cluster *cluster)
{
    if (cluster->producer != NULL) {
        handle_destroy(cluster->producer);
        cluster->producer = NULL;
    }
}

/* Make the transactional id its own, which ends what another one left open under it. */
static enum hw_status cluster_prepare(struct live_handle *handle, struct hw_error *error)
{
    enum hw_status status = HW_OK;
    rd_kafka_error_t *failed;

    while (status == HW_OK && (failed = rd_kafka_init_transactions(
                                   handle->rk, live_wait_slice_ms(&handle->wait))) != NULL) {
        status = live_handle_retry_error(handle, failed, "asking for the transactional.id", error);
    }
    handle->is_prepared = status == HW_OK;
    return status;
}

void live_cluster_start_producer(struct live_cluster *cluster)
{
    struct hw_error ignored;

    if (cluster->producer == NULL) {
        (void)handle_create(cluster, true, HW_READ_UNCOMMITTED, &cluster->producer, &ignored);
    }
}

enum hw_status live_cluster_producer(struct live_cluster *cluster, struct live_handle **found,
                                     struct hw_error *error)
{
    enum hw_status status = HW_OK;

    if (cluster->producer != NULL && cluster->producer->is_fatal) {
        live_cluster_drop_producer(cluster);
    }
    if (cluster->producer == NULL) {
        status = handle_create(cluster, true, HW_READ_UNCOMMITTED, &cluster->producer, error);
    }
    if (status != HW_OK) {
        return status;
    }
    live_handle_wait(cluster->producer, cluster->timeout_ms);
    if (cluster->is_transactional && !cluster->producer->is_prepared) {
        status = cluster_prepare(cluster->producer, error);
        if (status != HW_OK) {
            live_cluster_drop_producer(cluster);
        }
    }
    *found = cluster->producer;
    return status;
}
