/* SPDX-License-Identifier: MIT */
/*
 * Messages between the replicas of one partition, and between their brokers and the controller:
 * what Kafka's own variants have in common. Lost where a link is cut or a broker does not run.
 * Rounds over several partitions, and requests that wait at the leader, are in fetch_round.h.
 */
#ifndef HW_REPLICATION_EXCHANGE_H
#define HW_REPLICATION_EXCHANGE_H

#include "core/replication/variant.h"

/* Deliver the record to every running broker that the controller reaches and that does not know it
 * yet, also since a link was cut or telling it failed: they take their roles. Where notices travel
 * (step->notices), they leave now. */
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

/* Send the leader's ISR proposal, if it has one to send, and deliver the answer. */
enum hw_status hw_exchange_proposals(struct hw_partition *partition, const struct hw_step *step,
                                     struct hw_replica *leader, struct hw_error *error);

/* The replica on the broker that `follower` takes for its leader, or NULL where a message does not
 * get there. */
struct hw_replica *hw_exchange_reach_leader(const struct hw_partition *partition,
                                            const struct hw_step *step,
                                            const struct hw_replica *follower);

/*
 * A message of a round, or of a poll as a whole: the leader answers `request` in the way of `attempt`,
 * and its answer arrives; or it receives the request, and keeps it. *size_bytes: what the answer takes
 * of the limits; what was appended is added to *records. hw_exchange_poll() sends the follower's next
 * request, if it has one and is not delayed by throttling. Errors: HW_NO_MEMORY, HW_IO.
 */
enum hw_status hw_exchange_ask(struct hw_partition *partition, const struct hw_step *step,
                               struct hw_replica *follower, const struct hw_fetch_request *request,
                               enum hw_fetch_attempt attempt, int64_t *size_bytes, int64_t *records,
                               struct hw_error *error);
enum hw_status hw_exchange_poll(struct hw_partition *partition, const struct hw_step *step,
                                struct hw_replica *follower, enum hw_fetch_attempt attempt,
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

/* One fetch of one follower: a whole poll, which never waits; *records: as in `fetch` of hw_variant. */
enum hw_status hw_exchange_fetch(struct hw_partition *partition, const struct hw_step *step,
                                 struct hw_replica *follower, int64_t *records,
                                 struct hw_error *error);

#endif /* HW_REPLICATION_EXCHANGE_H */
