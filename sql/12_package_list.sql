-- SPDX-License-Identifier: MIT
-- Does everything that was acknowledged survive when the leader loses power?
--
-- Real input: names and versions of 595 packages of Debian 12, imported by the shell. They go through
-- a topic on three brokers, min.insync.replicas 2, in a database on disk. The first half is replicated
-- and acknowledged. Of the second half the leader has everything, its followers a part, and nobody was
-- told anything yet, when the leader loses power. Another broker takes over, the producer sends again
-- what it got no acknowledgement for, and SQL compares the topic with the list.
-- Case: F-03 (the list stands beside this file, so the output is the same on every machine)
.load ./highwater
.open exp.db
.load ./highwater
.mode list
.headers off
CREATE TABLE package(name TEXT, version TEXT);
.mode csv
.separator "\t"
.import sql/12_package_list.tsv package
.mode list
.separator "|"
SELECT count(*) || ' packages' FROM package;

-- Small batches and small answers, so that a follower needs many fetches.
SELECT configure('replica.fetch.max.bytes', 4096), configure('batch.size', 1024);
CREATE VIRTUAL TABLE log USING highwater(replication.factor=3, min.insync.replicas=2);

.print -- the first half: one transaction, replicated, acknowledged
CREATE TABLE half AS SELECT max(rowid) / 2 AS row FROM package;
BEGIN;
INSERT INTO log(key, value) SELECT name, version FROM package WHERE rowid <= (SELECT row FROM half);
COMMIT;
SELECT 'rounds needed: ' || replicate('log');
SELECT status, count(*) FROM hw_acks GROUP BY status;

.print -- the second half: some rounds, not enough, then broker 1 loses power
INSERT INTO log(key, value) SELECT name, version FROM package WHERE rowid > (SELECT row FROM half);
SELECT fetch_round('log'), fetch('log', 0, 2);
SELECT status, count(*) FROM hw_acks GROUP BY status;
SELECT crash(1, 'power');
SELECT count(*) FROM log;

.print -- broker 2 leads; the producer sends again what it was not told about
SELECT 'leader epoch ' || promote('log', 0, 2);
SELECT 'rounds needed: ' || replicate('log');
SELECT status, count(*) FROM hw_acks GROUP BY status;
INSERT INTO log(key, value)
SELECT p.name, p.version FROM package AS p
 WHERE NOT EXISTS (SELECT 1 FROM log AS l WHERE l.key = p.name AND l.value = p.version);
SELECT 'rounds needed: ' || replicate('log');

.print -- broker 1 comes back with what it had synced, and becomes equal
SELECT restart(1);
SELECT 'rounds needed: ' || replicate('log');
SELECT DISTINCT 'log end ' || r.leo || ', isr ' || p.isr
  FROM hw_replicas AS r JOIN hw_partitions AS p USING (topic, partition);

.print -- every package is there, nothing else is, and nothing twice
SELECT 'missing: ' || count(*) FROM (SELECT name, version FROM package EXCEPT SELECT key, value FROM log);
SELECT 'foreign: ' || count(*) FROM (SELECT key, value FROM log EXCEPT SELECT name, version FROM package);
SELECT (SELECT count(*) FROM log) || ' records, ' || (SELECT count(*) FROM package) || ' packages';

.print -- and it is all there when the database is opened again
.open exp.db
.load ./highwater
SELECT 'missing: ' || count(*) FROM (SELECT name, version FROM package EXCEPT SELECT key, value FROM log);
SELECT leader, leader_epoch, isr FROM hw_partitions;
