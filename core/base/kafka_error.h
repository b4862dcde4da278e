/* SPDX-License-Identifier: MIT */
/*
 * Kafka's error codes: what one broker answers another, or a client. Names and numbers are those of
 * Kafka's protocol [Errors.java]; the few below -1000 are ours, for situations that Kafka's clients
 * cannot get into.
 */
#ifndef HW_BASE_KAFKA_ERROR_H
#define HW_BASE_KAFKA_ERROR_H

#define HW_KAFKA_ERROR_MAP(X)                                                                      \
    X(NONE, 0)                                                                                     \
    X(UNKNOWN_SERVER_ERROR, -1)                                                                    \
    X(OFFSET_OUT_OF_RANGE, 1)                                                                      \
    X(CORRUPT_MESSAGE, 2)                                                                          \
    X(UNKNOWN_TOPIC_OR_PARTITION, 3)                                                               \
    X(LEADER_NOT_AVAILABLE, 5)                                                                     \
    X(NOT_LEADER_OR_FOLLOWER, 6)                                                                   \
    X(REQUEST_TIMED_OUT, 7)                                                                        \
    X(BROKER_NOT_AVAILABLE, 8)                                                                     \
    X(REPLICA_NOT_AVAILABLE, 9)                                                                    \
    X(MESSAGE_TOO_LARGE, 10)                                                                       \
    X(NETWORK_EXCEPTION, 13)                                                                       \
    X(COORDINATOR_LOAD_IN_PROGRESS, 14)                                                            \
    X(COORDINATOR_NOT_AVAILABLE, 15)                                                               \
    X(NOT_COORDINATOR, 16)                                                                         \
    X(INVALID_TOPIC, 17)                                                                           \
    X(RECORD_LIST_TOO_LARGE, 18)                                                                   \
    X(NOT_ENOUGH_REPLICAS, 19)                                                                     \
    X(NOT_ENOUGH_REPLICAS_AFTER_APPEND, 20)                                                        \
    X(INVALID_REQUIRED_ACKS, 21)                                                                   \
    X(TOPIC_AUTHORIZATION_FAILED, 29)                                                              \
    X(GROUP_AUTHORIZATION_FAILED, 30)                                                              \
    X(CLUSTER_AUTHORIZATION_FAILED, 31)                                                            \
    X(INVALID_TIMESTAMP, 32)                                                                       \
    X(UNSUPPORTED_VERSION, 35)                                                                     \
    X(TOPIC_ALREADY_EXISTS, 36)                                                                    \
    X(INVALID_PARTITIONS, 37)                                                                      \
    X(INVALID_REPLICATION_FACTOR, 38)                                                              \
    X(INVALID_REPLICA_ASSIGNMENT, 39)                                                              \
    X(INVALID_CONFIG, 40)                                                                          \
    X(NOT_CONTROLLER, 41)                                                                          \
    X(INVALID_REQUEST, 42)                                                                         \
    X(UNSUPPORTED_FOR_MESSAGE_FORMAT, 43)                                                          \
    X(POLICY_VIOLATION, 44)                                                                        \
    X(OUT_OF_ORDER_SEQUENCE_NUMBER, 45)                                                            \
    X(DUPLICATE_SEQUENCE_NUMBER, 46)                                                               \
    X(INVALID_PRODUCER_EPOCH, 47)                                                                  \
    X(INVALID_TXN_STATE, 48)                                                                       \
    X(INVALID_PRODUCER_ID_MAPPING, 49)                                                             \
    X(INVALID_TRANSACTION_TIMEOUT, 50)                                                             \
    X(CONCURRENT_TRANSACTIONS, 51)                                                                 \
    X(TRANSACTION_COORDINATOR_FENCED, 52)                                                          \
    X(TRANSACTIONAL_ID_AUTHORIZATION_FAILED, 53)                                                   \
    X(SECURITY_DISABLED, 54)                                                                       \
    X(OPERATION_NOT_ATTEMPTED, 55)                                                                 \
    X(KAFKA_STORAGE_ERROR, 56)                                                                     \
    X(SASL_AUTHENTICATION_FAILED, 58)                                                              \
    X(UNKNOWN_PRODUCER_ID, 59)                                                                     \
    X(REASSIGNMENT_IN_PROGRESS, 60)                                                                \
    X(NON_EMPTY_GROUP, 68)                                                                         \
    X(GROUP_ID_NOT_FOUND, 69)                                                                      \
    X(FETCH_SESSION_ID_NOT_FOUND, 70)                                                              \
    X(INVALID_FETCH_SESSION_EPOCH, 71)                                                             \
    X(TOPIC_DELETION_DISABLED, 73)                                                                 \
    X(FENCED_LEADER_EPOCH, 74)                                                                     \
    X(UNKNOWN_LEADER_EPOCH, 75)                                                                    \
    X(UNSUPPORTED_COMPRESSION_TYPE, 76)                                                            \
    X(STALE_BROKER_EPOCH, 77)                                                                      \
    X(OFFSET_NOT_AVAILABLE, 78)                                                                    \
    X(PREFERRED_LEADER_NOT_AVAILABLE, 80)                                                          \
    X(ELIGIBLE_LEADERS_NOT_AVAILABLE, 83)                                                          \
    X(ELECTION_NOT_NEEDED, 84)                                                                     \
    X(NO_REASSIGNMENT_IN_PROGRESS, 85)                                                             \
    X(INVALID_RECORD, 87)                                                                          \
    X(UNSTABLE_OFFSET_COMMIT, 88)                                                                  \
    X(THROTTLING_QUOTA_EXCEEDED, 89)                                                               \
    X(PRODUCER_FENCED, 90)                                                                         \
    X(INVALID_UPDATE_VERSION, 95)                                                                  \
    X(UNKNOWN_TOPIC_ID, 100)                                                                       \
    X(DUPLICATE_BROKER_REGISTRATION, 101)                                                          \
    X(BROKER_ID_NOT_REGISTERED, 102)                                                               \
    X(INCONSISTENT_TOPIC_ID, 103)                                                                  \
    X(INCONSISTENT_CLUSTER_ID, 104)                                                                \
    X(TRANSACTIONAL_ID_NOT_FOUND, 105)                                                             \
    X(INELIGIBLE_REPLICA, 107)                                                                     \
    X(NEW_LEADER_ELECTED, 108)                                                                     \
    X(TRANSACTION_ABORTABLE, 120)                                                                  \
    X(NOT_IN_SYNC_REPLICA, -1001)                                                                  \
    X(BROKER_STATE, -1002)

enum hw_kafka_error {
#define HW_KAFKA_ERROR_ENUM(NAME, NUMBER) HW_KAFKA_##NAME = NUMBER,
    HW_KAFKA_ERROR_MAP(HW_KAFKA_ERROR_ENUM)
#undef HW_KAFKA_ERROR_ENUM
};

/* Kafka's name of the error ("NOT_ENOUGH_REPLICAS"). Never NULL; static storage. */
const char *hw_kafka_error_name(enum hw_kafka_error error);

#endif /* HW_BASE_KAFKA_ERROR_H */
