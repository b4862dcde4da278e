-- SPDX-License-Identifier: MIT
-- A broker has died: what does its disk know, and what was going on?
--
-- The directory is that of a real broker, Kafka 4.4.0, which was killed: one node, broker and controller
-- in one. Its topic `big` was left out, and the index files of its own topics. Put your own directory in
-- place of it. Each question is a view of forensics.sql.
.load ./highwater
.mode list
.headers off
.param init
.param set :dir "'tests/data/internal/broker'"
.read sql/forensics.sql

.print -- 1. What lies here? How did the broker stop, and what had it not yet told consumers?
SELECT topic, "partition", state, segments, log_start, hw, leo, clean_shutdown FROM disk WHERE topic NOT GLOB '__*' LIMIT 8;

.print -- 2. Is anything damaged?
SELECT * FROM damage;

.print -- 3. Do the indexes lie?
SELECT count(*) FROM wrong_indexes;

.print -- 4. Is a partition without a leader, or with too few in sync?
SELECT topic, "partition", leader, isr, what FROM trouble ORDER BY topic, "partition" LIMIT 3;

.print -- 5. Who led last? One broker alone: each of its starts is a leader epoch.
SELECT "offset", topic, "partition", previous_leader, leader, leader_epoch FROM leaders LIMIT 3;

.print -- 6. When did brokers come and go?
SELECT "offset", type, broker, fenced, shutting_down FROM brokers;

.print -- 7. Which configs were changed after they were set?
SELECT resource, name, previous, value FROM configs WHERE previous IS NOT NULL;

.print -- 8. What is missing here, or a stray?
SELECT topic, "partition", what FROM strays;

.print -- 9. How far are the groups, and how far behind?
SELECT "group", topic, "partition", "offset", log_end, lag, state FROM lag WHERE topic = 'grouped' AND "partition" = 0;

.print -- 10. Which offsets went back, or away?
SELECT "group", topic, "partition", previous, now, state FROM offsets_lost;

.print -- 11. Which groups are there?
SELECT * FROM groups;

.print -- 12. Which transactions are open?
SELECT * FROM open_transactions;

.print -- 13. Who was in the middle of something?
SELECT transactional_id, producer_id, state, partitions FROM unfinished;

.print -- 14. What would a start do? The index files of the broker's own topics were left out.
SELECT action, count(*), sum(bytes_cut), sum(records_lost) FROM start GROUP BY action;

.print -- 15. What does another copy lack? Of another broker here, from before its last start.
.param set :dir "'tests/data/kafka/killed/logs'"
.param set :copy "'tests/data/kafka/stopped/logs'"
SELECT topic, "partition", verdict, ahead, first_offset, only_here, only_there, cut_here FROM copies;
