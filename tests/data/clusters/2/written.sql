CREATE VIRTUAL TABLE orders USING highwater(replication.factor=3, min.insync.replicas=2, compression.type=lz4);
INSERT INTO orders(key, value) VALUES ('k0', 'zero'), ('k1', 'one');
SELECT replicate('orders');
SELECT cut(2, 'controller'), cut(1, 3), crash(2), restart(2), tick(100);
SELECT produce('orders', 0, 'k2', 'two', 1);
