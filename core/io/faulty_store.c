/* SPDX-License-Identifier: MIT */
/*
 * Each path has a record of what was changed in the file since it was last synced, with what was
 * there before: enough to go back, and to let some of the changes survive. A record lives while the
 * file is open or has such changes.
 */
#include "core/io/faulty_store.h"

#include "core/base/assert.h"
#include "core/base/random.h"

#include <inttypes.h>
#include <string.h>

/* One write or truncate. */
struct faulty_change {
    bool is_truncate;
    int64_t position; /* Of the write; the new size for a truncate. */
    int64_t size_old; /* The file's size before. */
    uint8_t *bytes;   /* First those written, then those at `position` before. May be NULL. */
    size_t bytes_new; /* How many of each. */
    size_t bytes_old;
};

struct faulty_record {
    char *path;
    char *path_next; /* During a rename: the path if it succeeds. */
    struct faulty_change *changes;
    size_t change_count;
    size_t change_capacity;
    size_t handles;
    bool is_nameless; /* Removed or replaced: nothing of it is left after a power loss. */
    struct faulty_record *next;
};

struct faulty_store {
    struct hw_store base;
    const struct hw_allocator *allocator;
    struct hw_store *inner;
    struct hw_faults *faults;
    struct faulty_record *records;
};

struct faulty_file {
    struct hw_file base;
    struct faulty_store *store;
    struct faulty_record *record;
    struct hw_file *inner;
    bool is_writable;
};

enum call_kind { CALL_READS, CALL_CHANGES };

/* Count one call. Returns an error if it is to fail. */
static enum hw_status fault_check(struct faulty_store *store, enum call_kind kind, const char *verb,
                                  const char *path, struct hw_error *error)
{
    struct hw_faults *faults = store->faults;
    int64_t number;

    if (faults->only_changes && kind != CALL_CHANGES) {
        return HW_OK;
    }
    number = faults->calls++;
    if (faults->fail_at < 0 || number < faults->fail_at ||
        (number > faults->fail_at && !faults->fail_on)) {
        return HW_OK;
    }
    return hw_error_set(error, HW_IO, "cannot %s '%.300s': call %" PRId64 " was made to fail", verb,
                        path, number);
}

/* Records */

static struct faulty_record *record_find(const struct faulty_store *store, const char *path)
{
    struct faulty_record *record = store->records;

    while (record != NULL && (record->is_nameless || strcmp(record->path, path) != 0)) {
        record = record->next;
    }
    return record;
}

static void record_forget_changes(struct faulty_store *store, struct faulty_record *record)
{
    for (size_t i = 0; i < record->change_count; i++) {
        struct faulty_change *change = &record->changes[i];

        hw_free(store->allocator, change->bytes, change->bytes_new + change->bytes_old);
    }
    hw_free(store->allocator, record->changes, record->change_capacity * sizeof *record->changes);
    record->changes = NULL;
    record->change_count = 0;
    record->change_capacity = 0;
}

/* Destroy the record unless somebody needs it still. */
static void record_settle(struct faulty_store *store, struct faulty_record *record)
{
    struct faulty_record **link = &store->records;

    if (record->handles > 0 || (record->change_count > 0 && !record->is_nameless)) {
        return;
    }
    while (*link != record) {
        link = &(*link)->next;
    }
    *link = record->next;
    record_forget_changes(store, record);
    hw_text_free(store->allocator, record->path);
    hw_free(store->allocator, record, sizeof *record);
}

/* The record of `path`, made if there is none. NULL if there is no memory. */
static struct faulty_record *record_get(struct faulty_store *store, const char *path)
{
    struct faulty_record *record = record_find(store, path);

    if (record != NULL) {
        return record;
    }
    record = hw_alloc_zeroed(store->allocator, sizeof *record);
    if (record == NULL) {
        return NULL;
    }
    record->path = hw_text_copy(store->allocator, path);
    if (record->path == NULL) {
        hw_free(store->allocator, record, sizeof *record);
        return NULL;
    }
    record->next = store->records;
    store->records = record;
    return record;
}

