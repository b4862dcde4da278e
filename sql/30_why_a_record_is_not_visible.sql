-- SPDX-License-Identifier: MIT
-- Why does a reader of read_committed not get a record that is in the log?
--
-- There are four reasons: the record is not replicated yet (above the high watermark); a transaction that began before it
-- is not over (above the last stable offset), its own or somebody else's; its transaction was aborted; or it is no record
-- of anybody's but the marker that ends one. hw_log() names the reason, why() tells what it waits for.
-- Semantics: X12.3
.load ./highwater
.mode list
.nullvalue NULL
CREATE VIRTUAL TABLE t USING highwater(replication.factor=2);
SELECT init_producer('bank'), init_producer('shop'), init_producer('cafe');

.print -- three transactions over each other, and a record of nobody's transaction
SELECT tick(100), begin_txn(0), begin_txn(1), begin_txn(2);
SELECT produce('t', 0, NULL, 'shop 1', 'all', '{"producer":1}'), produce('t', 0, NULL, 'bank 1', 'all', '{"producer":0}'),
       produce('t', 0, NULL, 'plain', 'all'), produce('t', 0, NULL, 'cafe 1', 'all', '{"producer":2}');
SELECT replicate(), tick(100), abort_txn(1), commit_txn(2), replicate();
SELECT produce('t', 0, NULL, 'bank 2', 'all', '{"producer":0}');
.headers on
SELECT "offset", value, visibility, control FROM hw_log('t', 0, 1);
.headers off

.print -- bank is open from offset 1 on: nothing behind that is told, although shop and cafe are done
SELECT hw, lso, leo FROM hw_partitions;
SELECT "offset", value FROM t;
.print -- read_committed:
SELECT "offset", value FROM t WHERE isolation = 'read_committed';
SELECT "offset", why('t', 0, "offset") FROM hw_log('t', 0, 1) WHERE "offset" IN (0, 1, 2, 3, 6);
SELECT diagram('t', 0);

.print -- a consumer of either kind is told where it stands, and finds no record of t=100 that it may not have
SELECT list_offsets('t', 0, 'latest'), list_offsets('t', 0, 'latest', '{"isolation":"read_committed"}');
SELECT list_offsets('t', 0, 100), list_offsets('t', 0, 100, '{"isolation":"read_committed"}');
SELECT list_offsets('t', 0, 101), list_offsets('t', 0, 101, '{"isolation":"read_committed"}');

.print -- bank commits. Its marker is in the log of the leader, and not replicated: so it could still be lost, and the commit with it
SELECT commit_txn(0);
SELECT hw, lso, leo FROM hw_partitions;
SELECT why('t', 0, 1);

.print -- and then it is
SELECT replicate();
SELECT hw, lso, leo FROM hw_partitions;
SELECT "offset", value FROM t WHERE isolation = 'read_committed';
SELECT "offset", why('t', 0, "offset") FROM hw_log('t', 0, 1) WHERE visibility <> 'visible';
