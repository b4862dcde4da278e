/* SPDX-License-Identifier: MIT */
/*
 * cluster.state: what the controller knows, as text. Lines in this order, words separated by one
 * space:
 *
 *     highwater 1                           version
 *     clock 120                             ms
 *     random 00c0ffee00c0ffee               state of the generator, hex
 *     controller 4                          the next broker epoch
 *     slots 4                               the next slot of the file high-watermarks
 *     producers 4001 2                      the next producer id, the coordinator's epoch; left out
 *                                           where no producer ever had an id
 *     database 3 4711                       one more than the epoch of the coordinator that last saw
 *                                           the database commit, or 0, and the number that its
 *                                           tokens have; left out where it has no producer
 *     transaction pay 4000 4000 - 3 3 2 60000 PrepareCommit 90 120
 *                                           for each transactional id, in their order: producer id,
 *                                           previous and next id, epoch, that of its markers, the
 *                                           client's version, timeout, state, start, last update
 *     transaction-partition 22_characters_of_an_id 0      for each that it has: topic id, number
 *     config replica.lag.time.max.ms 10000  name and value; for each that is set
 *     broker 1 running 1 active - - -       id, state, broker epoch, registration, down since,
 *     broker 2 crashed 2 fenced 90 =r1 -    rack, directory; for each in order of id
 *     cut 2 controller                      for each link that is cut: its ends
 *     link client 2 7000 0 0 0              for each direction of a link that takes time: from, to (id,
 *                                           controller or client), latency and jitter in
 *                                           microseconds, bytes a second, loss in millionths
 *     disk 2 5000 0                         for each that takes time: broker, microseconds of an
 *                                           append, bytes a second
 *     topic orders 22_characters_of_an_id 1 2 0        name, id, partitions, replication factor,
 *                                                      sticky partition; for each in order of name
 *     undecided                                        where a transaction that may not have been
 *                                                      committed makes or deletes it
 *     topic-config min.insync.replicas 2               for each that is set
 *     partition 0 1 3 5 recovered [1,2] [1] [2] [] [] [] [1,2]    for each: number, leader, leader
 *                                                      epoch, partition epoch, recovered or
 *                                                      recovering, replicas, isr, elr, last known
 *                                                      elr, adding, removing, slots
 *     crc32c 1a2b3c4d                       of all bytes before this line
 *
 * States of a broker are running, crashed, shutdown, and two of brokers that run: unregistered, as
 * it has restarted and the controller has not heard of that, and stopping. "-" is none. Text that
 * may be none has "=" before it. In text, whatever is not a letter, a digit or one of -._/ is %XX.
 *
 * The file is only ever replaced as a whole, and a file that was cut or changed is noticed by its
 * last line. The parser still takes nothing for granted: every number is checked against its range,
 * every record against its invariants, before an object is made of it.
 */
#ifndef HW_DURABLE_STATE_FILE_H
#define HW_DURABLE_STATE_FILE_H

#include "core/cluster/cluster_internal.h"
#include "core/durable/state_words.h"

/* state_transactions.c: the lines of the coordinator. */
void hw_state_transactions(struct hw_state_lines *lines, struct hw_coordinator *coordinator);

/* state_times.c: an end of a link; only the controller, clients where they may be one, or a broker
 * that there is, is read. */
void hw_state_link_end(struct hw_state_lines *lines, const struct hw_metadata *metadata,
                       bool may_be_clients, hw_broker_id_t *end);

/* state_times.c: the lines of how long links and disks take. */
void hw_state_write_times(struct hw_state_lines *lines, struct hw_timed *timed);
void hw_state_read_times(struct hw_state_lines *lines, struct hw_cluster *cluster);

#endif /* HW_DURABLE_STATE_FILE_H */
