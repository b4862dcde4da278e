/* SPDX-License-Identifier: MIT */
/*
 * Runs the SQL stories of tests/golden/: each file is one database with the extension loaded.
 *
 *     # Any number of comment lines.
 *     sql
 *     SELECT fetch_round('orders');
 *     ----
 *     2
 *
 * What a stanza prints - rows with columns joined by '|', NULL spelled out, blobs as x'00FF', or
 * "error: ..." and nothing after it - must equal the lines between "----" and the next empty line.
 * Output that has empty lines itself stands between two pairs of "----". Other directives, a line
 * each:
 *
 *     database file     the database is a file, not in memory; before the first stanza
 *     connection NAME   continue as this connection, which is opened at its first stanza (the first
 *                       one is called "main"). In memory each has a database of its own.
 *     close             close this connection
 *     reopen            close every connection, so that the next stanza finds what was kept
 *
 * $DIR stands for a fresh directory, in statements and in what is printed. It holds the database
 * and goes away with the story.
 *
 * With --rewrite the files are written anew from what was printed; read the diff before you commit
 * it.
 *
 * usage: golden_sql [--rewrite] EXTENSION FILE...
 */
#define _XOPEN_SOURCE 700

#include <ftw.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CONNECTIONS_MAX = 8 };

static const char separator[] = "----";

/* A growing string. Running out of memory ends the program: this is a test tool. */
struct text {
    char *bytes;
    size_t length;
};

struct connection {
    char *name;
    sqlite3 *db; /* NULL: not open. */
};

struct story {
    const char *path;
    const char *extension;
    char *content; /* The file, cut into lines as it is read. */
    char *next;    /* The line after `line`, NULL at the end. */
    char *line;
    int line_number;
    char directory[512];
    bool in_file;
    struct connection connections[CONNECTIONS_MAX];
    size_t connection_count;
    struct connection *current;
    struct text rewritten;
    bool rewrite;
    bool is_broken; /* As a file: not to be rewritten. */
    int passed;
    int failed;
};

static void die(const char *what)
{
    perror(what);
    exit(2);
}

static void text_add_bytes(struct text *text, const char *bytes, size_t length)
{
    text->bytes = realloc(text->bytes, text->length + length + 1);
    if (text->bytes == NULL) {
        die("golden_sql");
    }
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

static void text_add(struct text *text, const char *bytes)
{
    text_add_bytes(text, bytes, strlen(bytes));
}

static void text_add_line(struct text *text, const char *line)
{
    text_add(text, line);
    text_add(text, "\n");
}

static const char *text_string(const struct text *text)
{
    return text->bytes == NULL ? "" : text->bytes;
}

static void text_clear(struct text *text)
{
    free(text->bytes);
    *text = (struct text){0};
}

/* Add `bytes` with every `from` replaced by `to`. */
static void text_add_replaced(struct text *text, const char *bytes, const char *from,
                              const char *to)
{
    for (const char *hit = strstr(bytes, from); hit != NULL; hit = strstr(bytes, from)) {
        text_add_bytes(text, bytes, (size_t)(hit - bytes));
        text_add(text, to);
        bytes = hit + strlen(from);
    }
    text_add(text, bytes);
}

/* The file of the story is wrong, or the runner cannot do what it says. */
__attribute__((format(printf, 2, 3))) static void fail(struct story *story, const char *format, ...)
{
    va_list arguments;

    printf("%s:%d: ", story->path, story->line_number);
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    story->is_broken = true;
    story->failed++;
}

/* --- The database --------------------------------------------------------------------------- */

static void add_value(sqlite3_stmt *statement, int column, struct text *out)
{
    char hex[3];

    if (sqlite3_column_type(statement, column) == SQLITE_NULL) {
        text_add(out, "NULL");
    } else if (sqlite3_column_type(statement, column) == SQLITE_BLOB) {
        const unsigned char *bytes = sqlite3_column_blob(statement, column);
        text_add(out, "x'");
        for (int i = 0; i < sqlite3_column_bytes(statement, column); i++) {
            snprintf(hex, sizeof hex, "%02X", bytes[i]);
            text_add(out, hex);
        }
        text_add(out, "'");
    } else {
        text_add(out, (const char *)sqlite3_column_text(statement, column));
    }
}

/* Run every statement of `sql`; stop at the first error. */
static void run_sql(sqlite3 *db, const char *sql, struct text *out)
{
    int rc = SQLITE_OK;

    while (*sql != '\0' && rc == SQLITE_OK) {
        sqlite3_stmt *statement = NULL;

        rc = sqlite3_prepare_v2(db, sql, -1, &statement, &sql);
        while (statement != NULL && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
            for (int i = 0; i < sqlite3_column_count(statement); i++) {
                text_add(out, i == 0 ? "" : "|");
                add_value(statement, i, out);
            }
            text_add(out, "\n");
        }
        rc = rc == SQLITE_DONE ? SQLITE_OK : rc;
        if (rc != SQLITE_OK) {
            text_add(out, "error: ");
            text_add_line(out, sqlite3_errmsg(db));
        }
        sqlite3_finalize(statement);
    }
}

static sqlite3 *open_database(struct story *story)
{
    char path[sizeof story->directory + sizeof "/story.db"] = ":memory:";
    char *message = NULL;
    sqlite3 *db = NULL;

    if (story->in_file) {
        snprintf(path, sizeof path, "%s/story.db", story->directory);
    }
    if (sqlite3_open(path, &db) != SQLITE_OK ||
        sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 1, NULL) != SQLITE_OK ||
        sqlite3_load_extension(db, story->extension, NULL, &message) != SQLITE_OK) {
        fprintf(stderr, "%s: cannot open %s with %s: %s\n", story->path, path, story->extension,
                message != NULL ? message : sqlite3_errmsg(db));
        exit(2);
    }
    return db;
}

