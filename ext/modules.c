/* SPDX-License-Identifier: MIT */
#include "ext/modules.h"

#include "ext/ext_transaction.h"
#include "ext/files/vtab_kafka_scan.h"
#include "ext/files/vtab_kafka_table.h"
#include "ext/tables/tables.h"
#include "ext/tables/vtab_batches.h"
#include "ext/tables/vtab_explore.h"
#include "ext/tables/vtab_log.h"
#include "ext/topics/vtab_topic.h"

/* Those that are no rows of a list. */
static const struct ext_schema *const modules_single[] = {
    &vtab_topic_schema, &vtab_log_schema, &vtab_batches_schema, &vtab_explore_schema,
    &ext_transaction_schema};

enum { MODULES_SINGLE_COUNT = sizeof modules_single / sizeof modules_single[0] };

const struct ext_schema *ext_module_at(size_t number)
{
    if (number < ext_table_count) {
        return &ext_tables[number].schema;
    }
    number -= ext_table_count;
    if (number < MODULES_SINGLE_COUNT) {
        return modules_single[number];
    }
    number -= MODULES_SINGLE_COUNT;
    if (number < kafka_scan_table_count) {
        return &kafka_scan_tables[number].schema;
    }
    number -= kafka_scan_table_count;
    if (number < kafka_table_count) {
        return &kafka_tables[number].schema;
    }
    number -= kafka_table_count;
    return number < kafka_internal_table_count ? &kafka_internal_tables[number].schema : NULL;
}
