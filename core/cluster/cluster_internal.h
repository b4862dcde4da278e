/* SPDX-License-Identifier: MIT */
/*
 * What the files of this folder share. Each thing has one owner:
 *
 *     cluster -> brokers (process state, checkpoints)      cluster.c, broker.c
 *             -> topics -> partitions -> replicas          topic_object.c; a replica lives while its
 *                                                          broker runs
 *             -> acks, configuration, controller, links
 */
#ifndef HW_CLUSTER_CLUSTER_INTERNAL_H
#define HW_CLUSTER_CLUSTER_INTERNAL_H

#include "core/base/random.h"
#include "core/cluster/acks.h"
#include "core/cluster/batch_cache.h"
#include "core/cluster/clients.h"
#include "core/cluster/cluster.h"
#include "core/cluster/explorations.h"
#include "core/cluster/held.h"
#include "core/cluster/link_times.h"
#include "core/cluster/load.h"
#include "core/cluster/losses.h"
#include "core/cluster/promises.h"
#include "core/cluster/recoveries.h"
#include "core/cluster/snapshots.h"
#include "core/config/config.h"
#include "core/durable/loss_file.h"
#include "core/durable/shown_file.h"
#include "core/durable/stage_file.h"
#include "core/log/checkpoint_file.h"
#include "core/replication/coordinator.h"
#include "core/replication/exchange.h"
#include "core/timed/timed.h"

/* Nothing may bring the clock past it: in microseconds too it stays in range, with whatever a setting
 * adds. 73,000 years. */
#define HW_CLOCK_MS_MAX (INT64_MAX / 4 / 1000)

static inline hw_time_ms_t hw_earlier(hw_time_ms_t a, hw_time_ms_t b)
{
    return HW_MIN(a, b);
}

struct hw_load;
struct hw_stage;

/* The files of a broker with an offset for each partition: checkpoints.c. */
enum hw_checkpoint {
    HW_CHECKPOINT_HIGH_WATERMARKS,
    HW_CHECKPOINT_RECOVERY_POINTS,
    HW_CHECKPOINT_LOG_STARTS,
    HW_CHECKPOINT_COUNT
};

enum hw_broker_state { HW_BROKER_RUNNING, HW_BROKER_CRASHED, HW_BROKER_SHUTDOWN };

struct hw_broker {
    hw_broker_id_t id;
    char *rack;              /* NULL: none. */
    char *dir;               /* Its log directory, a path of the store. */
    bool is_dir_given;       /* Outside the cluster's directory. */
    bool has_directory;      /* It was made, or found, and has its meta.properties. */
    bool may_take_directory; /* Added or restarted by this process: an empty one will do. */
    enum hw_broker_state state;
    hw_time_ms_t
        down_since_ms;       /* When the controller last heard of it; HW_TIME_NEVER: it answers. */
    hw_time_ms_t contact_ms; /* The same with replication=timed, by its heartbeats. */
    struct hw_metadata metadata;      /* As last told. */
    bool is_unregistered;             /* Restarted while cut off from the controller. */
    bool leaves;                      /* With replication=timed: it asks whether it may stop. */
    int64_t leaves_id;                /* The last message when the controller heard of that. */
    hw_broker_epoch_t previous_epoch; /* Of the process before, if that stopped cleanly; else
                                         HW_BROKER_EPOCH_NONE. */
    struct hw_offset_checkpoint
        synced; /* Of one that has crashed: what was on disk, by partition. */
    uint64_t written[HW_CHECKPOINT_COUNT]; /* Digests of what was last written; 0: not known. */
    struct hw_broker_quotas quotas;
    struct hw_answer_counts answers;
};

/* The stage that holds a partition for the rows of its transaction; a stage begins with this. */
struct hw_writer {
    bool is_prepared; /* COMMIT has begun: the rows are in the leaders' logs. */
};

/* Whether the database has committed the transaction that makes or deletes a topic. cluster.state
 * does not tell the last two apart, since the process that has written it may have ended. */
enum hw_topic_decision {
    HW_TOPIC_DECIDED,
    HW_TOPIC_STAGED,   /* A stage of this process will know. */
    HW_TOPIC_UNDECIDED /* Of a process that has ended: the database's schema tells. */
};

struct hw_topic {
    char name[HW_TOPIC_NAME_MAX + 1];
    struct hw_uuid id;
    int32_t replication_factor;
    int32_t partition_count;
    struct hw_partition *partitions;
    struct hw_seen_log *seen; /* For each partition the log that leads it, as last looked at. */
    struct hw_config_values configs;
    struct hw_settings settings;
    struct hw_log_config log_config;
    int32_t sticky_partition; /* Next for records without a key. */
    bool is_throttled;        /* One of its two lists names a replica. */
    bool is_hidden;           /* Deleted by a stage that has not committed. */
    enum hw_topic_decision decision;
};

