-- SPDX-License-Identifier: MIT
-- The same script is played on a model and on a real cluster, and both lose their leader: do they agree?
--
-- It wants three brokers, one of which it kills, and which nobody needs. `make live` plays it on Kafka itself.
-- On a cluster of your own, %d stands for the broker's id:
--
--   $ sqlite3
--   .param set :servers "'localhost:9092'"
--   .param set :kill "'docker kill broker-%d'"
--   .param set :logs "'/data/broker-%d'"
--   .read sql/live/side_by_side.sql
.load ./highwater
.load ./highwater_live
.mode list
.headers off

SELECT live_connect('real', json_object('bootstrap.servers', :servers, 'live.timeout.ms', 60000));
SELECT live_create_topic('real', 'twin', 1, 3, '{"min.insync.replicas":2}');
CREATE VIRTUAL TABLE temp.twin USING highwater_live(topic=twin, connection=real);
CREATE VIRTUAL TABLE temp.model USING highwater(replication.factor=3, min.insync.replicas=2);
SELECT configure('replication', 'auto'), configure('controller.auto.elect', 'true');

-- What both say of their partition. A line for each thing in which they could differ.
CREATE TEMP VIEW compared AS
SELECT 'high watermark' AS what, m.hw AS model, r.high AS real FROM hw_partitions m, live_partitions('real') r
 WHERE m.topic = 'model' AND r.topic = 'twin'
UNION ALL
SELECT 'log start', m.log_start, r.low FROM hw_partitions m, live_partitions('real') r
 WHERE m.topic = 'model' AND r.topic = 'twin'
UNION ALL
SELECT 'in sync', json_array_length(m.isr), json_array_length(r.isr) FROM hw_partitions m, live_partitions('real') r
 WHERE m.topic = 'model' AND r.topic = 'twin'
UNION ALL
SELECT 'records', (SELECT count(*) FROM model), (SELECT count(*) FROM twin)
UNION ALL
SELECT 'the same at an offset', (SELECT count(*) FROM model),
       (SELECT count(*) FROM model m JOIN twin r USING ("offset") WHERE r.key = m.key AND r.value = m.value);

.print -- 1. A hundred records with acks=all.
WITH RECURSIVE n(i) AS (VALUES(0) UNION ALL SELECT i + 1 FROM n WHERE i < 99)
INSERT INTO model(key, value) SELECT 'k' || i, 'v' || i FROM n;
INSERT INTO twin(key, value) SELECT key, value FROM model ORDER BY "offset";
SELECT what, model, real FROM compared;

.print -- 2. Both leaders die. What comes now waits for the next one, in both.
SELECT crash(leader) FROM hw_partitions WHERE topic = 'model';
SELECT tick(12000) > 0;
.once |sh
SELECT printf(:kill, leader) FROM live_partitions('real') WHERE topic = 'twin';
WITH RECURSIVE n(i) AS (VALUES(100) UNION ALL SELECT i + 1 FROM n WHERE i < 149)
INSERT INTO model(key, value) SELECT 'k' || i, 'v' || i FROM n;
INSERT INTO twin(key, value) SELECT key, value FROM model WHERE "offset" >= 100 ORDER BY "offset";
SELECT what, model, real FROM compared;

.print -- 3. Where did the epochs begin? The model's leader, and the real one's directory.
SELECT e.epoch, e.start_offset FROM hw_epochs e JOIN hw_partitions p USING (topic, "partition")
 WHERE e.topic = 'model' AND e.broker = p.leader;
SELECT e.epoch, e.start_offset FROM live_partitions('real') r, kafka_epochs(printf(:logs, r.leader) || '/twin-0') e
 WHERE r.topic = 'twin';

.print -- 4. The bytes on the real leader's disk against what its clients see, and what the model has.
SELECT count(*), sum(f.value = c.value AND f.value = m.value)
  FROM live_partitions('real') r, kafka_log(printf(:logs, r.leader) || '/twin-0') f
  JOIN twin c USING ("offset") JOIN model m USING ("offset")
 WHERE r.topic = 'twin';
