-- SPDX-License-Identifier: MIT
-- What happens to the ISR while a follower lags, and to a producer that missed a leader change?
--
-- The second experiment of the MiniKafka teaching model: two brokers, min.insync.replicas 2, and no
-- lag allowed, neither in records nor in the check that follows at once.
.load ./highwater
.mode list
.headers off
SELECT configure('protocol', 'minikafka');
SELECT configure('replica.lag.max.messages', 0);
CREATE VIRTUAL TABLE t USING highwater(replication.factor=2, min.insync.replicas=2);

.print -- both replicas are empty, so both are in sync
SELECT isr FROM hw_partitions;

.print -- a record that only the leader has puts broker 2 out of the ISR
SELECT produce('t', 0, NULL, 'a', 1);
SELECT refresh_isr('t');
SELECT isr FROM hw_partitions;

.print -- with one in-sync replica of two required, acks=all is refused and nothing is written
SELECT produce('t', 0, NULL, 'b', 'all');
SELECT leo FROM hw_partitions;

.print -- a round brings broker 2 back
SELECT fetch_round('t');
SELECT isr, hw FROM hw_partitions;

.print -- broker 2 leads in epoch 1; a producer that still names epoch 0 is fenced
SELECT promote('t', 0, 2);
SELECT produce('t', 0, NULL, 'c', 1, '{"leader_epoch":0}');
SELECT leo FROM hw_partitions;
