/* SPDX-License-Identifier: MIT */
/*
 * What the files posix_*.c ask of the system's headers. Included before any other header, since
 * those look at these macros when they are read first.
 */
#ifndef HW_IO_POSIX_SYSTEM_H
#define HW_IO_POSIX_SYSTEM_H

#define _XOPEN_SOURCE     700 /* With POSIX 2008, and realpath(). */
#define _POSIX_C_SOURCE   200809L
#define _FILE_OFFSET_BITS 64
#ifdef __APPLE__
/* There, _POSIX_C_SOURCE alone hides flock() and F_FULLFSYNC, and one field has another name. */
#define _DARWIN_C_SOURCE 1
#define st_ctim          st_ctimespec
#endif

#endif /* HW_IO_POSIX_SYSTEM_H */