static void close_connection(struct story *story, struct connection *connection)
{
    if (sqlite3_close(connection->db) != SQLITE_OK) {
        fail(story, "connection %s cannot be closed: %s", connection->name,
             sqlite3_errmsg(connection->db));
        (void)sqlite3_close_v2(connection->db);
    }
    connection->db = NULL;
}

static void close_every_connection(struct story *story)
{
    for (size_t i = 0; i < story->connection_count; i++) {
        close_connection(story, &story->connections[i]);
    }
}

static void use_connection(struct story *story, const char *name)
{
    struct connection *connection = story->connections;
    struct connection *end = connection + story->connection_count;

    while (connection < end && strcmp(connection->name, name) != 0) {
        connection++;
    }
    if (connection == end) {
        if (story->connection_count == CONNECTIONS_MAX) {
            fail(story, "more than %d connections", CONNECTIONS_MAX);
            return;
        }
        *connection = (struct connection){.name = strdup(name)};
        story->connection_count++;
    }
    story->current = connection;
}

/* --- The file of a story -------------------------------------------------------------------- */

static bool next_line(struct story *story)
{
    story->line = story->next;
    if (story->line == NULL || *story->line == '\0') {
        story->line = NULL;
        return false;
    }
    story->line_number++;
    story->next = strchr(story->line, '\n');
    if (story->next != NULL) {
        *story->next++ = '\0';
    }
    return true;
}

/* Two separators after one another: what they enclose may have empty lines. */
static bool next_is_separator(const struct story *story)
{
    size_t length = strlen(separator);

    return story->next != NULL && strncmp(story->next, separator, length) == 0 &&
           (story->next[length] == '\n' || story->next[length] == '\0');
}

/* Read the lines that the stanza should print, up to and with the line that ends them. */
static void read_expected(struct story *story, struct text *expected)
{
    bool enclosed = next_is_separator(story);

    if (enclosed) {
        (void)next_line(story);
    }
    while (next_line(story)) {
        if (enclosed && strcmp(story->line, separator) == 0 && next_is_separator(story)) {
            (void)next_line(story);
            if (next_line(story) && story->line[0] != '\0') {
                fail(story, "no empty line after the output");
            }
            return;
        }
        if (!enclosed && story->line[0] == '\0') {
            return;
        }
        text_add_line(expected, story->line);
    }
    if (enclosed) {
        fail(story, "the output has no second pair of \"%s\"", separator);
    }
}

static void add_rewritten(struct story *story, const struct text *printed)
{
    const char *lines = text_string(printed);
    bool enclosed = lines[0] == '\n' || strstr(lines, "\n\n") != NULL;

    text_add_line(&story->rewritten, separator);
    if (enclosed) {
        text_add_line(&story->rewritten, separator);
    }
    text_add(&story->rewritten, lines);
    if (enclosed) {
        text_add_line(&story->rewritten, separator);
        text_add_line(&story->rewritten, separator);
    }
    if (story->line != NULL) {
        text_add(&story->rewritten, "\n");
    }
}