/* What is done again and again: clock.c says how often, and when it is left out. */
enum hw_clock_task {
    HW_CLOCK_ISR_CHECK,
    HW_CLOCK_SESSION_CHECK,
    HW_CLOCK_PREFERRED_CHECK,
    HW_CLOCK_UNCLEAN_CHECK,
    HW_CLOCK_CHECKPOINT,
    HW_CLOCK_LOG_START_CHECKPOINT,
    HW_CLOCK_RETENTION,
    HW_CLOCK_TASK_COUNT
};

/* What every step looks at of the cluster's configuration. */
struct hw_cluster_settings {
    int32_t acks; /* What HW_ACKS_DEFAULT stands for. */
    int64_t batch_size;
    int64_t buffer_memory;
    int64_t request_timeout_ms;
    int64_t session_timeout_ms;
    int64_t heartbeat_interval_ms;
    int32_t fetchers_per_leader;
    bool replicates_at_once; /* replication=auto */
    bool is_timed;           /* replication=timed */
    bool is_held;            /* replication=held */
    bool has_wall_clock;     /* clock=wall */
    bool rebalances_leaders; /* auto.leader.rebalance.enable */
    bool checks_invariants;
};

/* The loads that users started (load.h). */
struct hw_loads {
    struct hw_load **loads;
    size_t count;
    size_t capacity;
    int64_t next_id;
    int64_t seen_finished_id; /* Of acks: nobody was answered since. */
};

/* A partition that a stage has written to, by name: it may go at any time. */
struct hw_written {
    char topic[HW_TOPIC_NAME_MAX + 1]; /* Empty: none. */
    int32_t partition;
};

struct hw_cluster {
    const struct hw_allocator *allocator;
    const struct hw_allocator *callers; /* Of what callers own: stages, readers. */
    struct hw_snapshots *snapshots;     /* NULL: it cannot go back. */
    struct hw_store *store;
    char *directory;
    struct hw_file *lock; /* NULL until the cluster is on disk. */
    bool is_on_disk;
    bool is_undecided; /* A transaction of the database may be open that an ended process began. */
    bool is_state_dirty; /* Something of cluster.state has changed since it was written. */
    int64_t database_id; /* What the coordinator's becomes. */
    struct hw_random random;
    struct hw_clock clock; /* The machine's. */
    hw_time_ms_t now_ms;
    hw_time_ms_t next_ms[HW_CLOCK_TASK_COUNT];
    const struct hw_variant *variant;
    struct hw_config_values configs;
    struct hw_cluster_settings settings;
    struct hw_controller controller;
    struct hw_coordinator coordinator;
    struct hw_clients clients;
    struct hw_deliveries deliveries; /* What these still have to deliver. */
    struct hw_links links;
    struct hw_step step;        /* hw_cluster_step() */
    struct hw_broker **brokers; /* In order of id. */
    size_t broker_count;
    size_t broker_capacity;
    struct hw_topic **topics; /* In order of name. */
    size_t topic_count;
    size_t topic_capacity;
    struct hw_acks acks;
    struct hw_losses losses;
    struct hw_loss_file loss_file;
    struct hw_journal journal;
    struct hw_timed timed; /* Messages under way, and the times of links and disks. */
    struct hw_exploration_rows explorations;
    struct hw_recoveries recoveries;
    struct hw_promises promises;   /* What is checked of them, and what was promised so far. */
    struct hw_held held;           /* Messages that wait for deliver(). */
    struct hw_interrupt interrupt; /* is_asked NULL: none. */
    uint32_t interrupt_count;      /* How often it could have been asked. */
    struct hw_loads loads;         /* Producers on the clock. */
    bool is_timed;                 /* Messages travel; set by hw_cluster_resolve_timed(). */
    struct hw_shown_file shown;
    struct hw_stage_file stage_file;
    size_t next_slot;         /* Of the shown file. */
    size_t news_count;        /* Partitions that have news. */
    struct hw_buffer scratch; /* Of one step: a batch being built. */
    struct hw_batch_cache batches;
    struct hw_recent_appends recent; /* Of the leaders' logs. */
    struct hw_written met;           /* What the last call met that returned HW_BUSY for it. */
};

/* Resolve variant and settings of the cluster itself anew, after a configuration change. */
void hw_cluster_resolve(struct hw_cluster *cluster);

/* timed_clock.c: begin or end that messages travel, as the configuration says. */
void hw_cluster_resolve_timed(struct hw_cluster *cluster);

/* network.c: messages travel no more. What was under way between the controller and the brokers
 * that reach it happens now: nobody waits for a heartbeat that no loop sends. */
enum hw_status hw_cluster_reconnect_all(struct hw_cluster *cluster, struct hw_error *error);

/* timed_clock.c: let happen what is due until `until_ms`, the clock going along. A cluster that is
 * not timed has nothing under way. Errors: HW_NO_MEMORY, HW_IO; the clock then stands at the last
 * event. */
