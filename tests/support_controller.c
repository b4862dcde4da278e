/* SPDX-License-Identifier: MIT */
/* The verbs of the controller's tests. */
#include "support_controller.h"

#include <string.h>

#include "tests/support_test.h"

int test_controller_set_up(void **state)
{
    static struct test_controller t;

    memset(&t, 0, sizeof t);
    hw_controller_init(&t.controller);
    t.controller.auto_elect = true;
    t.settings.min_insync_replicas = 1;
    for (hw_broker_id_t id = 0; id < TEST_BROKERS; id++) {
        (void)hw_controller_register(&t.controller, id);
    }
    *state = &t;
    return 0;
}

static void assert_unchanged(const struct hw_partition_record *record,
                             const struct hw_partition_record *before)
{
    char text[TEST_RECORD_TEXT_SIZE];

    expect_record(record, test_record_format(before, text));
}

/* What changes has a new partition epoch; what does not is the same in every field. */
static void assert_step(const struct hw_partition_record *record,
                        const struct hw_partition_record *before, bool changed)
{
    hw_partition_record_check(record);
    if (changed) {
        assert_int_equal(record->partition_epoch, before->partition_epoch + 1);
    } else {
        assert_unchanged(record, before);
    }
}

void test_controller_create(struct test_controller *t, const char *replicas)
{
    struct hw_broker_list list = test_list(replicas);

    assert_true(t->count < TEST_PARTITIONS_MAX);
    assert_int_equal(
        hw_controller_create_partition(&t->controller, &list, &t->partitions[t->count], &t->error),
        HW_OK);
    hw_partition_record_check(&t->partitions[t->count]);
    t->count++;
}

typedef bool test_event(const struct hw_controller *controller, const struct hw_settings *settings,
                        hw_broker_id_t id, struct hw_partition_record *record);

static void tell_all(struct test_controller *t, hw_broker_id_t id, test_event *event)
{
    for (int i = 0; i < t->count; i++) {
        struct hw_partition_record before = t->partitions[i];
        bool changed = event(&t->controller, &t->settings, id, &t->partitions[i]);

        assert_step(&t->partitions[i], &before, changed);
    }
}

void test_controller_fence(struct test_controller *t, hw_broker_id_t id)
{
    hw_controller_registration(&t->controller, id)->fenced = true;
    tell_all(t, id, hw_controller_broker_fenced);
}

void test_controller_unfence(struct test_controller *t, hw_broker_id_t id)
{
    hw_controller_registration(&t->controller, id)->fenced = false;
    tell_all(t, id, hw_controller_broker_unfenced);
}

void test_controller_shut_down(struct test_controller *t, hw_broker_id_t id)
{
    hw_controller_registration(&t->controller, id)->in_controlled_shutdown = true;
    tell_all(t, id, hw_controller_broker_shutting_down);
}

void test_controller_restart(struct test_controller *t, hw_broker_id_t id)
{
    (void)hw_controller_register(&t->controller, id);
    tell_all(t, id, hw_controller_broker_restarted_uncleanly);
}

struct hw_alter_partition_request test_controller_proposal_of(const struct test_controller *t,
                                                              int partition, const char *isr)
{
    const struct hw_partition_record *record = &t->partitions[partition];
    struct hw_alter_partition_request request = {
        .sender = record->leader,
        .leader_epoch = record->leader_epoch,
        .partition_epoch = record->partition_epoch,
        .isr = test_list(isr),
    };

    assert_int_not_equal(record->leader, HW_BROKER_ID_NONE);
    request.sender_epoch = hw_metadata_find(&t->controller.metadata, record->leader)->epoch;
    for (int32_t i = 0; i < request.isr.count; i++) {
        const struct hw_registration *registration =
            hw_metadata_find(&t->controller.metadata, request.isr.ids[i]);

        request.broker_epochs[i] =
            registration == NULL ? HW_BROKER_EPOCH_NONE : registration->epoch;
    }
    return request;
}

enum hw_kafka_error test_controller_send_proposal(struct test_controller *t, int partition,
                                                  const struct hw_alter_partition_request *request)
{
    struct hw_partition_record *record = &t->partitions[partition];
    struct hw_partition_record before = *record;
    bool changed =
        hw_controller_alter_partition(&t->controller, &t->settings, request, record, &t->response);

    assert_step(record, &before, changed);
    if (t->response.error != HW_KAFKA_NONE) {
        assert_int_equal(changed, t->response.error == HW_KAFKA_NEW_LEADER_ELECTED);
        assert_int_equal(t->response.leader, HW_BROKER_ID_NONE);
        assert_int_equal(t->response.leader_epoch, HW_EPOCH_NONE);
        assert_int_equal(t->response.partition_epoch, -1);
        assert_int_equal(t->response.isr.count, 0);
    }
    return t->response.error;
}

enum hw_kafka_error test_controller_propose(struct test_controller *t, int partition,
                                            const char *isr)
{
    struct hw_alter_partition_request request = test_controller_proposal_of(t, partition, isr);

    return test_controller_send_proposal(t, partition, &request);
}

enum hw_kafka_error test_controller_elect(struct test_controller *t, int partition,
                                          enum hw_election election)
{
    struct hw_partition_record before = t->partitions[partition];
    enum hw_kafka_error answer =
        hw_controller_elect(&t->controller, &t->settings, election, &t->partitions[partition]);

    assert_step(&t->partitions[partition], &before, answer == HW_KAFKA_NONE);
    return answer;
}

/* The Kafka error of a status, after checking that a refusal has words and left the record alone.
 */
static enum hw_kafka_error answer_of(struct test_controller *t, enum hw_status status,
                                     const struct hw_partition_record *record,
                                     const struct hw_partition_record *before)
{
    hw_partition_record_check(record);
    if (status == HW_OK) {
        return HW_KAFKA_NONE;
    }
    assert_int_equal(status, HW_REFUSED);
    assert_true(strlen(t->error.message) > 0);
    assert_unchanged(record, before);
    return t->error.kafka_error;
}

enum hw_kafka_error test_controller_promote(struct test_controller *t, int partition,
                                            hw_broker_id_t id, const char *dead, bool unclean)
{
    struct hw_partition_record *record = &t->partitions[partition];
    struct hw_partition_record before = *record;
    struct hw_broker_list dead_list = test_list(dead);
    enum hw_status status = hw_controller_promote(&t->controller, &t->settings, "orders-0", id,
                                                  &dead_list, unclean, record, &t->error);

    if (status == HW_OK) {
        assert_int_equal(record->leader, id);
        assert_int_equal(record->leader_epoch, before.leader_epoch + 1);
        assert_int_equal(record->partition_epoch, before.partition_epoch + 1);
    }
    return answer_of(t, status, record, &before);
}

enum hw_kafka_error test_controller_reassign(struct test_controller *t, int partition,
                                             const char *target)
{
    struct hw_partition_record *record = &t->partitions[partition];
    struct hw_partition_record before = *record;
    struct hw_broker_list list = test_list(target);
    enum hw_status status =
        hw_controller_reassign(&t->controller, &t->settings, &list, record, &t->error);

    return answer_of(t, status, record, &before);
}

enum hw_kafka_error test_controller_cancel_reassignment(struct test_controller *t, int partition)
{
    struct hw_partition_record *record = &t->partitions[partition];
    struct hw_partition_record before = *record;
    enum hw_status status =
        hw_controller_reassign(&t->controller, &t->settings, NULL, record, &t->error);

    return answer_of(t, status, record, &before);
}
