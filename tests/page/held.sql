-- Message by message: a follower asks, its answer is lost; a proposal that comes late; a notice that a broker has not heard.
SELECT create_topic('t', 1, 3), configure('replication', 'held');
SELECT produce('t', 0, NULL, 'a', 'all'), fetch('t', 0, 2), fetch('t', 0, 2);
SELECT ask('t', 0, 3), "drop"('fetch', 1, 3, 't', 0);
SELECT ask('t', 0, 3), deliver('fetch', 1, 3, 't', 0);
SELECT produce('t', 0, NULL, 'b', 'all'), fetch('t', 0, 2), fetch('t', 0, 2), propose_isr('t', 0, '[1,2]');
SELECT deliver('alter_partition', 1, 'controller', 't', 0);
SELECT deliver('alter_partition', 'controller', 1, 't', 0), deliver('notice', 'controller', 2, 't', 0);
SELECT fence(1, 2);
SELECT produce('t', 0, NULL, 'to who led', 1);
SELECT deliver('notice', 'controller', 2, 't', 0);
SELECT produce('t', 0, NULL, 'to who leads', 1);
SELECT deliver('notice', 'controller', 3, 't', 0), fetch('t', 0, 3), fetch('t', 0, 3);
