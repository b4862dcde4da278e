/* SPDX-License-Identifier: MIT */
#include "ext/modules.h"

#include "ext/ext_transaction.h"
#include "ext/tables/vtab_batches.h"
#include "ext/tables/vtab_log.h"
#include "ext/topics/vtab_topic.h"

const struct ext_module ext_modules[] = {
    {&vtab_topic_schema, &vtab_topic_module},
    {&vtab_log_schema, &vtab_log_module},
    {&vtab_batches_schema, &vtab_batches_module},
    {&ext_transaction_schema, &ext_transaction_module},
};

const size_t ext_module_count = sizeof ext_modules / sizeof ext_modules[0];
