/* SPDX-License-Identifier: MIT */
#include "core/io/store.h"

#ifdef _WIN32

#include "core/io/windows_path.h"

#include <stdio.h>
#include <string.h>
#include <wchar.h>

bool hw_windows_is_missing(DWORD number)
{
    return number == ERROR_FILE_NOT_FOUND || number == ERROR_PATH_NOT_FOUND ||
           number == ERROR_INVALID_NAME || number == ERROR_BAD_NETPATH ||
           number == ERROR_BAD_NET_NAME;
}

/* Whether a name on the way to the path, or the path itself, is a file: POSIX tells that apart from
 * a name that is missing. */
static bool windows_path_leads_through_file(const char *path)
{
    char name[HW_PATH_MAX];
    size_t length = strlen(path);

    while (length > 0 && length < sizeof name) {
        struct hw_windows_path wide;
        struct hw_error error;
        DWORD attributes;

        memcpy(name, path, length);
        name[length] = '\0';
        attributes = hw_windows_path(name, &wide, &error) == HW_OK ? GetFileAttributesW(wide.text)
                                                                   : INVALID_FILE_ATTRIBUTES;
        if (attributes != INVALID_FILE_ATTRIBUTES) {
            return (attributes & FILE_ATTRIBUTE_DIRECTORY) == 0;
        }
        do {
            length--;
        } while (length > 0 && path[length] != '/');
    }
    return false;
}

enum hw_status hw_windows_error(struct hw_error *error, DWORD number, const char *verb,
                                const char *path)
{
    char reason[128];
    size_t length = strlen(path);
    /* Of a path that is too long for a message the end says more. */
    const char *shown = length > 300 ? path + length - 300 : path;
    DWORD size;

    if (number == ERROR_NOT_ENOUGH_MEMORY || number == ERROR_OUTOFMEMORY) {
        return hw_error_no_memory(error, path);
    }
    if (hw_windows_is_missing(number) && windows_path_leads_through_file(path)) {
        number = ERROR_DIRECTORY;
    }
    /* In English: it is UTF-8 then. */
    size =
        FormatMessageA(FORMAT_MESSAGE_FROM_SYSTEM | FORMAT_MESSAGE_IGNORE_INSERTS, NULL, number,
                       MAKELANGID(LANG_ENGLISH, SUBLANG_ENGLISH_US), reason, sizeof reason, NULL);
    while (size > 0 && strchr("\r\n. ", reason[size - 1]) != NULL) {
        size--;
    }
    reason[size] = '\0';
    if (size == 0) {
        (void)snprintf(reason, sizeof reason, "error %lu", (unsigned long)number);
    }
    return hw_error_set(error, hw_windows_is_missing(number) ? HW_NOT_FOUND : HW_IO,
                        "cannot %s '%s%s': %s", verb, shown == path ? "" : "...", shown, reason);
}

enum hw_status hw_windows_path(const char *path, struct hw_windows_path *wide,
                               struct hw_error *error)
{
    static const wchar_t prefix[] = L"\\\\?\\";
    enum { PREFIX = sizeof prefix / sizeof prefix[0] - 1 };
    wchar_t given[HW_PATH_MAX];
    DWORD size;

    if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, given, HW_PATH_MAX) == 0) {
        return hw_windows_error(error, ERROR_FILENAME_EXCED_RANGE, "use", path);
    }
    size = GetFullPathNameW(given, HW_WINDOWS_PATH_SIZE - PREFIX, wide->text + PREFIX, NULL);
    if (size == 0 || size >= HW_WINDOWS_PATH_SIZE - PREFIX) {
        return hw_windows_error(error, size == 0 ? GetLastError() : ERROR_FILENAME_EXCED_RANGE,
                                "use", path);
    }
    /* Another computer's, or a device: these have a prefix of their own. */
    if (wide->text[PREFIX] == L'\\') {
        wmemmove(wide->text, wide->text + PREFIX, size + 1);
    } else {
        wmemcpy(wide->text, prefix, PREFIX);
    }
    return HW_OK;
}

bool hw_windows_text(const wchar_t *wide, char text[HW_PATH_MAX])
{
    if (wcsncmp(wide, L"\\\\?\\UNC\\", 8) == 0) {
        text[0] = '/';
        wide += 7;
        text++;
        if (WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, HW_PATH_MAX - 1, NULL, NULL) == 0) {
            return false;
        }
    } else {
        wide += wcsncmp(wide, L"\\\\?\\", 4) == 0 ? 4 : 0;
        if (WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, HW_PATH_MAX, NULL, NULL) == 0) {
            return false;
        }
    }
    for (; *text != '\0'; text++) {
        *text = *text == '\\' ? '/' : *text;
    }
    return true;
}

/* Leave links out of a path that is there. Returns false, with the system's error, if it is not. */
static bool windows_path_resolve(const wchar_t *path, struct hw_windows_path *real)
{
    HANDLE handle = CreateFileW(path, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE,
                                NULL, OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    DWORD size = 0;
    DWORD number;

    if (handle == INVALID_HANDLE_VALUE) {
        return false;
    }
    size = GetFinalPathNameByHandleW(handle, real->text, HW_WINDOWS_PATH_SIZE, VOLUME_NAME_DOS);
    number = size >= HW_WINDOWS_PATH_SIZE ? ERROR_FILENAME_EXCED_RANGE : GetLastError();
    (void)CloseHandle(handle);
    SetLastError(number);
    return size > 0 && size < HW_WINDOWS_PATH_SIZE;
}

enum hw_status hw_posix_real_path(const char *path, char real[HW_PATH_MAX], struct hw_error *error)
{
    struct hw_windows_path wide;
    struct hw_windows_path existing;
    enum hw_status status = hw_windows_path(path[0] == '\0' ? "." : path, &wide, error);
    size_t length = status == HW_OK ? wcslen(wide.text) : 0;
    size_t end = length; /* Of what there is. */

    while (status == HW_OK && !windows_path_resolve(wide.text, &existing)) {
        DWORD number = GetLastError();

        while (end > 0 && wide.text[--end] != L'\\') {}
        if (!hw_windows_is_missing(number) || end == 0) {
            return hw_windows_error(error, number, "use", path);
        }
        wide.text[end] = L'\0';
    }
    if (status == HW_OK && end < length) {
        size_t size = wcslen(existing.text);

        wide.text[end] = L'\\';
        size -= size > 0 && existing.text[size - 1] == L'\\';
        if (size + length - end >= HW_WINDOWS_PATH_SIZE) {
            return hw_windows_error(error, ERROR_FILENAME_EXCED_RANGE, "use", path);
        }
        /* Every name that was cut off ends where the next one begins. */
        for (size_t i = end; i < length; i++) {
            existing.text[size++] = wide.text[i] == L'\0' ? L'\\' : wide.text[i];
        }
        existing.text[size] = L'\0';
    }
    if (status == HW_OK && !hw_windows_text(existing.text, real)) {
        return hw_windows_error(error, ERROR_FILENAME_EXCED_RANGE, "use", path);
    }
    return status;
}

bool hw_posix_may_write(const char *directory)
{
    struct hw_windows_path wide;
    struct hw_error error;
    HANDLE handle;

    if (hw_windows_path(directory, &wide, &error) != HW_OK) {
        return true;
    }
    handle = CreateFileW(wide.text, FILE_ADD_FILE,
                         FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                         OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    if (handle == INVALID_HANDLE_VALUE) {
        return GetLastError() != ERROR_ACCESS_DENIED && GetLastError() != ERROR_WRITE_PROTECT;
    }
    (void)CloseHandle(handle);
    return true;
}

#endif
