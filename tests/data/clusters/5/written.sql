CREATE TABLE account(id INTEGER PRIMARY KEY, cents);
INSERT INTO account VALUES (1, 500);
CREATE VIRTUAL TABLE events USING highwater(transactional=1, replication.factor=2);
CREATE VIRTUAL TABLE orders USING highwater(replication.factor=2);
INSERT INTO orders(key, value) VALUES ('k0', 'zero');
SELECT replicate('orders'), produce('orders', 0, 'k1', 'lost and back', 1);
SELECT crash(1), promote('orders', 0, 2), crash(2), tick(7);
SELECT restart(1), promote('orders', 0, 1, 'unclean'), tick(7), restart(2), replicate('orders');
BEGIN;
UPDATE account SET cents = cents - 100 WHERE id = 1;
INSERT INTO events(key, value) VALUES ('1', 'paid 100');
INSERT INTO orders(key, value) VALUES ('k2', 'two');
COMMIT;
SELECT replicate('orders'), replicate('events');
.open exp.db
.load ./highwater
BEGIN;
UPDATE account SET cents = cents - 200 WHERE id = 1;
INSERT INTO events(key, value) VALUES ('1', 'paid 200');
INSERT INTO orders(key, value) VALUES ('k3', 'three');
COMMIT;
.shell kill -9 $PPID
