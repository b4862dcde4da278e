-- SPDX-License-Identifier: MIT
-- Which acknowledged records does an unclean election lose?
--
-- Three replicas end at 10, 5 and 2; the last one has been out of the ISR for some time (KAFKA-10751).
-- Brokers 1 and 2 die, and 3 is elected all the same. Seen from the logs 8 records are gone. What that
-- means depends on what their producers were told:
--
--   acks=1                                all 8 were acknowledged
--   acks=all, min.insync.replicas=2       3 were: 0 to 4 were on two brokers; 5 to 9 still waited
.load ./highwater
.mode list
.headers off

.print === acks=1
CREATE VIRTUAL TABLE one USING highwater(replication.factor=3);
SELECT count(produce('one', 0, NULL, value, 1)) FROM generate_series(0, 1);
SELECT replicate('one');
SELECT cut(1, 3), remove_from_isr('one', 0, 3), tick(30001);
SELECT count(produce('one', 0, NULL, value, 1)) FROM generate_series(2, 4);
SELECT fetch('one', 0, 2), fetch('one', 0, 2);
SELECT count(produce('one', 0, NULL, value, 1)) FROM generate_series(5, 9);
SELECT broker, role, leo, hw, in_isr FROM hw_replicas WHERE topic = 'one';
SELECT crash(1), crash(2), promote('one', 0, 3, 'unclean');
.print -- hw_lost has a row for each record that was acknowledged, or visible, and is not there any more
SELECT "offset", acks, acknowledged, by_event, broker FROM hw_lost WHERE topic = 'one';

.print === acks=all, min.insync.replicas=2
SELECT heal(), restart(1), restart(2);
CREATE VIRTUAL TABLE two USING highwater(replication.factor=3, min.insync.replicas=2);
SELECT count(produce('two', 0, NULL, value, 'all')) FROM generate_series(0, 1);
SELECT replicate('two');
SELECT cut(1, 3), remove_from_isr('two', 0, 3), tick(30001);
SELECT count(produce('two', 0, NULL, value, 'all')) FROM generate_series(2, 4);
SELECT fetch('two', 0, 2), fetch('two', 0, 2);
SELECT count(produce('two', 0, NULL, value, 'all')) FROM generate_series(5, 9);
SELECT broker, role, leo, hw, in_isr FROM hw_replicas WHERE topic = 'two';
SELECT crash(1), crash(2), promote('two', 0, 3, 'unclean');
SELECT "offset", acks, acknowledged, by_event, broker FROM hw_lost WHERE topic = 'two';
.print -- the other five were never acknowledged
SELECT base_offset, status, error FROM hw_acks WHERE topic = 'two' AND base_offset >= 5;

.print === both
SELECT topic, count(*) FROM hw_lost WHERE acknowledged GROUP BY topic;
