-- SPDX-License-Identifier: MIT
-- A change and the event that tells of it, in one transaction, and the process is killed inside COMMIT. Are both there?
--
-- With transactional=1 both or neither, at each of the two moments between which there is no other: the records are in
-- the log and the database has not committed; it has, and no marker is written yet. The token in the database's file tells
-- whoever opens it. An ordinary topic keeps the event of the first of them, for ever without its change.
.mode list
.open outbox.db
.load ./highwater
CREATE TABLE account(id INTEGER PRIMARY KEY, cents);
INSERT INTO account VALUES (1, 1000);
CREATE VIRTUAL TABLE events USING highwater(transactional=1, replication.factor=1);
CREATE VIRTUAL TABLE ordinary USING highwater(replication.factor=1);
CREATE TRIGGER outbox AFTER UPDATE ON account BEGIN
  INSERT INTO events(key, value) VALUES (new.id, printf('%d cents', new.cents));
  INSERT INTO ordinary(key, value) VALUES (new.id, printf('%d cents', new.cents));
END;
UPDATE account SET cents = 900;
.open :memory:

.print -- a process whose COMMIT waits for a reader has the records in the log; it is killed there
.output killed.sql
.print .connection 1
.print .open outbox.db
.print "BEGIN; SELECT count(*) FROM account;"
.print .connection 0
.print .load ./highwater
.print "BEGIN; UPDATE account SET cents = 800; COMMIT;"
.print "SELECT 'in the log:', leo FROM hw_partitions WHERE topic = 'events';"
.print .shell kill -9 $PPID
.output
.shell ( ${SQLITE3:-sqlite3} -batch -init /dev/null outbox.db <killed.sql ; true ) 2>/dev/null

.print -- opened again: the change is not there, its event is aborted, the ordinary topic has it
.open outbox.db
.load ./highwater
SELECT cents FROM account;
SELECT value FROM events;
SELECT value FROM ordinary;
SELECT "offset", value, visibility, control FROM hw_log('events', 0, 1);
SELECT event, topic, "offset", detail FROM hw_journal WHERE event = 'recovery';
.open :memory:

.print -- another one commits while the controller cannot be reached, so no marker is written; it is killed there
.output killed.sql
.print .load ./highwater
.print "SELECT cut('controller', 1), cut('controller', 2), cut('controller', 3);"
.print "UPDATE account SET cents = 700;"
.print "SELECT state, pending_markers FROM hw_transactions WHERE pending_markers > 0;"
.print "SELECT 'seen before the marker: ' || group_concat(value) FROM events;"
.print .shell kill -9 $PPID
.output
.shell ( ${SQLITE3:-sqlite3} -batch -init /dev/null outbox.db <killed.sql ; true ) 2>/dev/null

.print -- opened again: the change is there, and so is its event, once the controller can be reached
.open outbox.db
.load ./highwater
SELECT cents FROM account;
SELECT event, topic, "offset", detail FROM hw_journal WHERE event = 'recovery';
SELECT heal();
SELECT value FROM events;
SELECT transactional_id, state FROM hw_transactions;
UPDATE account SET cents = 600;
SELECT value FROM events;
