/* SPDX-License-Identifier: MIT */
#include "ext/live/live_properties.h"

#include "ext/ext_value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TIMEOUT_MS_MAX = 24 * 60 * 60 * 1000,
    TRANSACTION_TIMEOUT_MS_DEFAULT = 60000,
    MESSAGE_MAX_DEFAULT = 1000000
};

struct property {
    const char *name;
    const char *value;
};

/* What a scan cannot do without. */
static const struct property of_every_scan[] = {{"enable.partition.eof", "true"},
                                                {"auto.offset.reset", "error"},
                                                {"enable.auto.commit", "false"},
                                                {"enable.auto.offset.store", "false"}};

/*
 * What is better than librdkafka's own, unless somebody says otherwise. The end of a partition is
 * known fetch.wait.max.ms after its last record; the limits bound the memory of a scan that stands
 * still. Properties that this librdkafka does not know are left out.
 */
static const struct property of_consumers[] = {{"fetch.wait.max.ms", "10"},
                                               {"check.crcs", "true"},
                                               {"queued.max.messages.kbytes", "4096"},
                                               {"fetch.max.bytes", "8388608"},
                                               {"fetch.queue.backoff.ms", "1"},
                                               {"allow.auto.create.topics", "false"}};

/* The partitioner of Kafka's own client and of highwater. */
static const struct property of_producers[] = {
    {"partitioner", "murmur2_random"}, {"queue.buffering.max.kbytes", "65536"}, {"linger.ms", "2"}};

static const struct property of_all[] = {
    {"client.id", "highwater"},           {"socket.timeout.ms", "10000"},
    {"reconnect.backoff.max.ms", "1000"}, {"topic.metadata.refresh.fast.interval.ms", "100"},
    {"enable.metrics.push", "false"},     {"log.connection.close", "false"}};

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static const char *property_find(const struct ext_config_list *properties, const char *name)
{
    for (size_t i = 0; i < properties->count; i++) {
        if (strcmp(properties->pairs[i].name, name) == 0) {
            return properties->pairs[i].value;
        }
    }
    return NULL;
}

/* Ours, or librdkafka's that is set for each handle. */
static bool property_is_own(const char *name)
{
    return strcmp(name, "live.timeout.ms") == 0 || strcmp(name, "isolation.level") == 0;
}

static enum hw_status property_set(rd_kafka_conf_t *conf, const char *name, const char *value,
                                   struct hw_error *error)
{
    char text[512];

    for (size_t i = 0; i < COUNT_OF(of_every_scan); i++) {
        if (strcmp(of_every_scan[i].name, name) == 0) {
            return hw_error_refuse(error, HW_KAFKA_INVALID_CONFIG,
                                   "\"%s\" cannot be given: a scan sets it itself", name);
        }
    }
    switch (rd_kafka_conf_set(conf, name, value, text, sizeof text)) {
    case RD_KAFKA_CONF_OK:
        return HW_OK;
    case RD_KAFKA_CONF_UNKNOWN:
        return hw_error_refuse(error, HW_KAFKA_INVALID_CONFIG,
                               "librdkafka %s has no property \"%.60s\"", rd_kafka_version_str(),
                               name);
    case RD_KAFKA_CONF_INVALID:
        break;
    }
    /* librdkafka's own words would show the value. */
    return hw_error_refuse(error, HW_KAFKA_INVALID_CONFIG,
                           "\"%.60s\" does not take the value that is given (not shown: it may be "
                           "a secret)",
                           name);
}

bool live_properties_timeout(const char *text, int *timeout_ms)
{
    size_t digits = strspn(text, "0123456789");
    long number = digits > 0 && digits < 10 && text[digits] == '\0' ? strtol(text, NULL, 10) : 0;

    if (number < 1 || number > TIMEOUT_MS_MAX) {
        return false;
    }
    *timeout_ms = (int)number;
    return true;
}

static enum hw_status check_own(struct live_cluster *cluster, const char *name, const char *value,
                                struct hw_error *error)
{
    if (strcmp(name, "live.timeout.ms") == 0) {
        return live_properties_timeout(value, &cluster->timeout_ms)
                   ? HW_OK
                   : hw_error_refuse(error, HW_KAFKA_INVALID_CONFIG,
                                     "live.timeout.ms must be a number of milliseconds from 1 to "
                                     "%d",
                                     TIMEOUT_MS_MAX);
    }
    return ext_isolation_read(value, &cluster->mode)
               ? HW_OK
               : hw_error_refuse(error, HW_KAFKA_INVALID_CONFIG,
                                 "isolation.level must be read_uncommitted or read_committed");
}