/* The name of the record's file is gone. */
static void record_unname(struct faulty_store *store, struct faulty_record *record)
{
    record->is_nameless = true;
    record_settle(store, record);
}

/*
 * Note the change that is about to be made: `bytes` NULL means a truncate to `position`. What it
 * overwrites or cuts off is read from the file.
 */
static enum hw_status record_change(struct faulty_file *file, int64_t position, const void *bytes,
                                    size_t size, struct hw_error *error)
{
    const struct hw_allocator *allocator = file->store->allocator;
    struct faulty_record *record = file->record;
    struct faulty_change change = {
        .is_truncate = bytes == NULL, .position = position, .bytes_new = size};
    void *items = record->changes;
    size_t got = 0;
    enum hw_status status = hw_file_size(file->inner, &change.size_old, error);

    if (status != HW_OK) {
        return status;
    }
    if (position < change.size_old) {
        change.bytes_old = (size_t)(change.size_old - position);
        if (bytes != NULL && change.bytes_old > size) {
            change.bytes_old = size;
        }
    }
    status = hw_array_reserve(allocator, &items, &record->change_capacity, record->change_count + 1,
                              sizeof *record->changes, error);
    record->changes = items;
    if (status != HW_OK) {
        return status;
    }
    if (size + change.bytes_old > 0) {
        change.bytes = hw_alloc(allocator, size + change.bytes_old);
        if (change.bytes == NULL) {
            return hw_error_no_memory(error, "bytes that are not synced");
        }
        if (size > 0) {
            memcpy(change.bytes, bytes, size);
        }
        status = hw_file_read_at(file->inner, position, change.bytes + size, change.bytes_old, &got,
                                 error);
        if (status != HW_OK) {
            hw_free(allocator, change.bytes, size + change.bytes_old);
            return status;
        }
    }
    record->changes[record->change_count++] = change;
    return HW_OK;
}

/* Calls on files */

static enum hw_status faulty_read_at(struct hw_file *base, int64_t position, void *bytes,
                                     size_t size, size_t *got, struct hw_error *error)
{
    struct faulty_file *file = (struct faulty_file *)base;
    enum hw_status status =
        fault_check(file->store, CALL_READS, "read from", file->record->path, error);

    if (status != HW_OK) {
        return status;
    }
    return hw_file_read_at(file->inner, position, bytes, size, got, error);
}

static enum hw_status write_through(struct faulty_file *file, int64_t position, const void *bytes,
                                    size_t size, struct hw_error *error)
{
    if (file->is_writable && size > 0) {
        enum hw_status status = record_change(file, position, bytes, size, error);

        if (status != HW_OK) {
            return status;
        }
    }
    return hw_file_write_at(file->inner, position, bytes, size, error);
}

static enum hw_status faulty_write_at(struct hw_file *base, int64_t position, const void *bytes,
                                      size_t size, struct hw_error *error)
{
    struct faulty_file *file = (struct faulty_file *)base;
    enum hw_status status =
        fault_check(file->store, CALL_CHANGES, "write to", file->record->path, error);

    if (status != HW_OK) {
        size_t torn = file->store->faults->torn_bytes;
        struct hw_error ignored;

        /* That the call fails is decided; how much of it is done besides is a chance anyway. */
        (void)write_through(file, position, bytes, torn < size ? torn : size, &ignored);
        return status;
    }
    return write_through(file, position, bytes, size, error);
}

static enum hw_status faulty_size(struct hw_file *base, int64_t *size_bytes, struct hw_error *error)
{
    struct faulty_file *file = (struct faulty_file *)base;
    enum hw_status status =
        fault_check(file->store, CALL_READS, "get the size of", file->record->path, error);

    if (status != HW_OK) {
        return status;
    }
    return hw_file_size(file->inner, size_bytes, error);
}

static enum hw_status truncate_through(struct faulty_file *file, int64_t size_bytes,
                                       struct hw_error *error)
{
    if (file->is_writable) {
        enum hw_status status = record_change(file, size_bytes, NULL, 0, error);

        if (status != HW_OK) {
            return status;
        }
    }
    return hw_file_truncate(file->inner, size_bytes, error);
}

