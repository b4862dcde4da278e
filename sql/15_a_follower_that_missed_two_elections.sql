-- SPDX-License-Identifier: MIT
-- What if a follower misses two elections, and the leader is the same as before them?
--
-- KIP-320 (KAFKA-6880). Brokers 1 and 3 lose the controller, but not each other: 1 still takes
-- records with acks=1, and 3 copies them. The controller elects 2, then 1 again. Broker 3 has heard
-- of neither, and goes on asking broker 1 at the offset where it was.
--
--   kip-279  the request names no epoch, so it fits: 3 takes z behind x, where the leader has y. The
--            logs differ, and 3 counts as in sync with them. When 3 is told of the new epoch, z is
--            the last record of both, and there is nothing to cut.
--   kafka    the request says which epoch the follower lives in. FENCED_LEADER_EPOCH: it waits for
--            news from the controller, and then cuts x.
.load ./highwater
.mode list
.headers off
CREATE TEMP VIEW logs AS
SELECT 'broker 1: ' || group_concat(value || '/' || leader_epoch, ' ') FROM hw_log('t', 0, 1)
UNION ALL
SELECT 'broker 3: ' || group_concat(value || '/' || leader_epoch, ' ') FROM hw_log('t', 0, 3);

.print === kip-279
SELECT open_cluster(':memory:', '{"protocol":"kip-279","brokers":3}');
SELECT length(create_topic('t', 1, 3)) > 0;
SELECT produce('t', 0, NULL, 'a', 1), replicate() > 0;
.print -- 1 and 3 lose the controller; 1 goes on as a leader that nobody has elected, and 3 follows it
SELECT cut(1, 'controller'), cut(3, 'controller');
SELECT produce('t', 0, NULL, 'x', 1), fetch('t', 0, 3);
SELECT 'leader 2, epoch ' || promote('t', 0, 2);
SELECT produce('t', 0, NULL, 'y', 1);
.print -- 1 hears of epoch 1, cuts x and copies y; what 3 asks of it is refused now
SELECT heal(1, 'controller'), rejoin('t', 0, 1);
SELECT fetch('t', 0, 3);
SELECT * FROM logs;
.print -- 1 is elected again; 3 has heard of neither election, and 1 is the leader that it knows
SELECT 'leader 1, epoch ' || promote('t', 0, 1);
SELECT produce('t', 0, NULL, 'z', 1);
SELECT fetch('t', 0, 3);
SELECT * FROM logs;
.print -- 3 reaches the controller again
SELECT heal(), replicate() > 0;
SELECT * FROM logs;
SELECT 'ISR ' || isr FROM hw_partitions;

.print === kafka
SELECT open_cluster(':memory:', '{"protocol":"kafka","brokers":3}');
SELECT length(create_topic('t', 1, 3)) > 0;
SELECT produce('t', 0, NULL, 'a', 1), replicate() > 0;
.print -- 1 and 3 lose the controller; 1 goes on as a leader that nobody has elected, and 3 follows it
SELECT cut(1, 'controller'), cut(3, 'controller');
SELECT produce('t', 0, NULL, 'x', 1), fetch('t', 0, 3);
SELECT 'leader 2, epoch ' || promote('t', 0, 2);
SELECT produce('t', 0, NULL, 'y', 1);
.print -- 1 hears of epoch 1, cuts x and copies y; what 3 asks of it is refused now
SELECT heal(1, 'controller'), rejoin('t', 0, 1);
SELECT fetch('t', 0, 3);
SELECT * FROM logs;
.print -- 1 is elected again; 3 has heard of neither election, and 1 is the leader that it knows
SELECT 'leader 1, epoch ' || promote('t', 0, 1);
SELECT produce('t', 0, NULL, 'z', 1);
SELECT fetch('t', 0, 3);
SELECT * FROM logs;
.print -- 3 reaches the controller again
SELECT heal(), replicate() > 0;
SELECT * FROM logs;
SELECT 'ISR ' || isr FROM hw_partitions;
