/* SPDX-License-Identifier: MIT */
/*
 * Kafka's error codes: what one broker answers another, or a client. Names and numbers are those of
 * Kafka's protocol [Errors.java], and so is whether a client tries again by itself
 * [RetriableException]; the few below -1000 are ours, for situations that Kafka's clients
 * cannot get into.
 */
#ifndef HW_BASE_KAFKA_ERROR_H
#define HW_BASE_KAFKA_ERROR_H

#include <stdbool.h>
#include <stddef.h>

#define HW_KAFKA_ERROR_MAP(X)                                                                      \
    X(NONE, 0, false, "nothing went wrong")                                                        \
    X(UNKNOWN_SERVER_ERROR, -1, false, "nothing is known of it but its words")                     \
    X(OFFSET_OUT_OF_RANGE, 1, false,                                                               \
      "read from the log start to the high watermark: hw_partitions has both")                     \
    X(CORRUPT_MESSAGE, 2, true,                                                                    \
      "a batch is damaged: hw_batches() says where, another replica may have it")                  \
    X(UNKNOWN_TOPIC_OR_PARTITION, 3, true, "hw_topics and hw_partitions list what there is")       \
    X(LEADER_NOT_AVAILABLE, 5, true, "restart() the leader, or promote() or elect() another one")  \
    X(NOT_LEADER_OR_FOLLOWER, 6, true, "ask the leader: hw_partitions says who that is")           \
    X(REQUEST_TIMED_OUT, 7, true,                                                                  \
      "the record is in the log and may be committed later: replicate(), then look at it")         \
    X(BROKER_NOT_AVAILABLE, 8, false, "hw_brokers lists them: restart() one that is down")         \
    X(REPLICA_NOT_AVAILABLE, 9, true, "hw_replicas says which brokers have a copy")                \
    X(MESSAGE_TOO_LARGE, 10, false, "make the record smaller, or max.message.bytes larger")        \
    X(NETWORK_EXCEPTION, 13, true, "heal() the link, or wait for it")                              \
    X(COORDINATOR_LOAD_IN_PROGRESS, 14, true, "call again")                                        \
    X(COORDINATOR_NOT_AVAILABLE, 15, true, "call again")                                           \
    X(NOT_COORDINATOR, 16, true, "call again")                                                     \
    X(INVALID_TOPIC, 17, false, "1 to 249 of a-z A-Z 0-9 . _ - are a name")                        \
    X(RECORD_LIST_TOO_LARGE, 18, false, "make the record smaller, or segment.bytes larger")        \
    X(NOT_ENOUGH_REPLICAS, 19, true,                                                               \
      "bring followers back and replicate(), or lower min.insync.replicas")                        \
    X(NOT_ENOUGH_REPLICAS_AFTER_APPEND, 20, true,                                                  \
      "the record is in the log: bring followers back and replicate()")                            \
    X(INVALID_REQUIRED_ACKS, 21, false, "acks are 0, 1, -1 or 'all'")                              \
    X(TOPIC_AUTHORIZATION_FAILED, 29, false, "ask who runs the cluster for rights to the topic")   \
    X(GROUP_AUTHORIZATION_FAILED, 30, false, "ask who runs the cluster for rights to the group")   \
    X(CLUSTER_AUTHORIZATION_FAILED, 31, false, "ask who runs the cluster for rights to it")        \
    X(INVALID_TIMESTAMP, 32, false,                                                                \
      "keep to message.timestamp.before.max.ms and .after.max.ms, or change them")                 \
    X(UNSUPPORTED_VERSION, 35, false, "ask in a version that the other side knows")                \
    X(TOPIC_ALREADY_EXISTS, 36, false, "open it with topic=, or take another name")                \
    X(INVALID_PARTITIONS, 37, false,                                                               \
      "a topic has 1 to 100000 partitions, 32768 if it is one table")                              \
    X(INVALID_REPLICATION_FACTOR, 38, false,                                                       \
      "no more replicas than running brokers, 16 at most: add_broker()")                           \
    X(INVALID_REPLICA_ASSIGNMENT, 39, false,                                                       \
      "name brokers that hw_brokers lists, each once, at least one that runs")                     \
    X(INVALID_CONFIG, 40, false, "hw_config lists the names and what each may be")                 \
    X(NOT_CONTROLLER, 41, true, "call again")                                                      \
    X(INVALID_REQUEST, 42, false, "the message says which argument, and what is allowed")          \
    X(UNSUPPORTED_FOR_MESSAGE_FORMAT, 43, false, "the format of these batches does not have it")   \
    X(POLICY_VIOLATION, 44, false, "ask who runs the cluster what its policy allows")              \
    X(OUT_OF_ORDER_SEQUENCE_NUMBER, 45, false,                                                     \
      "records before this one are missing: begin anew with init_producer()")                      \
    X(DUPLICATE_SEQUENCE_NUMBER, 46, false, "it is in the log already")                            \
    X(INVALID_PRODUCER_EPOCH, 47, false,                                                           \
      "a newer producer has taken over: begin anew with init_producer()")                          \
    X(INVALID_TXN_STATE, 48, false, "hw_transactions says where the transaction stands")           \
    X(INVALID_PRODUCER_ID_MAPPING, 49, false, "begin anew with init_producer()")                   \
    X(INVALID_TRANSACTION_TIMEOUT, 50, false, "timeout_ms is at most transaction.max.timeout.ms")  \
    X(CONCURRENT_TRANSACTIONS, 51, true,                                                           \
      "the transaction before is being ended: replicate(), then call again")                       \
    X(TRANSACTION_COORDINATOR_FENCED, 52, false,                                                   \
      "an older coordinator wrote this: nothing is to be done")                                    \
    X(TRANSACTIONAL_ID_AUTHORIZATION_FAILED, 53, false,                                            \
      "ask who runs the cluster for rights to the id")                                             \
    X(SECURITY_DISABLED, 54, false, "the cluster has no such security")                            \
    X(OPERATION_NOT_ATTEMPTED, 55, false, "another part of the request failed: mend that")         \
    X(KAFKA_STORAGE_ERROR, 56, true,                                                               \
      "put the file or disk right, then restart() the broker or open anew")                        \
    X(SASL_AUTHENTICATION_FAILED, 58, false, "look at user and password")                          \
    X(UNKNOWN_PRODUCER_ID, 59, false,                                                              \
      "what the producer wrote is gone: begin anew with init_producer()")                          \
    X(REASSIGNMENT_IN_PROGRESS, 60, false,                                                         \
      "wait until the move is done, or cancel it with reassign(..., NULL)")                        \
    X(NON_EMPTY_GROUP, 68, false, "stop the members of the group first")                           \
    X(GROUP_ID_NOT_FOUND, 69, false, "the cluster has no such group")                              \
    X(FETCH_SESSION_ID_NOT_FOUND, 70, true, "fetch without a session")                             \
    X(INVALID_FETCH_SESSION_EPOCH, 71, true, "fetch without a session")                            \
    X(TOPIC_DELETION_DISABLED, 73, false, "the cluster deletes no topics")                         \
    X(FENCED_LEADER_EPOCH, 74, true,                                                               \
      "a newer leader has taken over: look it up in hw_partitions, then try again")                \
    X(UNKNOWN_LEADER_EPOCH, 75, true,                                                              \
      "the broker has not heard of that epoch yet: heal() its link, or wait")                      \
    X(UNSUPPORTED_COMPRESSION_TYPE, 76, false, "use none, gzip, snappy, lz4 or zstd")              \
    X(STALE_BROKER_EPOCH, 77, false, "the broker has registered anew since: call again")           \
    X(OFFSET_NOT_AVAILABLE, 78, true,                                                              \
      "the new leader's high watermark is not there yet: fetch_round(), then again")               \
    X(PREFERRED_LEADER_NOT_AVAILABLE, 80, true, "restart() the first replica and let it catch up") \
    X(ELIGIBLE_LEADERS_NOT_AVAILABLE, 83, true,                                                    \
      "restart() a member of ISR or ELR, or elect 'unclean' and lose records")                     \
    X(ELECTION_NOT_NEEDED, 84, true, "it has that leader")                                         \
    X(NO_REASSIGNMENT_IN_PROGRESS, 85, false,                                                      \
      "nothing is moving: hw_partitions.adding and removing are empty")                            \
    X(INVALID_RECORD, 87, false, "the message says what of the record or batch is wrong")          \
    X(UNSTABLE_OFFSET_COMMIT, 88, true, "call again")                                              \
    X(THROTTLING_QUOTA_EXCEEDED, 89, true, "call again later")                                     \
    X(PRODUCER_FENCED, 90, false,                                                                  \
      "a newer producer has taken over: begin anew with init_producer()")                          \
    X(INVALID_UPDATE_VERSION, 95, false, "the record has changed since: call again")               \
    X(UNKNOWN_TOPIC_ID, 100, true, "the topic was deleted, or made anew: look it up in hw_topics") \
    X(DUPLICATE_BROKER_REGISTRATION, 101, false, "take an id that hw_brokers does not list")       \
    X(BROKER_ID_NOT_REGISTERED, 102, false, "hw_brokers lists who is: add_broker()")               \
    X(INCONSISTENT_TOPIC_ID, 103, true, "the topic was made anew: look it up in hw_topics")        \
    X(INCONSISTENT_CLUSTER_ID, 104, false, "the directory belongs to another cluster")             \
    X(TRANSACTIONAL_ID_NOT_FOUND, 105, false, "hw_transactions lists those there are")             \
    X(INELIGIBLE_REPLICA, 107, false,                                                              \
      "it may not be in the ISR: restart() it, or let it register")                                \
    X(NEW_LEADER_ELECTED, 108, false, "another broker leads now: look it up in hw_partitions")     \
    X(TRANSACTION_ABORTABLE, 120, false, "abort_txn(), then begin anew")                           \
    X(NOT_IN_SYNC_REPLICA, -1001, false,                                                           \
      "promote() a member of the ISR, or say 'unclean' and lose what it lacks")

enum hw_kafka_error {
#define HW_KAFKA_ERROR_ENUM(NAME, NUMBER, ...) HW_KAFKA_##NAME = NUMBER,
    HW_KAFKA_ERROR_MAP(HW_KAFKA_ERROR_ENUM)
#undef HW_KAFKA_ERROR_ENUM
};

/* Kafka's name of the error ("NOT_ENOUGH_REPLICAS"). Never NULL; static storage. */
const char *hw_kafka_error_name(enum hw_kafka_error error);

/* What is known of an error. */
struct hw_kafka_error_row {
    enum hw_kafka_error error;
    const char *name;
    bool is_retriable;  /* Whether trying the same again may work, as Kafka's clients do. */
    const char *advice; /* What to do about it, in one line. */
};

/* The error at that place of the map, NONE first; NULL behind the last. */
const struct hw_kafka_error_row *hw_kafka_error_at(size_t place);

#endif /* HW_BASE_KAFKA_ERROR_H */
