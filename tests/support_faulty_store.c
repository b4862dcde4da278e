/* SPDX-License-Identifier: MIT */
/* A store that passes calls on to another one, counts them, and makes some of them fail. */
#include "tests/support_faulty_store.h"

#include "core/base/assert.h"
#include "tests/support_faulty_record.h"

#include <inttypes.h>
#include <string.h>

struct faulty_store {
    struct hw_store base;
    const struct hw_allocator *allocator;
    struct hw_store *inner;
    struct hw_faults *faults;
    struct hw_faulty_records records;
};

struct faulty_file {
    struct hw_file base;
    struct faulty_store *store;
    struct hw_faulty_record *record;
    struct hw_file *inner;
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

static enum hw_status error_full(const char *verb, const char *path, struct hw_error *error)
{
    return hw_error_set(error, HW_IO, "cannot %s '%.300s': no space left", verb, path);
}

/* Refuse to make a file longer on a disk that is full. */
static enum hw_status check_space(struct faulty_file *file, int64_t end, const char *verb,
                                  struct hw_error *error)
{
    int64_t size_bytes;
    enum hw_status status = HW_OK;

    if (file->store->faults->is_full) {
        status = hw_file_size(file->inner, &size_bytes, error);
        if (status == HW_OK && end > size_bytes) {
            status = error_full(verb, file->record->path, error);
        }
    }
    return status;
}

/* Refuse to make a name on a disk that is full. */
static enum hw_status check_space_for_name(struct faulty_store *store, const char *verb,
                                           const char *path, struct hw_error *error)
{
    bool exists;
    enum hw_status status = HW_OK;

    if (store->faults->is_full) {
        status = hw_store_exists(store->inner, path, &exists, error);
        if (status == HW_OK && !exists) {
            status = error_full(verb, path, error);
        }
    }
    return status;
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
    if (size > 0) {
        enum hw_status status = hw_faulty_record_note(&file->store->records, file->record,
                                                      file->inner, position, bytes, size, error);

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
    status = check_space(file, position + (int64_t)size, "write to", error);
    if (status != HW_OK) {
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
    enum hw_status status = hw_faulty_record_note(&file->store->records, file->record, file->inner,
                                                  size_bytes, NULL, 0, error);

    return status == HW_OK ? hw_file_truncate(file->inner, size_bytes, error) : status;
}

static enum hw_status faulty_truncate(struct hw_file *base, int64_t size_bytes,
                                      struct hw_error *error)
{
    struct faulty_file *file = (struct faulty_file *)base;
    enum hw_status status =
        fault_check(file->store, CALL_CHANGES, "change the size of", file->record->path, error);

    if (status == HW_OK) {
        status = check_space(file, size_bytes, "change the size of", error);
    }
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
        hw_faulty_record_forget(&file->store->records, file->record);
    }
    return status;
}

static void faulty_close(struct hw_file *base)
{
    struct faulty_file *file = (struct faulty_file *)base;
    struct faulty_store *store = file->store;

    hw_file_close(file->inner);
    file->record->handles--;
    hw_faulty_record_settle(&store->records, file->record);
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

    if (status == HW_OK && may_change) {
        status = check_space_for_name(store, "open", path, error);
    }
    if (status != HW_OK) {
        return status;
    }
    file = hw_alloc_zeroed(store->allocator, sizeof *file);
    if (file == NULL) {
        return hw_error_no_memory(error, "an open file");
    }
    file->base.methods = &faulty_file_methods;
    file->store = store;
    file->base.is_writable = mode != HW_OPEN_READ;
    file->record = hw_faulty_record_get(&store->records, path);
    status = file->record == NULL ? hw_error_no_memory(error, "the record of a file")
                                  : open_inner(file, path, mode, error);
    if (status != HW_OK) {
        if (file->record != NULL) {
            hw_faulty_record_settle(&store->records, file->record);
        }
        hw_free(store->allocator, file, sizeof *file);
        return status;
    }
    file->record->handles++;
    *opened = &file->base;
    return HW_OK;
}

static enum hw_status faulty_rename(struct hw_store *base, const char *from, const char *to,
                                    struct hw_error *error)
{
    struct faulty_store *store = (struct faulty_store *)base;
    struct hw_faulty_record *replaced =
        strcmp(from, to) == 0 ? NULL : hw_faulty_record_find(&store->records, to);
    enum hw_status status = fault_check(store, CALL_CHANGES, "rename", from, error);

    if (status != HW_OK) {
        return status;
    }
    status = hw_faulty_records_prepare_move(&store->records, from, to, error);
    if (status == HW_OK) {
        status = hw_store_rename(store->inner, from, to, error);
    }
    hw_faulty_records_settle_move(&store->records, status == HW_OK);
    if (status == HW_OK && replaced != NULL) {
        hw_faulty_record_unname(&store->records, replaced);
    }
    return status;
}

static enum hw_status faulty_remove(struct hw_store *base, const char *path, struct hw_error *error)
{
    struct faulty_store *store = (struct faulty_store *)base;
    struct hw_faulty_record *record = hw_faulty_record_find(&store->records, path);
    enum hw_status status = fault_check(store, CALL_CHANGES, "remove", path, error);

    if (status == HW_OK) {
        status = hw_store_remove(store->inner, path, error);
    }
    if (status == HW_OK && record != NULL) {
        hw_faulty_record_unname(&store->records, record);
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

    if (status == HW_OK) {
        status = check_space_for_name(store, "make the directory", path, error);
    }
    return status == HW_OK ? hw_store_make_directory(store->inner, path, error) : status;
}

static enum hw_status faulty_sync_directory(struct hw_store *base, const char *path,
                                            struct hw_error *error)
{
    struct faulty_store *store = (struct faulty_store *)base;
    enum hw_status status = fault_check(store, CALL_CHANGES, "make durable", path, error);

    return status == HW_OK ? hw_store_sync_directory(store->inner, path, error) : status;
}

static enum hw_status faulty_look(struct hw_store *base, const char *path,
                                  struct hw_path_look *look, struct hw_error *error)
{
    struct faulty_store *store = (struct faulty_store *)base;
    enum hw_status status = fault_check(store, CALL_READS, "look for", path, error);

    return status == HW_OK ? hw_store_look(store->inner, path, look, error) : status;
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

    while (store->records.first != NULL) {
        HW_ASSERT(store->records.first->handles == 0);
        hw_faulty_record_unname(&store->records, store->records.first);
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
    .look = faulty_look,
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
    created->records.allocator = allocator;
    created->inner = inner;
    created->faults = faults;
    *store = &created->base;
    return HW_OK;
}

static enum hw_status lose_file(struct faulty_store *store, const struct hw_faulty_record *record,
                                struct hw_random *random, struct hw_error *error)
{
    struct hw_file *file;
    enum hw_status status =
        hw_store_open(store->inner, record->path, HW_OPEN_EXISTING, &file, error);

    if (status != HW_OK) {
        return status;
    }
    status = hw_faulty_record_lose(record, file, random, error);
    hw_file_close(file);
    return status;
}

enum hw_status hw_faulty_store_lose_unsynced(struct hw_store *base, uint64_t seed,
                                             struct hw_error *error)
{
    struct faulty_store *store = (struct faulty_store *)base;
    struct hw_random random;

    hw_random_init(&random, seed);
    for (struct hw_faulty_record *record = store->records.first; record != NULL;
         record = record->next) {
        if (record->handles > 0) {
            return hw_error_set(error, HW_MISUSE, "'%.300s' is open: close every file before",
                                record->path);
        }
    }
    while (store->records.first != NULL) {
        enum hw_status status =
            lose_file(store, store->records.first, seed == 0 ? NULL : &random, error);

        if (status != HW_OK) {
            return status;
        }
        hw_faulty_record_unname(&store->records, store->records.first);
    }
    return HW_OK;
}
