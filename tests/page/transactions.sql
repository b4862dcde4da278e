-- One transaction that is committed, one that is aborted, one that stays open.
SELECT create_topic('t', 1, 3);
SELECT init_producer('a'), init_producer('b');
SELECT begin_txn(0), begin_txn(1);
SELECT produce('t', 0, 'k', 'of a', 'all', '{"producer":0}'), produce('t', 0, 'k', 'of b', 'all', '{"producer":1}'), fetch_round('t'), fetch_round('t');
SELECT produce('t', 0, 'k', 'of nobody', 'all');
SELECT commit_txn(0), replicate('t'), abort_txn(1), replicate('t');
SELECT begin_txn(0), produce('t', 0, 'k', 'of a again', 'all', '{"producer":0}'), fetch_round('t');
SELECT delete_records('t', 0, 1), fetch_round('t'), promote('t', 0, 2), fetch_round('t'), fetch_round('t');
