-- SPDX-License-Identifier: MIT
-- A producer hangs, another instance takes over, the first one wakes up. What can it still do?
--
-- Nothing: init_producer() with the same transactional id raises the epoch, aborts what was open, and whoever comes with
-- the old epoch is refused, by the partition if that has the marker, by the coordinator if not.
-- Row: T044. Semantics: X6.4, X6.5, R1.23
.load ./highwater
.mode list
.nullvalue NULL
CREATE VIRTUAL TABLE t USING highwater(replication.factor=2);
SELECT create_topic('u', 1, 2) IS NOT NULL;

.print -- the first instance writes, and hangs
SELECT init_producer('worker'), begin_txn(0), produce('t', 0, NULL, 'half of it', 'all', '{"producer":0}'), replicate();
SELECT transactional_id, producer_id, producer_epoch, state, partitions FROM hw_transactions;

.print -- the second one takes over: the abort is decided, and it asks again when the marker is replicated
SELECT init_producer('worker');
SELECT transactional_id, producer_epoch, state, pending_markers FROM hw_transactions;
SELECT replicate(), init_producer('worker');
SELECT transactional_id, producer_epoch, state FROM hw_transactions;

.print -- the first one wakes up: epoch 0 is refused where its marker is, by the partition
SELECT produce('t', 0, NULL, 'other half', 'all', '{"producer":0,"epoch":0,"sequence":1}');
.print -- and elsewhere by the coordinator
SELECT produce('u', 0, NULL, 'other half', 'all', '{"producer":0,"epoch":0,"sequence":0}');
.print -- it cannot commit either
SELECT commit_txn(0, '{"epoch":0}');

.print -- the second one does the work
SELECT begin_txn(0), produce('t', 0, NULL, 'all of it', 'all', '{"producer":0}'), replicate(), commit_txn(0), replicate();
.headers on
SELECT "offset", value, visibility, producer_epoch, control FROM hw_log('t', 0, 1);
.headers off
SELECT value FROM t WHERE isolation = 'read_committed';
