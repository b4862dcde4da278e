/* SPDX-License-Identifier: MIT */
/* What the library was built from. */
#include "ext/ext_version.h"
#include "ext/functions/functions.h"

#include <stdio.h>

SQLITE_EXTENSION_INIT3

#ifndef HW_BUILD_COMMIT
#define HW_BUILD_COMMIT "unknown"
#endif

#ifdef __clang__
#define BUILD_COMPILER __VERSION__
#else
#define BUILD_COMPILER "gcc " __VERSION__
#endif

enum { BUILD_SIZE_MAX = 512 };

void fn_highwater_build(struct ext_call *call)
{
    char json[BUILD_SIZE_MAX];

    (void)snprintf(json, sizeof json,
                   "{\"version\":\"" HW_VERSION "\",\"commit\":\"" HW_BUILD_COMMIT
                   "\",\"compiler\":\"" BUILD_COMPILER
                   "\",\"zlib\":\"%.40s\",\"lz4\":\"%.40s\",\"zstd\":\"%.40s\""
                   ",\"snappy\":\"%.40s\""
                   ",\"sqlite_oldest\":\"" EXT_SQLITE_OLDEST_TEXT
                   "\",\"sqlite_headers\":\"" SQLITE_VERSION "\",\"sqlite\":\"%.40s\"}",
                   hw_codec_library_version(HW_CODEC_GZIP), hw_codec_library_version(HW_CODEC_LZ4),
                   hw_codec_library_version(HW_CODEC_ZSTD),
                   hw_codec_library_version(HW_CODEC_SNAPPY), sqlite3_libversion());
    ext_call_return_text(call, json);
}