enum hw_status hw_cluster_run_messages(struct hw_cluster *cluster, hw_time_ms_t until_ms,
                                       struct hw_error *error);

/* timed_clock.c: followers fetch by themselves, so the verb is refused: HW_MISUSE. */
enum hw_status hw_cluster_refuse_timed(const struct hw_cluster *cluster, const char *verb,
                                       struct hw_error *error);

/* Between two things that a long call does: has the caller asked to stop? Errors: HW_INTERRUPTED. */
enum hw_status hw_cluster_check_interrupt(struct hw_cluster *cluster, struct hw_error *error);

/* The arguments of a step now. Borrowed, and up to date until the clock goes on. */
const struct hw_step *hw_cluster_step(struct hw_cluster *cluster);

/* ------------------------------------------------------------------- load.c: what the clock needs */

void hw_loads_release(struct hw_cluster *cluster);

/* When the next of them does something by itself; INT64_MAX: never. */
int64_t hw_loads_next_us(const struct hw_cluster *cluster);

/* Let that happen, at its time. Errors: HW_NO_MEMORY, HW_IO. */
enum hw_status hw_loads_run_next(struct hw_cluster *cluster, struct hw_error *error);

/* The next record of a load that is under way or waits, by position->topic and partition. */
bool hw_loads_next_request(const struct hw_cluster *cluster, struct hw_position *position,
                           struct hw_request_view *view);

/* Something has happened: producers may have been answered. */
enum hw_status hw_loads_look(struct hw_cluster *cluster, struct hw_error *error);

/* ------------------------------------------------------------------------------- finding things */

/* Hidden topics are not found. */
struct hw_topic *hw_cluster_topic(const struct hw_cluster *cluster, const char *name);

/* Hidden ones too. NULL: there is none. */
struct hw_topic *hw_cluster_topic_by_id(const struct hw_cluster *cluster,
                                        const struct hw_uuid *topic_id);

/* Where the topic of this name stands among topics, hidden ones too; topic_count if nowhere. */
size_t hw_cluster_topic_index(const struct hw_cluster *cluster, const char *name);

/* Errors: HW_REFUSED with UNKNOWN_TOPIC_OR_PARTITION; the message says what there is. */
enum hw_status hw_cluster_find_partition(const struct hw_cluster *cluster, const char *topic,
                                         int64_t partition, struct hw_partition **found,
                                         struct hw_error *error);

/* HW_BUSY: an open transaction writes this partition. hw_stage_wait() tells a caller whether waiting
 * for it helps. */
enum hw_status hw_cluster_refuse_written(struct hw_cluster *cluster,
                                         const struct hw_partition *partition,
                                         struct hw_error *error);

/* The broker of this id, or NULL. */
struct hw_broker *hw_cluster_broker(const struct hw_cluster *cluster, int64_t id);

/* Errors: HW_REFUSED with BROKER_NOT_AVAILABLE; the message says which brokers there are. */
enum hw_status hw_cluster_find_broker(const struct hw_cluster *cluster, int64_t id,
                                      struct hw_broker **broker, struct hw_error *error);

/* Errors: HW_REFUSED with REPLICA_NOT_AVAILABLE if the record gives the broker no replica. */
enum hw_status hw_cluster_check_holder(const struct hw_partition *partition, hw_broker_id_t broker,
                                       struct hw_error *error);

/* The replica on a running broker. Errors: as above; HW_REFUSED with REPLICA_NOT_AVAILABLE if the
 * broker holds none, with BROKER_NOT_AVAILABLE if it does not run (says to restart it). */
enum hw_status hw_cluster_find_replica(const struct hw_cluster *cluster,
                                       const struct hw_partition *partition, int64_t broker,
                                       struct hw_replica **replica, struct hw_error *error);

/*
 * The replica that a client asks, once it has let it pass (R1.2). Errors: as the next two; HW_MISUSE
 * (an epoch that is none); HW_REFUSED with FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH, and
 * NOT_LEADER_OR_FOLLOWER where only the leader may answer.
 */
enum hw_status hw_cluster_find_asked(const struct hw_cluster *cluster,
                                     const struct hw_partition *partition,
                                     const struct hw_client_call *client, bool leader_required,
                                     struct hw_replica **replica, struct hw_error *error);

/* Does the broker stand still? */
bool hw_cluster_is_paused(const struct hw_cluster *cluster, hw_broker_id_t broker);

/*
 * The live leader of a partition. Errors: HW_REFUSED with LEADER_NOT_AVAILABLE: says that the
 * leader is down, or that there is none, and which call helps; or with REQUEST_TIMED_OUT: it stands
 * still, says until when.
 */
enum hw_status hw_cluster_find_leader(const struct hw_cluster *cluster,
                                      const struct hw_partition *partition,
                                      struct hw_replica **leader, struct hw_error *error);

