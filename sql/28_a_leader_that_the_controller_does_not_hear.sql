-- SPDX-License-Identifier: MIT
-- What is lost when a leader loses its link to the controller, and nobody else does?
--
-- Its heartbeats stop. At the first check after 9 s it is fenced, and another one leads; the followers are told and follow that one. The old leader
-- is not told: it goes on, takes acks=1 and answers, and acks=all waits until it times out. What it took alone is gone when it hears of it.
-- Semantics: W7.7, F12, F14, F15, R5.4
.load ./highwater
.mode list
.headers off
SELECT open_cluster(':memory:'), configure('replication', 'timed'), configure('controller.auto.elect', 'true');
SELECT create_topic('t', 1, 3, '{"min.insync.replicas":2}') > '';
SELECT link(1, 2, '{"latency_ms":1}') > '', link(1, 3, '{"latency_ms":1}') > '';
SELECT tick(5000), produce('t', 0, NULL, 'before', 'all'), tick(1000), cut(1, 'controller'), tick(10000);
SELECT printf('%.1f s: %s %s', time_ms / 1000.0, event, detail) FROM hw_journal
 WHERE event IN ('broker', 'isr', 'network') OR event = 'election' ORDER BY seq;
SELECT produce('t', 0, NULL, 'to the old one, acks=1', 1, '{"broker":1}'), produce('t', 0, NULL, 'to the old one, acks=all', 'all', '{"broker":1}');
SELECT produce('t', 0, NULL, 'to the new one', 'all'), tick(1000);
SELECT broker, role, leader_epoch, leo, hw FROM hw_replicas;
SELECT tick(31000), heal(), tick(5000);
SELECT a.acks, a.status, a.error, l."offset" AS lost FROM hw_acks a LEFT JOIN hw_lost l ON l."offset" = a.base_offset AND l.leader_epoch = a.leader_epoch AND a.status = 'acknowledged';
SELECT broker, role, leader_epoch, leo, hw FROM hw_replicas;
SELECT "offset", value FROM hw_log('t', 0, 2);
