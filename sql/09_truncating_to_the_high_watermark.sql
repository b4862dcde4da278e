-- SPDX-License-Identifier: MIT
-- Why did Kafka give its replicas leader epochs?
--
-- Broker 2 leads. m2 was acknowledged with acks=all, but follower 1 has not heard that it is
-- committed: its high watermark is one fetch late. Then 1 restarts, 2 dies before 1 could fetch, and 1
-- is elected.
--
--   hw-truncation  (until 0.10) on its restart broker 1 cuts its log to its own high watermark. m2 is
--                  gone, and broker 2 drops it too when it comes back.
--   kafka          broker 1 compares epochs with the leader instead, and there is nothing to cut.
--
-- The tick lets the brokers write their high watermarks down, as they do every 5 s.
.load ./highwater
.mode list
.headers off

.print === hw-truncation
SELECT configure('protocol', 'hw-truncation');
CREATE VIRTUAL TABLE old USING highwater(replication.factor=2);
SELECT promote('old', 0, 2);
SELECT produce('old', 0, NULL, 'm1', 'all');
SELECT fetch('old', 0, 1), fetch('old', 0, 1), fetch('old', 0, 1);
SELECT tick(5000);
SELECT produce('old', 0, NULL, 'm2', 'all');
SELECT fetch('old', 0, 1), fetch('old', 0, 1);
.print -- both records are acknowledged; the follower's high watermark is late
SELECT base_offset, status FROM hw_acks WHERE topic = 'old';
SELECT broker, role, leo, hw FROM hw_replicas WHERE topic = 'old';
.print -- broker 1 restarts; its leader dies before it could fetch; broker 1 is elected
SELECT crash(1), restart(1);
SELECT broker, role, leo, hw FROM hw_replicas WHERE topic = 'old' AND broker = 1;
SELECT crash(2), promote('old', 0, 1);
.print -- broker 2 comes back as a follower
SELECT restart(2);
SELECT replicate('old') > 0;
SELECT "offset", value FROM old;

.print === kafka
SELECT configure('protocol', 'kafka');
CREATE VIRTUAL TABLE new USING highwater(replication.factor=2);
SELECT promote('new', 0, 2);
SELECT produce('new', 0, NULL, 'm1', 'all');
SELECT fetch('new', 0, 1), fetch('new', 0, 1), fetch('new', 0, 1);
SELECT tick(5000);
SELECT produce('new', 0, NULL, 'm2', 'all');
SELECT fetch('new', 0, 1), fetch('new', 0, 1);
.print -- both records are acknowledged; the follower's high watermark is late
SELECT base_offset, status FROM hw_acks WHERE topic = 'new';
SELECT broker, role, leo, hw FROM hw_replicas WHERE topic = 'new';
.print -- broker 1 restarts; its leader dies before it could fetch; broker 1 is elected
SELECT crash(1), restart(1);
SELECT broker, role, leo, hw FROM hw_replicas WHERE topic = 'new' AND broker = 1;
SELECT crash(2), promote('new', 0, 1);
.print -- broker 2 comes back as a follower
SELECT restart(2);
SELECT replicate('new') > 0;
SELECT "offset", value FROM new;
