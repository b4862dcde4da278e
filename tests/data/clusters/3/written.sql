CREATE VIRTUAL TABLE orders USING highwater(replication.factor=3, min.insync.replicas=2);
INSERT INTO orders(key, value) VALUES ('k0', 'zero');
SELECT replicate('orders'), produce('orders', 0, 'k1', 'lost', 1);
SELECT crash(1), promote('orders', 0, 2), fetch_round('orders');
SELECT restart(1), replicate('orders'), fetch_round('orders');
BEGIN;
INSERT INTO orders(key, value) VALUES ('k2', 'two');
INSERT INTO orders(key, value) VALUES ('k3', 'three');
COMMIT;
SELECT replicate('orders');
BEGIN;
CREATE VIRTUAL TABLE undone USING highwater(replication.factor=1);
.shell kill -9 $PPID