/* A stanza, from the line after "sql" on. */
static void run_stanza(struct story *story)
{
    struct text sql = {0}, expected = {0}, raw = {0}, printed = {0};
    int first_line = story->line_number;

    while (next_line(story) && strcmp(story->line, separator) != 0) {
        text_add_line(&story->rewritten, story->line);
        text_add_replaced(&sql, story->line, "$DIR", story->directory);
        text_add(&sql, "\n");
    }
    if (story->line == NULL) {
        story->line_number = first_line;
        fail(story, "the stanza has no \"%s\"", separator);
    } else {
        if (story->current->db == NULL) {
            story->current->db = open_database(story);
        }
        run_sql(story->current->db, text_string(&sql), &raw);
        text_add_replaced(&printed, text_string(&raw), story->directory, "$DIR");
        read_expected(story, &expected);
        add_rewritten(story, &printed);
        if (story->rewrite || strcmp(text_string(&expected), text_string(&printed)) == 0) {
            story->passed++;
        } else {
            printf("%s:%d: expected\n%sgot\n%s", story->path, first_line, text_string(&expected),
                   text_string(&printed));
            story->failed++;
        }
    }
    text_clear(&sql);
    text_clear(&expected);
    text_clear(&raw);
    text_clear(&printed);
}

static void run_directive(struct story *story)
{
    static const char connection[] = "connection ";
    const char *line = story->line;

    if (line[0] == '#' || line[0] == '\0') {
        return;
    }
    if (strncmp(line, connection, strlen(connection)) == 0) {
        use_connection(story, line + strlen(connection));
    } else if (strcmp(line, "close") == 0) {
        close_connection(story, story->current);
    } else if (strcmp(line, "reopen") == 0) {
        close_every_connection(story);
    } else if (strcmp(line, "database file") == 0 && story->passed + story->failed == 0) {
        story->in_file = true;
    } else if (strcmp(line, "sql") == 0) {
        run_stanza(story);
    } else {
        fail(story, "\"%s\" is neither a comment nor a directive", line);
    }
}

static char *read_file(const char *path)
{
    struct text content = {0};
    char block[4096];
    size_t length;
    FILE *file = fopen(path, "r");

    if (file == NULL) {
        die(path);
    }
    while ((length = fread(block, 1, sizeof block, file)) > 0) {
        text_add_bytes(&content, block, length);
    }
    if (ferror(file) != 0 || fclose(file) != 0) {
        die(path);
    }
    text_add(&content, "");
    return content.bytes;
}

static void write_file(const char *path, const char *content)
{
    FILE *file = fopen(path, "w");

    if (file == NULL || fputs(content, file) == EOF || fclose(file) != 0) {
        die(path);
    }
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status;
    (void)type;
    (void)where;
    return remove(path);
}

static void make_directory(struct story *story)
{
    const char *parent = getenv("TMPDIR");

    snprintf(story->directory, sizeof story->directory, "%s/highwater-story-XXXXXX",
             parent == NULL || parent[0] == '\0' ? "/tmp" : parent);
    if (mkdtemp(story->directory) == NULL) {
        die(story->directory);
    }
}

/* Run one file, and add to the counts. */
static void run_file(const char *path, const char *extension, bool rewrite, int *passed,
                     int *failed)
{
    struct story story = {
        .path = path, .extension = extension, .content = read_file(path), .rewrite = rewrite};

    story.next = story.content;
    make_directory(&story);
    use_connection(&story, "main");
    while (next_line(&story)) {
        text_add_line(&story.rewritten, story.line);
        run_directive(&story);
    }
    close_every_connection(&story);
    if (nftw(story.directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS) != 0) {
        die(story.directory);
    }
    if (rewrite && !story.is_broken) {
        write_file(path, text_string(&story.rewritten));
    }
    for (size_t i = 0; i < story.connection_count; i++) {
        free(story.connections[i].name);
    }
    text_clear(&story.rewritten);
    free(story.content);
    *passed += story.passed;
    *failed += story.failed;
}

int main(int argc, char **argv)
{
    bool rewrite = argc > 1 && strcmp(argv[1], "--rewrite") == 0;
    int first = rewrite ? 2 : 1;
    int passed = 0, failed = 0;

    /* What was found before a crash is not to be lost. */
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc < first + 2) {
        fprintf(stderr, "usage: golden_sql [--rewrite] EXTENSION FILE...\n");
        return 2;
    }
    for (int i = first + 1; i < argc; i++) {
        run_file(argv[i], argv[first], rewrite, &passed, &failed);
    }
    printf("golden: %d passed, %d failed\n", passed, failed);
    return failed == 0 ? 0 : 1;
}
