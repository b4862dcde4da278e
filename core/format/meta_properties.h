/* SPDX-License-Identifier: MIT */
/*
 * meta.properties: which broker of which cluster a log directory belongs to.
 *
 *     # comment
 *     version=1
 *     cluster.id=Y9KqDgsMTq2qEdPCdcyH0g
 *     node.id=1                             broker.id in version 0
 *
 * Source: MetaProperties, PropertiesUtils (kafka formats 5.6).
 */
#ifndef HW_FORMAT_META_PROPERTIES_H
#define HW_FORMAT_META_PROPERTIES_H

#include "core/io/store.h"

enum { HW_META_VALUE_SIZE = 64 };

/* Texts are cut to fit; an empty one is not there. */
struct hw_meta_properties {
    bool is_there; /* There is such a file. */
    char version[HW_META_VALUE_SIZE];
    char cluster_id[HW_META_VALUE_SIZE];
    char node_id[HW_META_VALUE_SIZE]; /* Or broker.id. */
    char directory_id[HW_META_VALUE_SIZE];
};

/* Read what is known of the lines of the file in the log directory; others are passed over, and a
 * file that is too large has none. Errors: HW_NO_MEMORY, HW_IO. */
enum hw_status hw_meta_properties_read(struct hw_meta_properties *properties,
                                       const struct hw_allocator *allocator, struct hw_store *store,
                                       const char *directory, struct hw_error *error);

/*
 * Write the file of the log directory, atomically and durably: version, cluster.id, node.id and
 * directory.id, all of which are there, without spaces around them. Errors: HW_IO.
 */
enum hw_status hw_meta_properties_write(const struct hw_meta_properties *properties,
                                        struct hw_store *store, const char *directory,
                                        struct hw_error *error);

#endif /* HW_FORMAT_META_PROPERTIES_H */
