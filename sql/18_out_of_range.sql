-- SPDX-License-Identifier: MIT
-- How does an old leader find out that the new one has less than it?
--
-- Broker 2 is out of the ISR and misses four records. Broker 1 dies, and 2 is elected uncleanly. Topic
-- "short" gets no record then; "long" grows past the old leader's log end before 1 is back.
--
--   hw-truncation  on "short" broker 1 asks beyond the leader's log end: OFFSET_OUT_OF_RANGE, it asks for
--                  the latest offset, and cuts. On "long" its offset is in range, and there is no
--                  error at all: the two logs differ, and go on together.
--   kip-101        the question about the epoch finds both.
--   kafka          so does the epoch in the fetch.
.load ./highwater
.mode list
.headers off
CREATE TEMP VIEW logs AS
SELECT 'short on 1: ' || group_concat(value, ' ') FROM hw_log('short', 0, 1)
UNION ALL
SELECT 'short on 2: ' || group_concat(value, ' ') FROM hw_log('short', 0, 2)
UNION ALL
SELECT 'long on 1:  ' || group_concat(value, ' ') FROM hw_log('long', 0, 1)
UNION ALL
SELECT 'long on 2:  ' || group_concat(value, ' ') FROM hw_log('long', 0, 2);

.print === hw-truncation
SELECT open_cluster(':memory:', '{"protocol":"hw-truncation","brokers":2}');
SELECT length(create_topic('short', 1, 2)) > 0, length(create_topic('long', 1, 2)) > 0;
SELECT produce('short', 0, NULL, 'a0', 1), produce('long', 0, NULL, 'a0', 1), promote('long', 0, 1);
SELECT replicate() > 0, tick(5000);
.print -- broker 2 stops; broker 1 goes on alone, and its checkpoint says that all is committed
SELECT crash(2), tick(10125);
SELECT count(produce('short', 0, NULL, 'a' || value, 1)) + count(produce('long', 0, NULL, 'a' || value, 1))
  FROM generate_series(1, 4);
SELECT tick(5000);
SELECT topic, isr, leo, hw FROM hw_partitions ORDER BY topic DESC;
.print -- broker 1 dies; broker 2 is made the leader all the same, of one record
SELECT crash(1), restart(2), promote('short', 0, 2, 'unclean'), promote('long', 0, 2, 'unclean');
SELECT count(produce('long', 0, NULL, 'b' || value, 1)) FROM generate_series(1, 6);
.print -- broker 1 is back and follows
SELECT restart(1), replicate() > 0;
SELECT * FROM logs;

.print === kip-101
SELECT open_cluster(':memory:', '{"protocol":"kip-101","brokers":2}');
SELECT length(create_topic('short', 1, 2)) > 0, length(create_topic('long', 1, 2)) > 0;
SELECT produce('short', 0, NULL, 'a0', 1), produce('long', 0, NULL, 'a0', 1), promote('long', 0, 1);
SELECT replicate() > 0, tick(5000);
.print -- broker 2 stops; broker 1 goes on alone, and its checkpoint says that all is committed
SELECT crash(2), tick(10125);
SELECT count(produce('short', 0, NULL, 'a' || value, 1)) + count(produce('long', 0, NULL, 'a' || value, 1))
  FROM generate_series(1, 4);
SELECT tick(5000);
SELECT topic, isr, leo, hw FROM hw_partitions ORDER BY topic DESC;
.print -- broker 1 dies; broker 2 is made the leader all the same, of one record
SELECT crash(1), restart(2), promote('short', 0, 2, 'unclean'), promote('long', 0, 2, 'unclean');
SELECT count(produce('long', 0, NULL, 'b' || value, 1)) FROM generate_series(1, 6);
.print -- broker 1 is back and follows
SELECT restart(1), replicate() > 0;
SELECT * FROM logs;

.print === kafka
SELECT open_cluster(':memory:', '{"protocol":"kafka","brokers":2}');
SELECT length(create_topic('short', 1, 2)) > 0, length(create_topic('long', 1, 2)) > 0;
SELECT produce('short', 0, NULL, 'a0', 1), produce('long', 0, NULL, 'a0', 1), promote('long', 0, 1);
SELECT replicate() > 0, tick(5000);
.print -- broker 2 stops; broker 1 goes on alone, and its checkpoint says that all is committed
SELECT crash(2), tick(10125);
SELECT count(produce('short', 0, NULL, 'a' || value, 1)) + count(produce('long', 0, NULL, 'a' || value, 1))
  FROM generate_series(1, 4);
SELECT tick(5000);
SELECT topic, isr, leo, hw FROM hw_partitions ORDER BY topic DESC;
.print -- broker 1 dies; broker 2 is made the leader all the same, of one record
SELECT crash(1), restart(2), promote('short', 0, 2, 'unclean'), promote('long', 0, 2, 'unclean');
SELECT count(produce('long', 0, NULL, 'b' || value, 1)) FROM generate_series(1, 6);
.print -- broker 1 is back and follows
SELECT restart(1), replicate() > 0;
SELECT * FROM logs;
