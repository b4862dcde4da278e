/* SPDX-License-Identifier: MIT */
/* What does a cluster that is a copy of real brokers' directories take over from their metadata log? */
#include "core/base/broker_list.h"
#include "core/config/config.h"
#include "core/verbs/adopt_metadata.h"

#include <stdio.h>
#include <string.h>

#include "tests/support_test.h"

TEST_ALONE(settings_of_the_topic_that_there_are_here_are_taken)
{
    enum { TOPIC = HW_METADATA_TOPIC_CONFIG, BROKER = 4 };
    static const struct {
        int8_t resource_type;
        const char *resource, *name, *value;
    } cases[] = {
        {TOPIC, "orders", "retention.ms", "5"},         {TOPIC, "orders", "no.such.setting", "5"},
        {TOPIC, "orders", "num.replica.fetchers", "5"}, /* None of a topic. */
        {TOPIC, NULL, "retention.bytes", "5"},          {TOPIC, "others", "retention.bytes", "5"},
        {BROKER, "orders", "retention.bytes", "5"},     {TOPIC, "orders", "retention.bytes", NULL},
        {TOPIC, "orders", "flush.messages", "6"},       {TOPIC, "orders", "segment.bytes", "many"}};
    struct hw_metadata_config configs[sizeof cases / sizeof cases[0]];
    struct hw_adopt adopt = {.metadata = {.configs = configs}};
    struct hw_config_values taken;
    struct hw_error error;
    char text[128] = "";

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        configs[i] = (struct hw_metadata_config){.resource_type = cases[i].resource_type,
                                                 .resource = (char *)(uintptr_t)cases[i].resource,
                                                 .name = (char *)(uintptr_t)cases[i].name,
                                                 .value = (char *)(uintptr_t)cases[i].value};
        adopt.metadata.config_keys.count++;
    }
    hw_config_values_init(&taken, &hw_allocator_libc);
    assert_int_equal(hw_adopt_configs(&adopt, "orders", &taken, &error), HW_OK);
    for (size_t i = 0; i < hw_config_count(); i++) {
        if (taken.values[i] != NULL) {
            (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%s=%s ",
                           hw_config_entry_at(i)->name, taken.values[i]);
        }
    }
    assert_string_equal(text, "flush.messages=6 retention.ms=5 ");
    hw_config_values_release(&taken);
}

TEST_ALONE(of_the_brokers_that_are_copied_the_record_is_taken)
{
    static const struct {
        int32_t leader;
        int8_t recovery;
        int32_t epoch;
        hw_broker_id_t leads; /* Expected... */
        bool recovering;
    } cases[] = {{0, 0, 7, 0, false},
                 {0, 1, 0, 0, true},
                 {1, 1, 7, HW_BROKER_ID_NONE, false},
                 {3, 0, 7, 3, false},
                 {4, 1, 7, HW_BROKER_ID_NONE, false},
                 {-1, 0, -1, HW_BROKER_ID_NONE, false}};
    int32_t replicas[] = {3, 4, 0, 1};
    int32_t isr[] = {0, 3, 4};
    int32_t elr[] = {1, 0, 4};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct hw_partition_record record = {.leader = HW_BROKER_ID_NONE,
                                             .replicas = {.count = 3, .ids = {0, 1, 3}}};
        const struct hw_metadata_partition known = {
            .leader = cases[i].leader,
            .leader_epoch = cases[i].epoch,
            .partition_epoch = cases[i].epoch,
            .recovery = cases[i].recovery,
            .lists = {[HW_METADATA_REPLICAS] = {replicas, 4},
                      [HW_METADATA_ISR] = {isr, 3},
                      [HW_METADATA_ELR] = {elr, 3}}};

        hw_adopt_record(&record, &known);
        assert_true(hw_broker_list_equal(&record.replicas,
                                         &(struct hw_broker_list){.count = 3, .ids = {3, 0, 1}}));
        assert_true(
            hw_broker_list_equal(&record.isr, &(struct hw_broker_list){.count = 2, .ids = {0, 3}}));
        assert_true(
            hw_broker_list_equal(&record.elr, &(struct hw_broker_list){.count = 1, .ids = {1}}));
        assert_int_equal(record.leader, cases[i].leads);
        assert_int_equal(record.recovering, cases[i].recovering);
        assert_int_equal(record.leader_epoch, cases[i].epoch < 0 ? 0 : cases[i].epoch);
        assert_int_equal(record.partition_epoch, cases[i].epoch < 0 ? 0 : cases[i].epoch);
    }
}

int main(void)
{
    return test_run(NULL, NULL);
}