enum hw_status live_properties_check(struct live_cluster *cluster, struct hw_error *error)
{
    const struct ext_config_list *properties = &cluster->properties;
    const char *id = property_find(properties, "transactional.id");
    const char *max = property_find(properties, "message.max.bytes");
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    enum hw_status status = HW_OK;

    for (size_t i = 0; status == HW_OK && i < properties->count; i++) {
        const char *name = properties->pairs[i].name;
        const char *value = properties->pairs[i].value;

        status = property_is_own(name) ? check_own(cluster, name, value, error)
                                       : property_set(conf, name, value, error);
    }
    rd_kafka_conf_destroy(conf);
    if (status == HW_OK && property_find(properties, "bootstrap.servers") == NULL &&
        property_find(properties, "metadata.broker.list") == NULL) {
        return hw_error_refuse(error, HW_KAFKA_INVALID_CONFIG,
                               "a connection needs \"bootstrap.servers\": \"host:9092\"");
    }
    cluster->message_max = max == NULL ? MESSAGE_MAX_DEFAULT : (size_t)strtoul(max, NULL, 10);
    cluster->is_transactional = id != NULL && id[0] != '\0';
    return status;
}

/* What is known to be right, or not known to this librdkafka. */
static void set_one(rd_kafka_conf_t *conf, const char *name, const char *value)
{
    char text[512];

    (void)rd_kafka_conf_set(conf, name, value, text, sizeof text);
}

static void set_defaults(rd_kafka_conf_t *conf, const struct property *defaults, size_t count,
                         const struct ext_config_list *given)
{
    for (size_t i = 0; i < count; i++) {
        if (property_find(given, defaults[i].name) == NULL) {
            set_one(conf, defaults[i].name, defaults[i].value);
        }
    }
}

/* Kafka's own client is idempotent unless it is told to ask for less than all acknowledgements. */
static bool may_be_idempotent(const struct ext_config_list *given)
{
    const char *acks = property_find(given, "acks");

    acks = acks == NULL ? property_find(given, "request.required.acks") : acks;
    return property_find(given, "enable.idempotence") == NULL &&
           (acks == NULL || strcmp(acks, "all") == 0 || strcmp(acks, "-1") == 0);
}

static void set_producer(rd_kafka_conf_t *conf, const struct ext_config_list *given, int timeout_ms)
{
    const char *transaction = property_find(given, "transaction.timeout.ms");
    int transaction_ms = TRANSACTION_TIMEOUT_MS_DEFAULT;
    char number[32];

    set_defaults(conf, of_producers, COUNT_OF(of_producers), given);
    if (may_be_idempotent(given)) {
        set_one(conf, "enable.idempotence", "true");
    }
    /* A message's own time-out may not be larger than that of its transaction. */
    if (transaction != NULL) {
        (void)live_properties_timeout(transaction, &transaction_ms);
    }
    (void)snprintf(number, sizeof number, "%d",
                   timeout_ms < transaction_ms ? timeout_ms : transaction_ms);
    if (property_find(given, "message.timeout.ms") == NULL &&
        property_find(given, "delivery.timeout.ms") == NULL) {
        set_one(conf, "message.timeout.ms", number);
    }
}

static void set_consumer(rd_kafka_conf_t *conf, const struct ext_config_list *given,
                         enum hw_read_mode mode)
{
    set_defaults(conf, of_consumers, COUNT_OF(of_consumers), given);
    for (size_t i = 0; i < COUNT_OF(of_every_scan); i++) {
        set_one(conf, of_every_scan[i].name, of_every_scan[i].value);
    }
    set_one(conf, "isolation.level", ext_isolation_word(mode));
}

enum hw_status live_properties_conf(const struct ext_config_list *properties, bool is_producer,
                                    enum hw_read_mode mode, int timeout_ms, rd_kafka_conf_t **made,
                                    struct hw_error *error)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    enum hw_status status = HW_OK;

    set_defaults(conf, of_all, COUNT_OF(of_all), properties);
    if (is_producer) {
        set_producer(conf, properties, timeout_ms);
    } else {
        set_consumer(conf, properties, mode);
    }
    for (size_t i = 0; status == HW_OK && i < properties->count; i++) {
        const char *name = properties->pairs[i].name;

        /* A consumer has no transactional.id. */
        if (!property_is_own(name) && (is_producer || strcmp(name, "transactional.id") != 0)) {
            status = property_set(conf, name, properties->pairs[i].value, error);
        }
    }
    if (status != HW_OK) {
        rd_kafka_conf_destroy(conf);
        return status;
    }
    *made = conf;
    return HW_OK;
}
