-- SPDX-License-Identifier: MIT
-- Transactions of ours in topic tx: over each other, committed and aborted, each longer than a segment now and then, records of
-- nobody and of an idempotent producer in between; one stays open, and others end behind its beginning.
SELECT configure('replication', 'auto');
CREATE TEMP TABLE who AS
SELECT init_producer('ours a') AS a, init_producer('ours b') AS b, init_producer('ours c') AS c, init_producer() AS d;
CREATE TEMP TABLE turn AS
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40) SELECT i FROM n;
CREATE TEMP VIEW turns AS
SELECT begin_txn(a), produce('tx', 0, 'a' || i, printf('%.*c', i * 9, 'a'), 1, json_object('producer', a)),
       begin_txn(b), produce('tx', 0, 'b' || i, printf('%.*c', i * 7, 'b'), 1, json_object('producer', b)),
       produce('tx', 0, 'd' || i, 'of no transaction', 1, json_object('producer', d)),
       produce('tx', 0, 'n' || i, 'of nobody', 1),
       produce('tx', 0, 'a' || i, 'again', 1, json_object('producer', a)),
       iif(i % 3 = 0, abort_txn(a), commit_txn(a)),
       produce('tx', 0, 'b' || i, 'again', 1, json_object('producer', b)),
       iif(i % 2 = 0, abort_txn(b), commit_txn(b))
  FROM who, turn;
SELECT * FROM turns;
SELECT begin_txn(c), produce('tx', 0, 'c', 'open', 1, json_object('producer', c)) FROM who;
DELETE FROM turn WHERE i > 4;
SELECT * FROM turns;
SELECT configure('replication', 'manual');