/* Whom a client asks: the broker that it names, or else the leader. Errors: as
 * hw_cluster_find_replica() or hw_cluster_find_leader(). */
enum hw_status hw_cluster_find_named(const struct hw_cluster *cluster,
                                     const struct hw_partition *partition, bool has_broker,
                                     int64_t broker, struct hw_replica **replica,
                                     struct hw_error *error);

/* ---------------------------------------------------------------------------- writing it down */

/*
 * Put the cluster on disk before its first change: directory, lock, shown file. Does nothing the
 * second time. Errors: HW_BUSY, HW_IO, HW_NO_MEMORY.
 */
enum hw_status hw_cluster_make_durable(struct hw_cluster *cluster, struct hw_error *error);

/* adopt.c: fill a new cluster with copies of brokers' directories. Errors: HW_MISUSE (directories of
 * several clusters, or of other brokers; more than bytes_max; a leader that is nowhere); HW_CORRUPT;
 * HW_NOT_FOUND; HW_NO_MEMORY; HW_IO. The cluster is of no use then. */
enum hw_status hw_cluster_adopt(struct hw_cluster *cluster, const struct hw_adoption *adoption,
                                struct hw_error *error);

/* Two of its steps, for a cluster that is on disk already. */
enum hw_status hw_cluster_lock(struct hw_cluster *cluster, struct hw_error *error);
enum hw_status hw_cluster_open_shown(struct hw_cluster *cluster, struct hw_error *error);

/*
 * Write cluster.state if it is dirty, and take a transaction's note back that is done: an earlier
 * step could not. Call it before a leader takes records: else the next opening follows an older leader
 * that is on disk and lacks them, or cuts them off with that transaction. Errors: HW_IO, HW_NO_MEMORY.
 */
enum hw_status hw_cluster_write_state(struct hw_cluster *cluster, struct hw_error *error);

/*
 * step.c: the end of each step, also of one that failed half-way: followers go on if nobody else
 * moves them, and cluster.state is written if it is dirty.
 * `first` is what the step has returned so far; it is returned again if it is an error, else what
 * fails here.
 */
enum hw_status hw_cluster_finish_step(struct hw_cluster *cluster, enum hw_status first,
                                      struct hw_error *error);

/* step.c: the end of one event of a tick: what check.invariants and check.promises name is checked.
 * Errors: as hw_promises_look(). */
enum hw_status hw_cluster_check_event(struct hw_cluster *cluster, struct hw_error *error);

/* A produce is answered: in the row of hw_acks, and where that says too much, in the ledger of
 * losses. False where it is sent again, and nothing is decided. Unknown ids are ignored. */
bool hw_cluster_answer(struct hw_cluster *cluster, const struct hw_partition *partition,
                       int64_t ack_id, enum hw_kafka_error answer);

/* Acks of one partition whose waiting produces were resolved. Returns whether a producer was told
 * that its records are committed. */
bool hw_cluster_collect_acks(struct hw_cluster *cluster, struct hw_partition *partition);

/*
 * step_partition.c: after anything was done, or half done, to a partition: collect its acks, note
 * whether its record has to be written, open and close replicas as the record says, and take back in
 * the shown file what a truncation took. `first` as above. hw_cluster_finish() does both.
 */
enum hw_status hw_cluster_finish_partition(struct hw_cluster *cluster,
                                           struct hw_partition *partition, enum hw_status first,
                                           struct hw_error *error);
enum hw_status hw_cluster_finish(struct hw_cluster *cluster, struct hw_partition *partition,
                                 enum hw_status first, struct hw_error *error);

/* follow.c: the partitions of a selection, side by side: a request is about all of them. */
struct hw_gathered {
    const struct hw_allocator *allocator;
    struct hw_partition **partitions;
    size_t count;
    size_t capacity;
};

/* Those of the topic (NULL: all) and partition (-1: all), those that are prepared too or without
 * them. Errors: as hw_cluster_select(), HW_NO_MEMORY; nothing to release then. */
enum hw_status hw_gathered_select(struct hw_cluster *cluster, const char *topic, int64_t partition,
                                  bool with_prepared, struct hw_gathered *gathered,
                                  struct hw_error *error);
void hw_gathered_release(struct hw_gathered *gathered);

/* Rounds until nothing moves; the last, idle one is not counted. Errors: those of a round;
 * HW_INTERRUPTED; HW_REFUSED with UNKNOWN_SERVER_ERROR where it does not come to rest. */
enum hw_status hw_gathered_run(struct hw_cluster *cluster, const struct hw_gathered *gathered,
                               int64_t *rounds, struct hw_error *error);

/* Between the preparation of a stage and its commit the leader's log has rows that may still be
 * taken back: nobody may copy or count them. */
bool hw_cluster_is_prepared(const struct hw_partition *partition);

