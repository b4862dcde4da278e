-- SPDX-License-Identifier: MIT
-- Is the end offset of an epoch enough to find where two logs part?
--
-- KIP-279. Brokers 1 and 2 lead in turns, each while the other is down: epochs 0, 2 and 4 are broker
-- 1's, 1 and 3 are broker 2's. Then broker 2 comes back as a follower. Both hold a0, and nothing else
-- of the other's.
--
--   kip-101  broker 2 asks where its latest epoch, 3, ends. The leader never had it, and answers
--            where its first larger epoch starts: 4. Broker 2 has no more than 3 records, cuts
--            nothing, and goes on behind b2. Its epochs do not even ascend.
--   kip-279  the answer names the epoch that it is about: epoch 2 ends at 4. Broker 2 never had that
--            one, cuts back to its epoch 1, and asks again. Two questions, and the logs part at 1.
--   kafka    the same in fetches: each answer says where to cut next, and the third has records.
.load ./highwater
.mode list
.headers off
CREATE TEMP VIEW logs AS
SELECT 'broker 1: ' || group_concat(value || '/' || leader_epoch, ' ') FROM hw_log('t', 0, 1)
UNION ALL
SELECT 'broker 2: ' || group_concat(value || '/' || leader_epoch, ' ') FROM hw_log('t', 0, 2);

.print === kip-101
SELECT open_cluster(':memory:', '{"protocol":"kip-101","brokers":2}');
SELECT length(create_topic('t', 1, 2)) > 0;
SELECT produce('t', 0, NULL, 'a0', 1), replicate() > 0;
SELECT crash(1), promote('t', 0, 2), produce('t', 0, NULL, 'b1', 1);
SELECT crash(2), restart(1), promote('t', 0, 1, 'unclean');
SELECT produce('t', 0, NULL, 'a1', 1), produce('t', 0, NULL, 'a2', 1), produce('t', 0, NULL, 'a3', 1);
SELECT crash(1), restart(2), promote('t', 0, 2, 'unclean'), produce('t', 0, NULL, 'b2', 1);
SELECT crash(2), restart(1), promote('t', 0, 1, 'unclean');
SELECT produce('t', 0, NULL, 'a4', 1), produce('t', 0, NULL, 'a5', 1);
SELECT restart(2);
.print -- before: value/epoch
SELECT * FROM logs;
.print -- every epoch as it ends in the leader's log: [epoch,offset]
SELECT 'epoch ' || value || ' of the follower: ' || epoch_end_offset('t', 0, 1, value) FROM json_each('[3,1,0]');
.print -- one poll
SELECT fetch('t', 0, 2);
SELECT * FROM logs;
.print -- it has caught up, is in the ISR, and does not have what the leader has
SELECT replicate() > 0;
SELECT isr FROM hw_partitions;
SELECT count(*) || ' records differ' FROM hw_log('t', 0, 1) AS a JOIN hw_log('t', 0, 2) AS b
    ON a."offset" = b."offset" WHERE a.value <> b.value;

.print === kip-279
SELECT open_cluster(':memory:', '{"protocol":"kip-279","brokers":2}');
SELECT length(create_topic('t', 1, 2)) > 0;
SELECT produce('t', 0, NULL, 'a0', 1), replicate() > 0;
SELECT crash(1), promote('t', 0, 2), produce('t', 0, NULL, 'b1', 1);
SELECT crash(2), restart(1), promote('t', 0, 1, 'unclean');
SELECT produce('t', 0, NULL, 'a1', 1), produce('t', 0, NULL, 'a2', 1), produce('t', 0, NULL, 'a3', 1);
SELECT crash(1), restart(2), promote('t', 0, 2, 'unclean'), produce('t', 0, NULL, 'b2', 1);
SELECT crash(2), restart(1), promote('t', 0, 1, 'unclean');
SELECT produce('t', 0, NULL, 'a4', 1), produce('t', 0, NULL, 'a5', 1);
SELECT restart(2);
.print -- the first question; then the second, and the records
SELECT fetch('t', 0, 2);
SELECT * FROM logs;
SELECT fetch('t', 0, 2);
SELECT * FROM logs;

.print === kafka
SELECT open_cluster(':memory:', '{"protocol":"kafka","brokers":2}');
SELECT length(create_topic('t', 1, 2)) > 0;
SELECT produce('t', 0, NULL, 'a0', 1), replicate() > 0;
SELECT crash(1), promote('t', 0, 2), produce('t', 0, NULL, 'b1', 1);
SELECT crash(2), restart(1), promote('t', 0, 1, 'unclean');
SELECT produce('t', 0, NULL, 'a1', 1), produce('t', 0, NULL, 'a2', 1), produce('t', 0, NULL, 'a3', 1);
SELECT crash(1), restart(2), promote('t', 0, 2, 'unclean'), produce('t', 0, NULL, 'b2', 1);
SELECT crash(2), restart(1), promote('t', 0, 1, 'unclean');
SELECT produce('t', 0, NULL, 'a4', 1), produce('t', 0, NULL, 'a5', 1);
SELECT restart(2);
.print -- each fetch cuts, or copies
SELECT fetch('t', 0, 2);
SELECT * FROM logs;
SELECT fetch('t', 0, 2);
SELECT * FROM logs;
SELECT fetch('t', 0, 2);
SELECT * FROM logs;