static enum hw_status faulty_truncate(struct hw_file *base, int64_t size_bytes,
                                      struct hw_error *error)
{
    struct faulty_file *file = (struct faulty_file *)base;
    enum hw_status status =
        fault_check(file->store, CALL_CHANGES, "change the size of", file->record->path, error);

    return status == HW_OK ? truncate_through(file, size_bytes, error) : status;
}

static enum hw_status faulty_sync(struct hw_file *base, struct hw_error *error)
{
    struct faulty_file *file = (struct faulty_file *)base;
    enum hw_status status =
        fault_check(file->store, CALL_CHANGES, "make durable", file->record->path, error);

    if (status == HW_OK) {
        status = hw_file_sync(file->inner, error);
    }
    if (status == HW_OK) {
        record_forget_changes(file->store, file->record);
    }
    return status;
}

static void faulty_close(struct hw_file *base)
{
    struct faulty_file *file = (struct faulty_file *)base;
    struct faulty_store *store = file->store;

    hw_file_close(file->inner);
    file->record->handles--;
    record_settle(store, file->record);
    hw_free(store->allocator, file, sizeof *file);
}

static const struct hw_file_methods faulty_file_methods = {.read_at = faulty_read_at,
                                                           .write_at = faulty_write_at,
                                                           .size = faulty_size,
                                                           .truncate = faulty_truncate,
                                                           .sync = faulty_sync,
                                                           .close = faulty_close};

/* Calls on names */

/* Open the inner file of `file`. Emptying it is a change of its own, which may get lost. */
static enum hw_status open_inner(struct faulty_file *file, const char *path, enum hw_open_mode mode,
                                 struct hw_error *error)
{
    enum hw_open_mode inner_mode = mode == HW_OPEN_TRUNCATE ? HW_OPEN_OR_CREATE : mode;
    enum hw_status status =
        hw_store_open(file->store->inner, path, inner_mode, &file->inner, error);

    if (status == HW_OK && mode == HW_OPEN_TRUNCATE) {
        status = truncate_through(file, 0, error);
        if (status != HW_OK) {
            hw_file_close(file->inner);
        }
    }
    return status;
}

static enum hw_status faulty_open(struct hw_store *base, const char *path, enum hw_open_mode mode,
                                  struct hw_file **opened, struct hw_error *error)
{
    struct faulty_store *store = (struct faulty_store *)base;
    bool may_change = mode == HW_OPEN_OR_CREATE || mode == HW_OPEN_TRUNCATE;
    struct faulty_file *file;
    enum hw_status status =
        fault_check(store, may_change ? CALL_CHANGES : CALL_READS, "open", path, error);

    if (status != HW_OK) {
        return status;
    }
    file = hw_alloc_zeroed(store->allocator, sizeof *file);
    if (file == NULL) {
        return hw_error_no_memory(error, "an open file");
    }
    file->base.methods = &faulty_file_methods;
    file->store = store;
    file->is_writable = mode != HW_OPEN_READ;
    file->record = record_get(store, path);
    status = file->record == NULL ? hw_error_no_memory(error, "the record of a file")
                                  : open_inner(file, path, mode, error);
    if (status != HW_OK) {
        if (file->record != NULL) {
            record_settle(store, file->record);
        }
        hw_free(store->allocator, file, sizeof *file);
        return status;
    }
    file->record->handles++;
    *opened = &file->base;
    return HW_OK;
}

/* After a rename: the records take their new paths, or drop them. */
static void paths_settle(struct faulty_store *store, bool is_done)
{
    for (struct faulty_record *record = store->records; record != NULL; record = record->next) {
        if (record->path_next != NULL) {
            hw_text_free(store->allocator, is_done ? record->path : record->path_next);
            record->path = is_done ? record->path_next : record->path;
            record->path_next = NULL;
        }
    }
}