/* follow.c: with replication=auto, rounds of all partitions that have news, until nothing moves any
 * more. A follower that cannot go on has failed; that is no failure of the step. */
void hw_cluster_follow(struct hw_cluster *cluster);

/* The followers of the partition, or of all, may have something to do now. */
void hw_cluster_has_news(struct hw_cluster *cluster, struct hw_partition *partition);
void hw_cluster_had_news(struct hw_cluster *cluster, struct hw_partition *partition);
void hw_cluster_all_have_news(struct hw_cluster *cluster);

/* What a call on "all topics", "all partitions of a topic" or one partition walks over. */
struct hw_selection {
    const struct hw_cluster *cluster;
    struct hw_topic *topic; /* NULL: all. */
    int32_t partition;      /* -1: all. */
    size_t next_topic;
    int32_t next_partition;
};
struct hw_selection hw_cluster_all(const struct hw_cluster *cluster);
enum hw_status hw_cluster_select(const struct hw_cluster *cluster, const char *topic,
                                 int64_t partition, struct hw_selection *selection,
                                 struct hw_error *error);
/* NULL at the end. */
struct hw_partition *hw_selection_next(struct hw_selection *selection);
/* The same over those that have a replica running on this broker: NULL at the end. */
struct hw_replica *hw_selection_next_on(struct hw_selection *selection, hw_broker_id_t broker,
                                        struct hw_partition **partition);

/* resume.c: go on with a cluster whose cluster.state has been read, or written: its other files are
 * read, the brokers that ran start, and replicas take the roles that the records name. */
enum hw_status hw_cluster_resume(struct hw_cluster *cluster, struct hw_error *error);

/* clock.c: set when periodic work is next due, from now on. */
void hw_cluster_schedule(struct hw_cluster *cluster);

/* clock.c: when a member of the ISR leaves it by itself if it does not fetch, in a variant that has
 * a controller. */
hw_time_ms_t hw_cluster_leaves_isr_ms(const struct hw_cluster *cluster,
                                      const struct hw_partition *partition,
                                      const struct hw_remote_replica *remote);

/* clock.c: with clock=wall the clock begins to be the machine's. To sessions, lags and waits that
 * is no time. */
void hw_cluster_begin_wall_clock(struct hw_cluster *cluster);

/* faults.c: a broker that was started registers anew, and takes the roles that the records name. It
 * keeps its places in ISR and ELR where the process before stopped cleanly: the epoch that this
 * one had is the one that the controller knows (R6.12 as of 4.0). */
enum hw_status hw_cluster_register(struct hw_cluster *cluster, struct hw_broker *broker,
                                   struct hw_error *error);

/* elections.c: the controller learns that this broker has stopped answering. */
enum hw_status hw_cluster_fence(struct hw_cluster *cluster, struct hw_broker *broker,
                                struct hw_error *error);

/* elections.c: a heartbeat says that its broker wants to stop. It may once it leads nothing and all
 * others that are active know; *is_written: the record has changed. Source: R6.16. */
enum hw_status hw_cluster_hear_shutdown(struct hw_cluster *cluster, struct hw_broker *broker,
                                        bool *is_granted, bool *is_written, struct hw_error *error);

/*
 * elections.c: what the controller does at its checks with controller.auto.elect: it elects preferred
 * leaders (HW_ELECTION_PREFERRED), or whoever is there where nobody leads and the topic allows it
 * (HW_ELECTION_UNCLEAN). Would it find something to do? *has_more: it has done as much as it may at
 * once. Errors: as hw_exchange_tell_all(). Source: R6.21, kafka-time W1.22, W1.23.
 */
bool hw_cluster_has_election(struct hw_cluster *cluster, enum hw_election election);
enum hw_status hw_cluster_run_elections(struct hw_cluster *cluster, enum hw_election election,
                                        bool *has_more, struct hw_error *error);

/* faults.c: a broker that runs stops cleanly now, whatever the controller knows of it. Errors:
 * HW_BUSY, where a transaction has written to what it holds; HW_IO, HW_NO_MEMORY: it runs on. */
enum hw_status hw_cluster_stop_broker(struct hw_cluster *cluster, struct hw_broker *broker,
                                      struct hw_error *error);

/* elections.c: a controlled shutdown begins, and what the broker leads goes to others. */
enum hw_status hw_cluster_hand_over(struct hw_cluster *cluster, const struct hw_broker *broker,
                                    struct hw_error *error);

/* HW_MISUSE in a variant that has no elections. */
enum hw_status hw_cluster_require_controller(const struct hw_cluster *cluster,
                                             struct hw_error *error);

/* elections.c: a new incarnation of a broker may have lost what it had: with the ELR it leaves ISRs
 * and ELRs before it is answered (R6.12). */
enum hw_status hw_cluster_restarted_uncleanly(struct hw_cluster *cluster, struct hw_broker *broker,
                                              struct hw_error *error);

