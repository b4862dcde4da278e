-- Messages that travel: a slow link, requests that wait, a link that is cut for long, a throttled newcomer.
SELECT configure('replication', 'timed'), configure('controller.auto.elect', 'true');
SELECT create_topic('t', 1, 3);
SELECT link(1, 2, '{"latency_ms":5}'), link(1, 3, '{"latency_ms":40,"jitter_ms":5}'), link(2, 3, '{"latency_ms":5}');
SELECT link('controller', b.value, '{"latency_ms":5}') FROM json_each('[1,2,3]') b;
SELECT load('t', '{"records_per_s":0.5,"size":1000,"keys":5}');
SELECT tick(3540000);
SELECT cut(1, 3), tick(46000), heal(), tick(3000), crash(1), tick(11000);