/* Before it: make the new paths of all records that the rename moves. */
static enum hw_status paths_prepare(struct faulty_store *store, const char *from, const char *to,
                                    struct hw_error *error)
{
    for (struct faulty_record *record = store->records; record != NULL; record = record->next) {
        const char *rest = record->is_nameless ? NULL : hw_path_below(record->path, from);

        if (rest != NULL) {
            char path[HW_PATH_MAX];
            enum hw_status status = hw_path_format(path, error, "%s%s", to, rest);

            if (status != HW_OK) {
                return status;
            }
            record->path_next = hw_text_copy(store->allocator, path);
            if (record->path_next == NULL) {
                return hw_error_no_memory(error, "the new path of a file");
            }
        }
    }
    return HW_OK;
}

static enum hw_status faulty_rename(struct hw_store *base, const char *from, const char *to,
                                    struct hw_error *error)
{
    struct faulty_store *store = (struct faulty_store *)base;
    struct faulty_record *replaced = strcmp(from, to) == 0 ? NULL : record_find(store, to);
    enum hw_status status = fault_check(store, CALL_CHANGES, "rename", from, error);

    if (status != HW_OK) {
        return status;
    }
    status = paths_prepare(store, from, to, error);
    if (status == HW_OK) {
        status = hw_store_rename(store->inner, from, to, error);
    }
    paths_settle(store, status == HW_OK);
    if (status == HW_OK && replaced != NULL) {
        record_unname(store, replaced);
    }
    return status;
}

static enum hw_status faulty_remove(struct hw_store *base, const char *path, struct hw_error *error)
{
    struct faulty_store *store = (struct faulty_store *)base;
    struct faulty_record *record = record_find(store, path);
    enum hw_status status = fault_check(store, CALL_CHANGES, "remove", path, error);

    if (status == HW_OK) {
        status = hw_store_remove(store->inner, path, error);
    }
    if (status == HW_OK && record != NULL) {
        record_unname(store, record);
    }
    return status;
}

static enum hw_status faulty_list(struct hw_store *base, const char *path,
                                  struct hw_name_list *names, struct hw_error *error)
{
    struct faulty_store *store = (struct faulty_store *)base;
    enum hw_status status = fault_check(store, CALL_READS, "list", path, error);

    return status == HW_OK ? hw_store_list(store->inner, path, names, error) : status;
}

static enum hw_status faulty_make_directory(struct hw_store *base, const char *path,
                                            struct hw_error *error)
{
    struct faulty_store *store = (struct faulty_store *)base;
    enum hw_status status = fault_check(store, CALL_CHANGES, "make the directory", path, error);

    return status == HW_OK ? hw_store_make_directory(store->inner, path, error) : status;
}

static enum hw_status faulty_sync_directory(struct hw_store *base, const char *path,
                                            struct hw_error *error)
{
    struct faulty_store *store = (struct faulty_store *)base;
    enum hw_status status = fault_check(store, CALL_CHANGES, "make durable", path, error);

    return status == HW_OK ? hw_store_sync_directory(store->inner, path, error) : status;
}

static enum hw_status faulty_exists(struct hw_store *base, const char *path, bool *exists,
                                    struct hw_error *error)
{
    struct faulty_store *store = (struct faulty_store *)base;
    enum hw_status status = fault_check(store, CALL_READS, "look for", path, error);

    return status == HW_OK ? hw_store_exists(store->inner, path, exists, error) : status;
}

static enum hw_status faulty_lock(struct hw_store *base, const char *path, struct hw_file **lock,
                                  struct hw_error *error)
{
    struct faulty_store *store = (struct faulty_store *)base;
    enum hw_status status = fault_check(store, CALL_CHANGES, "lock", path, error);

    return status == HW_OK ? hw_store_lock(store->inner, path, lock, error) : status;
}

/* The store */

static void faulty_destroy(struct hw_store *base)
{
    struct faulty_store *store = (struct faulty_store *)base;

    while (store->records != NULL) {
        HW_ASSERT(store->records->handles == 0);
        record_unname(store, store->records);
    }
    hw_free(store->allocator, store, sizeof *store);
}