/* elections.c: a broker that was fenced, or is new, answers the controller again (R6.15). */
enum hw_status hw_cluster_unfence(struct hw_cluster *cluster, struct hw_broker *broker,
                                  struct hw_error *error);

/*
 * placement.c: after the record's replica list changed, open replicas on brokers that were added;
 * close and delete those that were removed, once their brokers have heard of it (R7.8). Errors:
 * HW_IO, HW_NO_MEMORY; what could not be opened is tried again at the next change.
 */
enum hw_status hw_cluster_place_replicas(struct hw_cluster *cluster, struct hw_partition *partition,
                                         struct hw_error *error);

/* ------------------------------------------------------------------------------- checkpoints.c */

/* What a broker reads from its directory before it opens its logs. */
struct hw_broker_checkpoints {
    struct hw_offset_checkpoint offsets[HW_CHECKPOINT_COUNT];
    bool was_clean;
    hw_broker_epoch_t previous_epoch; /* As the marker says; HW_BROKER_EPOCH_NONE: it does not. */
};

/* Write the marker of a clean stop. Source: CleanShutdownFileHandler. Errors: HW_IO, HW_NO_MEMORY.
 */
enum hw_status hw_broker_write_clean_marker(struct hw_cluster *cluster,
                                            const struct hw_broker *broker, struct hw_error *error);

/* Read them, and remove the marker. One that is missing or damaged counts as empty, as Kafka has
 * it: the logs themselves tell the rest. Errors: HW_IO, HW_NO_MEMORY; nothing to release then. */
enum hw_status hw_broker_checkpoints_load(struct hw_cluster *cluster,
                                          const struct hw_broker *broker,
                                          struct hw_broker_checkpoints *checkpoints,
                                          struct hw_error *error);
void hw_broker_checkpoints_release(struct hw_broker_checkpoints *checkpoints);

/* Write one of them; or only if what stands in it has changed since it was written (R3.2, R7.17).
 * Errors: HW_IO, HW_NO_MEMORY. */
enum hw_status hw_broker_write_checkpoint(struct hw_cluster *cluster, struct hw_broker *broker,
                                          enum hw_checkpoint which, struct hw_error *error);
enum hw_status hw_broker_write_changes(struct hw_cluster *cluster, struct hw_broker *broker,
                                       enum hw_checkpoint which, struct hw_error *error);

/* Remember what is synced of each log, for a broker that crashes: its next process finds it in the
 * files, whatever its checkpoint says. Where there is no memory it counts as not synced. */
void hw_broker_remember_synced(struct hw_cluster *cluster, struct hw_broker *broker);

/* Take one partition, or with -1 all of `topic`, out of all three. The broker need not run. Writes
 * those only in which it stands. */
enum hw_status hw_broker_forget_partition(struct hw_cluster *cluster, struct hw_broker *broker,
                                          const char *topic, int32_t partition,
                                          struct hw_error *error);

/* ------------------------------------------------------------------------------------ broker.c */

/* The log forgets producers that have not written for longer than producer.id.expiration.ms. */
void hw_cluster_expire_producers(const struct hw_cluster *cluster, struct hw_log *log);

/* Have the broker's directory with its meta.properties, which is written once and never changed
 * (broker_directory.c). Errors: HW_IO, HW_NO_MEMORY; of a directory elsewhere HW_NOT_FOUND where
 * nothing says whose it is and it may not be taken, HW_CORRUPT where it is not the broker's. */
enum hw_status hw_broker_make_directory(struct hw_cluster *cluster, struct hw_broker *broker,
                                        struct hw_error *error);

/* Open the logs of all replicas that the records give this broker, and attach them, without a role
 * yet. Errors: HW_IO, HW_NO_MEMORY, those of its directory; no replica is attached then. */
enum hw_status hw_broker_start(struct hw_cluster *cluster, struct hw_broker *broker,
                               struct hw_error *error);

/* Open one replica of a new or existing partition and attach it. `checkpoints` may be NULL. */
enum hw_status hw_broker_open_replica(struct hw_cluster *cluster, struct hw_broker *broker,
                                      struct hw_partition *partition,
                                      struct hw_broker_checkpoints *checkpoints,
                                      struct hw_error *error);

/* Whether the records give this broker a replica of the partition that it does not have open. */
bool hw_broker_lacks_replica(const struct hw_broker *broker, const struct hw_partition *partition);

/* Try these once more, while the broker runs. Errors: HW_REFUSED with KAFKA_STORAGE_ERROR if one of
 * them cannot be opened, with the others attached; HW_IO, HW_NO_MEMORY. */
enum hw_status hw_broker_open_missing(struct hw_cluster *cluster, struct hw_broker *broker,
                                      struct hw_error *error);

