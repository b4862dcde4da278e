/* SPDX-License-Identifier: MIT */
/* Rows of hw_help. They come from the lists by which things are registered: whatever is registered
 * has its help. */
#include "ext/functions/functions.h"
#include "ext/tables/tables.h"

#include <stdio.h>

enum { HELP_TEXT_SIZE = 160 }; /* Twice the longest text that is made here. */

static void add_help(struct ext_rows *rows, const char *name, const char *kind,
                     const char *signature, const char *summary, const char *example)
{
    ext_rows_text(rows, name);
    ext_rows_text(rows, kind);
    ext_rows_text(rows, signature);
    ext_rows_text(rows, summary);
    ext_rows_text(rows, example);
}

static void add_function(struct ext_rows *rows, const struct ext_function *function)
{
    add_help(rows, function->name, "function", function->signature, function->summary,
             function->example);
}

static void add_column(struct ext_rows *rows, const struct ext_schema *schema,
                       const struct ext_column *column)
{
    char name[HELP_TEXT_SIZE];
    char signature[HELP_TEXT_SIZE];
    char example[HELP_TEXT_SIZE];

    (void)snprintf(name, sizeof name, "%s.%s", schema->name, column->name);
    (void)snprintf(signature, sizeof signature, "%s.%s%s%s", schema->name, column->name,
                   column->type[0] == '\0' ? "" : " ", column->type);
    (void)snprintf(example, sizeof example, "SELECT \"%s\" FROM %s;", column->name, schema->use);
    add_help(rows, name, "column", signature, column->summary, example);
}

static void add_schema(struct ext_rows *rows, const struct ext_schema *schema)
{
    add_help(rows, schema->name, schema->is_module ? "module" : "table", schema->signature,
             schema->summary, schema->example);
    for (int i = 0; i < schema->column_count; i++) {
        add_column(rows, schema, &schema->columns[i]);
    }
}

static void help_add_config(struct ext_rows *rows, const struct hw_config_entry *config)
{
    char signature[HELP_TEXT_SIZE];
    char example[HELP_TEXT_SIZE];

    (void)snprintf(signature, sizeof signature, "configure('%s', value%s)", config->name,
                   config->scope == HW_CONFIG_TOPIC ? " [, topic]" : "");
    (void)snprintf(example, sizeof example, "SELECT value, topic FROM hw_config WHERE name = '%s';",
                   config->name);
    add_help(rows, config->name, "config", signature, config->description, example);
}

static void add_promise(struct ext_rows *rows, enum hw_promise promise)
{
    char signature[HELP_TEXT_SIZE];
    char example[HELP_TEXT_SIZE];

    (void)snprintf(signature, sizeof signature, "configure('check.promises', '%s')",
                   hw_promise_name(promise));
    (void)snprintf(example, sizeof example, "SELECT configure('check.promises', '%s');",
                   hw_promise_name(promise));
    add_help(rows, hw_promise_name(promise), "promise", signature, hw_promise_help(promise),
             example);
}

void fill_help(struct hw_cluster *cluster, struct ext_rows *rows)
{
    (void)cluster;
    for (size_t i = 0; i < ext_function_count; i++) {
        add_function(rows, &ext_functions[i]);
    }
    for (size_t i = 0; ext_module_at(i) != NULL; i++) {
        add_schema(rows, ext_module_at(i));
    }
    for (size_t i = 0; i < hw_config_count(); i++) {
        help_add_config(rows, hw_config_entry_at(i));
    }
    for (int i = 0; i < HW_PROMISES; i++) {
        add_promise(rows, (enum hw_promise)i);
    }
}