static const struct hw_store_methods faulty_store_methods = {
    .open = faulty_open,
    .rename = faulty_rename,
    .remove = faulty_remove,
    .list = faulty_list,
    .make_directory = faulty_make_directory,
    .sync_directory = faulty_sync_directory,
    .exists = faulty_exists,
    .lock = faulty_lock,
    .destroy = faulty_destroy,
};

enum hw_status hw_faulty_store_create(const struct hw_allocator *allocator, struct hw_store *inner,
                                      struct hw_faults *faults, struct hw_store **store,
                                      struct hw_error *error)
{
    struct faulty_store *created = hw_alloc_zeroed(allocator, sizeof *created);

    if (created == NULL) {
        return hw_error_no_memory(error, "a store that can fail");
    }
    created->base.methods = &faulty_store_methods;
    created->allocator = allocator;
    created->inner = inner;
    created->faults = faults;
    *store = &created->base;
    return HW_OK;
}

/* Power loss */

/* Bring the file back to what it was when it was last synced. */
static enum hw_status changes_undo(const struct faulty_record *record, struct hw_file *file,
                                   struct hw_error *error)
{
    enum hw_status status = HW_OK;

    for (size_t i = record->change_count; status == HW_OK && i > 0; i--) {
        const struct faulty_change *change = &record->changes[i - 1];

        if (change->bytes_old > 0) {
            status = hw_file_write_at(file, change->position, change->bytes + change->bytes_new,
                                      change->bytes_old, error);
        }
        if (status == HW_OK) {
            status = hw_file_truncate(file, change->size_old, error);
        }
    }
    return status;
}

/* What a disk may have of a write that was never synced. */
enum survival { SURVIVES_NOT, SURVIVES, SURVIVES_IN_FRONT, SURVIVES_AS_LENGTH, SURVIVALS };

static enum hw_status change_redo(const struct faulty_change *change, struct hw_file *file,
                                  struct hw_random *random, struct hw_error *error)
{
    enum survival survival = (enum survival)hw_random_below(random, SURVIVALS);
    size_t size = change->bytes_new;
    int64_t size_bytes;
    enum hw_status status;

    if (survival == SURVIVES_NOT) {
        return HW_OK;
    }
    if (change->is_truncate) {
        return hw_file_truncate(file, change->position, error);
    }
    if (survival == SURVIVES_AS_LENGTH) {
        /* The size reached the disk and the bytes did not: zeros are read. */
        int64_t end = change->position + (int64_t)size;

        status = hw_file_size(file, &size_bytes, error);
        return status == HW_OK && size_bytes < end ? hw_file_truncate(file, end, error) : status;
    }
    if (survival == SURVIVES_IN_FRONT) {
        size = (size_t)hw_random_below(random, size + 1);
    }
    return hw_file_write_at(file, change->position, change->bytes, size, error);
}

static enum hw_status record_lose(struct faulty_store *store, struct faulty_record *record,
                                  uint64_t seed, struct hw_random *random, struct hw_error *error)
{
    struct hw_file *file;
    enum hw_status status =
        hw_store_open(store->inner, record->path, HW_OPEN_EXISTING, &file, error);

    if (status != HW_OK) {
        return status;
    }
    status = changes_undo(record, file, error);
    for (size_t i = 0; seed != 0 && status == HW_OK && i < record->change_count; i++) {
        status = change_redo(&record->changes[i], file, random, error);
    }
    hw_file_close(file);
    return status;
}

enum hw_status hw_faulty_store_lose_unsynced(struct hw_store *base, uint64_t seed,
                                             struct hw_error *error)
{
    struct faulty_store *store = (struct faulty_store *)base;
    struct hw_random random;

    hw_random_init(&random, seed);
    for (struct faulty_record *record = store->records; record != NULL; record = record->next) {
        if (record->handles > 0) {
            return hw_error_set(error, HW_MISUSE, "'%.300s' is open: close every file before",
                                record->path);
        }
    }
    while (store->records != NULL) {
        enum hw_status status = record_lose(store, store->records, seed, &random, error);

        if (status != HW_OK) {
            return status;
        }
        record_unname(store, store->records);
    }
    return HW_OK;
}
