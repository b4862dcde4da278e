-- SPDX-License-Identifier: MIT
-- Why does a reader of read_committed get nothing new, although producers write and commit?
--
-- A transaction hangs: it is open in a partition, and no coordinator will ever end it. It pins the last stable offset,
-- and all that came after it stays unread. Before KIP-890 a record that arrived late, after its transaction had been
-- ended, was enough. A query finds it, abort_hanging() ends it, as kafka-transactions.sh find-hanging and abort do.
-- Semantics: X9.8, X10.1, X10.3, X10.5
.load ./highwater
.mode list
.nullvalue NULL
CREATE VIRTUAL TABLE t USING highwater(replication.factor=2);
.print -- as before KIP-890: the client adds partitions, and the leader does not ask whether it has
SELECT configure('transaction.version', 0), configure('transaction.partition.verification.enable', 'false');
SELECT init_producer('pay'), begin_txn(0), produce('t', 0, NULL, 'paid 1', 'all', '{"producer":0}');
SELECT replicate(), commit_txn(0), replicate();

.print -- a delayed copy of a record arrives behind the marker: the partition takes it for a new transaction
SELECT produce('t', 0, NULL, 'late', 'all', '{"producer":0,"epoch":0,"sequence":1,"transactional":1}');
SELECT transactional_id, state, partitions FROM hw_transactions;

.print -- others go on writing and committing; nobody of read_committed sees it
SELECT init_producer('ship'), begin_txn(1), produce('t', 0, NULL, 'shipped', 'all', '{"producer":1}'), replicate(), commit_txn(1), replicate();
SELECT produce('t', 0, NULL, 'plain', 'all'), tick(900001), replicate();
SELECT leo, hw, lso FROM hw_partitions;
SELECT value FROM t WHERE isolation = 'read_committed';
SELECT why('t', 0, 3);

.print -- find-hanging: open in a partition for longer than a transaction may be, and in no transaction that the coordinator has
CREATE TEMP VIEW hanging AS
SELECT p.topic, p."partition", p.producer_id, p.producer_epoch, p.txn_start_offset, p.last_timestamp
  FROM hw_producers AS p JOIN hw_partitions AS l ON l.topic = p.topic AND l."partition" = p."partition" AND l.leader = p.broker
 WHERE p.txn_start_offset IS NOT NULL AND p.last_timestamp < (SELECT max(time_ms) FROM hw_journal) - 900000
   AND NOT EXISTS (SELECT 1 FROM hw_transactions AS x, json_each(x.partitions) AS j
                    WHERE x.producer_id = p.producer_id AND j.value = p.topic || '-' || p."partition");
.headers on
SELECT * FROM hanging;
.headers off

.print -- abort it: the rest becomes readable
SELECT abort_hanging(topic, "partition", txn_start_offset) FROM hanging;
SELECT replicate(), count(*) FROM hanging;
SELECT leo, hw, lso FROM hw_partitions;
SELECT value FROM t WHERE isolation = 'read_committed';

.print -- today the leader asks: the late record is refused
SELECT configure('transaction.version', 2), configure('transaction.partition.verification.enable', 'true');
SELECT init_producer('pay'), begin_txn(0), produce('t', 0, NULL, 'paid 2', 'all', '{"producer":0}'), replicate(), commit_txn(0), replicate();
SELECT produce('t', 0, NULL, 'late', 'all', '{"producer":0,"epoch":1,"sequence":1,"transactional":1}');
