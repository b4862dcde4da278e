/* SPDX-License-Identifier: MIT */
/*
 * Messages between the replicas of one partition, and between their brokers and the controller:
 * what Kafka's own variants have in common. Lost where a link is cut or a broker does not run.
 * Rounds over several partitions, and requests that wait at the leader, are in fetch_round.h.
 */
#ifndef HW_REPLICATION_EXCHANGE_H
#define HW_REPLICATION_EXCHANGE_H

#include "core/replication/variant.h"

/* Deliver the record to every running broker that the controller reaches: they take their roles.
 * Where notices travel (step->notices), they leave now. */
enum hw_status hw_exchange_tell_all(struct hw_partition *partition, const struct hw_step *step,
                                    struct hw_error *error);
enum hw_status hw_exchange_tell(struct hw_partition *partition, const struct hw_step *step,
                                struct hw_replica *replica, struct hw_error *error);

/* A broker hears of `record`; an older one than it knows changes nothing. Where it holds the
 * partition no more, whoever placed the replica takes it away (is_dropped). */
enum hw_status hw_exchange_deliver(struct hw_partition *partition, const struct hw_step *step,
                                   struct hw_replica *replica,
                                   const struct hw_partition_record *record,
                                   struct hw_error *error);

/* Brokers that have missed a change, since a link was cut or telling them failed, get it now. */
enum hw_status hw_exchange_tell_late(struct hw_partition *partition, const struct hw_step *step,
                                     struct hw_error *error);

/* Send the leader's ISR proposal, if it has one to send, and deliver the answer. */
enum hw_status hw_exchange_proposals(struct hw_partition *partition, const struct hw_step *step,
                                     struct hw_replica *leader, struct hw_error *error);

/* The replica on the broker that `follower` takes for its leader, or NULL where a message does not
 * get there. */
struct hw_replica *hw_exchange_reach_leader(const struct hw_partition *partition,
                                            const struct hw_step *step,
                                            const struct hw_replica *follower);

/*
 * The two halves of a poll in a round: the follower sends its next request, which the leader
 * receives and keeps, if it is not delayed by throttling; and the leader answers a request that has
 * waited, as `request` has it now. *size_bytes: what the answer takes of the limits; what was
 * appended is added to *records. Errors: HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_exchange_send(struct hw_partition *partition, const struct hw_step *step,
                                struct hw_replica *follower, struct hw_error *error);
enum hw_status hw_exchange_answer(struct hw_partition *partition, const struct hw_step *step,
                                  struct hw_replica *follower,
                                  const struct hw_fetch_request *request, int64_t *size_bytes,
                                  int64_t *records, struct hw_error *error);

/*
 * A poll in its parts, between which messages may travel. Bring the follower to where it can fetch,
 * and build its request; *ready false: it does not fetch now. Note in the journal that it leaves,
 * and that the answer does. And let an answer that arrives have its effect; *records is what was
 * appended.
 */
enum hw_status hw_exchange_prepare(struct hw_partition *partition, const struct hw_step *step,
                                   struct hw_replica *follower, struct hw_fetch_request *request,
                                   bool *ready, struct hw_error *error);
void hw_exchange_note_request(const struct hw_replica *follower,
                              const struct hw_fetch_request *request);
void hw_exchange_note_response(const struct hw_replica *follower,
                               const struct hw_fetch_request *request,
                               const struct hw_fetch_response *response);
enum hw_status hw_exchange_apply(struct hw_partition *partition, const struct hw_step *step,
                                 struct hw_replica *follower,
                                 const struct hw_fetch_request *request,
                                 const struct hw_fetch_response *response, int64_t *records,
                                 struct hw_error *error);

/* Implementations of struct hw_variant shared by Kafka's variants. */
enum hw_status hw_exchange_fetch(struct hw_partition *partition, const struct hw_step *step,
                                 struct hw_replica *follower, int64_t *records,
                                 struct hw_error *error);
enum hw_status hw_exchange_refresh_isr(struct hw_partition *partition, const struct hw_step *step,
                                       struct hw_error *error);
hw_time_ms_t hw_exchange_next_isr_change(const struct hw_partition *partition);
enum hw_status hw_exchange_remove_from_isr(struct hw_partition *partition,
                                           const struct hw_step *step, hw_broker_id_t id,
                                           struct hw_error *error);
enum hw_status hw_exchange_promote(struct hw_partition *partition, const struct hw_step *step,
                                   hw_broker_id_t id, bool unclean, struct hw_error *error);
enum hw_status hw_exchange_rejoin(struct hw_partition *partition, const struct hw_step *step,
                                  struct hw_replica *follower, struct hw_error *error);

#endif /* HW_REPLICATION_EXCHANGE_H */