/* Whether what the controller says reaches it at once: it runs and is not cut off. */
bool hw_broker_hears(const struct hw_cluster *cluster, const struct hw_broker *broker);

/* strays.c: the broker has come back, or hears of the controller again. Directories of partitions
 * that the records do not give it are renamed to "-stray" and stay; of a broker that is cut off
 * those only in whose place it would open another topic's. Errors: HW_IO, HW_NO_MEMORY. */
enum hw_status hw_broker_put_strays_aside(struct hw_cluster *cluster, struct hw_broker *broker,
                                          struct hw_error *error);

/* Close and detach all its replicas, writing nothing. */
void hw_broker_drop_replicas(struct hw_cluster *cluster, struct hw_broker *broker);

/* What a clean stop notes as the epoch of this process: one that has not registered passes on what
 * it found. */
hw_broker_epoch_t hw_broker_epoch_at_stop(const struct hw_cluster *cluster,
                                          const struct hw_broker *broker);

/* Sync, write all checkpoints and the clean-shutdown marker. The replicas stay attached. */
enum hw_status hw_broker_clean_stop(struct hw_cluster *cluster, struct hw_broker *broker,
                                    struct hw_error *error);

/* Copy the controller's registrations to all running brokers that it reaches. */
void hw_cluster_publish_metadata(struct hw_cluster *cluster);

/* Note in the journal what became of the broker. */
void hw_broker_note(struct hw_cluster *cluster, const struct hw_broker *broker, const char *what);

void hw_broker_destroy(struct hw_cluster *cluster, struct hw_broker *broker);

/* Hand the throttling settings to a broker; a process that begins has counted nothing yet. */
void hw_broker_configure_quotas(const struct hw_cluster *cluster, struct hw_broker *broker);
void hw_broker_reset_quotas(const struct hw_cluster *cluster, struct hw_broker *broker);

/* Tell a replica whether its topic's lists of throttled replicas name it. */
void hw_cluster_mark_throttled(const struct hw_cluster *cluster,
                               const struct hw_partition *partition, struct hw_replica *replica);

/*
 * The high watermark by which `replica` shows its records now, noted in the shown file first.
 * Errors: HW_IO, HW_NO_MEMORY.
 */
enum hw_status hw_cluster_show(struct hw_cluster *cluster, struct hw_partition *partition,
                               const struct hw_replica *replica, hw_offset_t *high_watermark,
                               struct hw_error *error);

/* state_file.c: cluster.state, written atomically and synced; read into an empty cluster: brokers
 * (with state and broker epoch), configuration, topics with records, clock, random state. Errors:
 * HW_IO, HW_NO_MEMORY; HW_CORRUPT with line and reason. */
enum hw_status hw_state_file_write(struct hw_cluster *cluster, struct hw_error *error);
enum hw_status hw_state_file_read(struct hw_cluster *cluster, struct hw_error *error);

/* ------------------------------------------------------------------------------ brokers, topics */

/* Add a broker object, not yet registered, keeping the order. Errors: HW_NO_MEMORY. */
enum hw_status hw_cluster_insert_broker(struct hw_cluster *cluster, hw_broker_id_t id,
                                        const char *rack, const char *dir,
                                        struct hw_broker **broker, struct hw_error *error);

/* Take a broker out that holds no replica, and release it. */
void hw_cluster_remove_broker(struct hw_cluster *cluster, struct hw_broker *broker);

/*
 * Add a topic object with `partition_count` zeroed partitions (name and settings filled in),
 * keeping the order by name. `configs` is taken over on success. Errors: HW_NO_MEMORY.
 */
enum hw_status hw_cluster_insert_topic(struct hw_cluster *cluster, const char *name,
                                       const struct hw_uuid *id, int32_t partition_count,
                                       int32_t replication_factor, struct hw_config_values *configs,
                                       struct hw_topic **topic, struct hw_error *error);

/* Take a topic out and release it, with its replicas; the files stay. */
void hw_cluster_remove_topic(struct hw_cluster *cluster, struct hw_topic *topic);

/* The same in two; one that was taken out can be put back, there is room. */
void hw_topic_unlink(struct hw_cluster *cluster, const struct hw_topic *topic);
void hw_topic_link(struct hw_cluster *cluster, struct hw_topic *topic);
void hw_topic_destroy(struct hw_cluster *cluster, struct hw_topic *topic);

/* Resolve settings and log config anew, after a configuration change, and hand them to the logs. */
void hw_cluster_resolve_settings(struct hw_cluster *cluster, struct hw_topic *topic);

/* Validate a spec and create the topic on disk and in memory; used by the stage too. */
enum hw_status hw_cluster_do_create_topic(struct hw_cluster *cluster,
                                          const struct hw_topic_spec *spec, struct hw_topic **topic,
                                          struct hw_error *error);

