-- One high watermark for the whole partition.
SELECT configure('protocol', 'minikafka');
SELECT create_topic('t', 1, 2);
SELECT produce('t', 0, NULL, 'safe', 'all'), fetch_round('t'), produce('t', 0, NULL, 'at-risk', 1), promote('t', 0, 2), fetch_round('t');
