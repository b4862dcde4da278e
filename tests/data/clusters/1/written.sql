CREATE VIRTUAL TABLE orders USING highwater(partitions=2, replication.factor=2, min.insync.replicas=2);
SELECT configure('replica.lag.time.max.ms', 5000), add_broker(4, 'rack a');
INSERT INTO orders("partition", key, value) VALUES (0, 'k0', 'zero'), (0, 'k1', NULL), (1, NULL, x'00FF');
INSERT INTO orders("partition", "timestamp", key, value, headers) VALUES (1, 1700000000000, 'k2', 'two', '{"trace":"7"}');
SELECT replicate('orders');
SELECT produce('orders', 0, 'k3', 'above the high watermark', 1);
SELECT tick(120), crash(3);