/* Delete a topic for good: record, replicas, files. It may be hidden. Damaged or missing files are
 * no reason to fail. Errors: HW_IO, HW_NO_MEMORY; HW_INTERRUPTED, once it is deleted and some of its
 * files are left. */
enum hw_status hw_cluster_do_delete_topic(struct hw_cluster *cluster, struct hw_topic *topic,
                                          struct hw_error *error);

/*
 * All that hw_cluster_produce() and a stage check before an append: resolves partition (-1: the
 * partitioner) and acks (default), finds the live leader, asks the variant.
 */
struct hw_produce_target {
    struct hw_topic *topic;
    struct hw_partition *partition;
    struct hw_replica *leader;
    int32_t acks;
};
enum hw_status hw_cluster_resolve_produce(struct hw_cluster *cluster,
                                          const struct hw_produce *produce,
                                          struct hw_produce_target *target, struct hw_error *error);

/* Part of an error about a broker that runs but could not open a replica. `of` says of what; the
 * format takes the broker's id behind that. */
#define HW_COULD_NOT_OPEN(of)                                                                      \
    "could not open its log" of ", hw_journal says why: put that right, then restart(%" PRId32 ")"

/* produce.c: the next record without a key goes to another partition. */
void hw_topic_next_sticky(struct hw_topic *topic);

/* A produce to the target, as far as it was found, was refused: a row of hw_acks and an event.
 * *ack_id: the row; 0: none, as where the arguments were wrong, or for want of memory. */
void hw_cluster_note_refused(struct hw_cluster *cluster, const struct hw_produce_target *target,
                             const struct hw_error *error, int64_t *ack_id);

/* transactions.c: the version that is given, or the cluster's where that is -1. */
int hw_cluster_transaction_version(const struct hw_cluster *cluster, int64_t given);

/* Whether the protocol has transactions, and there are such a version and epoch; -1: not given. */
enum hw_status hw_cluster_check_transactions(const struct hw_cluster *cluster, int64_t version,
                                             int64_t epoch, struct hw_error *error);

/*
 * identity.c: who a batch is from.
 *
 *     _identify()       put id, epoch and sequence into *options; `admits`: have the coordinator's
 *                       consent to a transactional one
 *     _admit_own()      have that later, once there is a leader
 *     _admit_batch()    the same for a batch that was built elsewhere
 *     _note_sent()      it was sent: the client goes on behind this sequence
 */
enum hw_status hw_cluster_identify(struct hw_cluster *cluster,
                                   const struct hw_produce_target *target,
                                   const struct hw_produce_producer *producer, bool admits,
                                   struct hw_batch_options *options, struct hw_error *error);
enum hw_status hw_cluster_admit_own(struct hw_cluster *cluster,
                                    const struct hw_produce_target *target, const uint8_t *bytes,
                                    size_t size_bytes, struct hw_error *error);
enum hw_status hw_cluster_admit_batch(struct hw_cluster *cluster,
                                      const struct hw_produce_target *target, const uint8_t *bytes,
                                      size_t size_bytes, struct hw_error *error);
void hw_cluster_note_sent(const struct hw_cluster *cluster, const struct hw_produce_target *target,
                          const struct hw_produce_producer *producer, int32_t sequence);

/* transactions.c: when the clock is to look at transactions and producers next; what it does then. */
hw_time_ms_t hw_cluster_next_transaction_event(const struct hw_cluster *cluster);
enum hw_status hw_cluster_run_transaction_clock(struct hw_cluster *cluster, struct hw_error *error);

/*
 * database_producers.c: a producer of the database's that may begin a transaction; a new one if none
 * can, which is durable once hw_cluster_write_state() was called. Errors: HW_NO_MEMORY.
 */
enum hw_status hw_cluster_take_database_producer(struct hw_cluster *cluster,
                                                 struct hw_transaction_entry **entry,
                                                 struct hw_error *error);

/* Nobody but the database uses its producers. NULL is nobody's. Errors: HW_REFUSED with
 * INVALID_REQUEST. */
enum hw_status hw_cluster_refuse_database_producer(const struct hw_transaction_entry *entry,
                                                   struct hw_error *error);

/* markers.c: bring the transactions that are being ended as far as they get. */
enum hw_status hw_cluster_send_markers(struct hw_cluster *cluster, struct hw_error *error);

/* When a produce that begins now has waited long enough for acks=all. Saturates: a time-out past
 * the end of time is none. */
hw_time_ms_t hw_cluster_answer_deadline(const struct hw_cluster *cluster);

/* The record's timestamp, or the clock for HW_TIMESTAMP_CLOCK. */
static inline hw_time_ms_t hw_cluster_timestamp(const struct hw_cluster *cluster,
                                                const struct hw_record *record)
{
    return record->timestamp == HW_TIMESTAMP_CLOCK ? cluster->now_ms : record->timestamp;
}

#endif /* HW_CLUSTER_CLUSTER_INTERNAL_H */
