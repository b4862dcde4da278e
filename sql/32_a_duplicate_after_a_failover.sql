-- SPDX-License-Identifier: MIT
-- A producer gets no answer, because the leader dies. It sends the record again, to the next leader. Is it there twice?
--
-- Not with a producer id: the sequence is in the batch, so followers know it as the leader did, and who leads next
-- recognises the batch and answers with its first offset. It remembers the last five batches of each producer. An older one
-- is refused, not appended: still not there twice, but its producer never learns the offset. Without an id it is there twice.
-- Semantics: R1.21, R1.24
.load ./highwater
.mode list
.nullvalue NULL
CREATE VIRTUAL TABLE t USING highwater(replication.factor=2);
SELECT init_producer();

.print -- the record is replicated, and the leader dies before it has answered
SELECT produce('t', 0, NULL, 'order 1', 'all', '{"producer":0}'), produce('t', 0, NULL, 'order of nobody', 'all');
SELECT fetch('t', 0, 2), crash(1), promote('t', 0, 2);
SELECT id, status, error FROM hw_acks;

.print -- both are sent again
SELECT produce('t', 0, NULL, 'order 1', 1, '{"producer":0,"sequence":0}'), produce('t', 0, NULL, 'order of nobody', 1);
SELECT "offset", value, producer_id, sequence, leader_epoch FROM hw_log('t', 0, 2);

.print -- the last five are known
SELECT count(produce('t', 0, NULL, 'order ' || value, 1, '{"producer":0}')) FROM generate_series(2, 6);
SELECT produce('t', 0, NULL, 'order 2', 1, '{"producer":0,"sequence":1}');
SELECT count(*) FROM hw_log('t', 0, 2);
.print -- the sixth is refused, and so is what leaves a gap
SELECT produce('t', 0, NULL, 'order 1', 1, '{"producer":0,"sequence":0}');
SELECT produce('t', 0, NULL, 'order 9', 1, '{"producer":0,"sequence":8}');

.print -- of a snapshot, which a broker reads when it starts, only the last one is known
SELECT restart(1), replicate(), shutdown_broker(1), restart(1), replicate();
SELECT promote('t', 0, 1), produce('t', 0, NULL, 'order 6', 1, '{"producer":0,"sequence":5}');
SELECT produce('t', 0, NULL, 'order 5', 1, '{"producer":0,"sequence":4}');

.print -- with retries the client does all this by itself
SELECT configure('retries', 10), produce('t', 0, NULL, 'order 7', 'all', '{"producer":0}'), fetch('t', 0, 2);
SELECT crash(1), promote('t', 0, 2), tick(100), restart(1), replicate();
SELECT status, base_offset, error FROM hw_acks ORDER BY id DESC LIMIT 1;
SELECT "offset", value, sequence, leader_epoch FROM hw_log('t', 0, 2) ORDER BY "offset" DESC LIMIT 2;
