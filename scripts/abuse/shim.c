/* Stands between a program and the system (LD_PRELOAD) and spoils one call.
 *
 * Counts the calls that change files below a folder, over all threads, and does something to
 * the one with a given number. Variables of the environment:
 *
 *   ABUSE_UNDER    the folder, as an absolute path without links
 *   ABUSE_LOG      a file to which every counted call is written: "name<TAB>path"
 *   ABUSE_AT       number of the call, from 1
 *   ABUSE_DO       what to do at it:
 *                    ENOSPC, EIO, EINTR   the call fails (EINTR: writes and opens only)
 *                    short                a write writes half (other calls: nothing happens)
 *                    kill                 the process is killed before the call
 *                    torn                 a write writes half, any other call is made, then
 *                                         the process is killed
 *   ABUSE_ON       "on": all calls from that one on fail, not it alone. With ENOSPC those
 *                  that need no space go on working, as on a disk that is full.
 *   ABUSE_THREADS  so many threads can be started, then no more (EAGAIN)
 *
 * What a program does with the system directly, not through the C library, is not seen.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum deed { NOTHING, FAIL, SHORT, KILL, TORN };

static char under[PATH_MAX];
static size_t under_length;
static int log_file = -1;
static long at, threads_left = -1;
static int failure, from_there_on;
static enum deed deed;
static atomic_long calls, threads;

__attribute__((constructor)) static void begin(void) {
    const char *value = getenv("ABUSE_UNDER");
    if (value) under_length = (size_t)snprintf(under, sizeof under, "%s", value);
    if ((value = getenv("ABUSE_LOG")))
        log_file = (int)syscall(SYS_openat, AT_FDCWD, value, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if ((value = getenv("ABUSE_AT"))) at = atol(value);
    if ((value = getenv("ABUSE_ON"))) from_there_on = strcmp(value, "on") == 0;
    if ((value = getenv("ABUSE_THREADS"))) threads_left = atol(value);
    if (!(value = getenv("ABUSE_DO"))) return;
    deed = !strcmp(value, "kill") ? KILL : !strcmp(value, "torn") ? TORN : !strcmp(value, "short") ? SHORT : FAIL;
    failure = !strcmp(value, "ENOSPC") ? ENOSPC : !strcmp(value, "EINTR") ? EINTR : EIO;
}

/* The absolute path of what a call names, if it lies below the folder. */
static const char *place(int dir, const char *path, char *full) {
    if (!under_length) return NULL;
    size_t length = 0;
    if (!path || path[0] != '/') {
        char link[64];
        if (dir == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
        else snprintf(link, sizeof link, "/proc/self/fd/%d", dir);
        ssize_t got = readlink(link, full, PATH_MAX - 1);
        if (got < 0) return NULL;
        length = (size_t)got;
        if (path) full[length++] = '/';
    }
    if (path) snprintf(full + length, PATH_MAX - length, "%s", path);
    else full[length] = 0;
    if (strncmp(full, under, under_length) || (full[under_length] && full[under_length] != '/')) return NULL;
    return full;
}

static void die(void) {
    syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
    for (;;) pause();
}

/* Counts a call and says what is to be done with it. `space`: whether it needs space. */
static enum deed count(const char *name, int dir, const char *path, int space) {
    char full[PATH_MAX + 64], line[PATH_MAX + 128];
    int before = errno;
    const char *where = place(dir, path, full);
    enum deed verdict = NOTHING;
    if (where) {
        long number = atomic_fetch_add(&calls, 1) + 1;
        if (log_file >= 0) {
            int length = snprintf(line, sizeof line, "%s\t%s\n", name, where + under_length);
            syscall(SYS_write, log_file, line, (size_t)length);
        }
        if (at && number == at) verdict = deed;
        if (at && number > at && from_there_on && deed == FAIL) verdict = FAIL;
        if (verdict == FAIL && failure == ENOSPC && !space) verdict = NOTHING;
        if (verdict == KILL) die();
    }
    errno = before;
    return verdict;
}

#define REAL(name) __typeof__(&name) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)
/* EINTR is no answer to the calls that end here. */
#define SPOIL(verdict) if ((verdict) == FAIL && failure != EINTR) return errno = failure, -1
#define DONE(verdict, call) __typeof__(call) answer = (call); if ((verdict) == TORN) die(); return answer

#define WRITER(name, parameters, arguments, half)                                     \
    ssize_t name parameters {                                                         \
        REAL(name);                                                                   \
        enum deed verdict = count(#name, fd, NULL, 1);                                \
        if (verdict == FAIL) return errno = failure, -1;                              \
        if ((verdict == TORN || verdict == SHORT) && size > 1) {                      \
            ssize_t answer = real half;                                               \
            if (verdict == TORN) die();                                               \
            return answer;                                                            \
        }                                                                             \
        DONE(verdict, real arguments);                                                \
    }
WRITER(write, (int fd, const void *data, size_t size), (fd, data, size), (fd, data, size / 2))
WRITER(pwrite, (int fd, const void *data, size_t size, off_t from), (fd, data, size, from), (fd, data, size / 2, from))
WRITER(pwrite64, (int fd, const void *data, size_t size, off64_t from), (fd, data, size, from), (fd, data, size / 2, from))
WRITER(writev, (int fd, const struct iovec *parts, int size), (fd, parts, size), (fd, parts, size / 2))

ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t size, unsigned flags) {
    REAL(copy_file_range);
    enum deed verdict = count("copy_file_range", out, NULL, 1);
    SPOIL(verdict);
    DONE(verdict, real(in, from, out, to, size, flags));
}
ssize_t sendfile64(int out, int in, off64_t *from, size_t size) {
    ssize_t (*real)(int, int, off64_t *, size_t) = (ssize_t (*)(int, int, off64_t *, size_t))dlsym(RTLD_NEXT, "sendfile64");
    enum deed verdict = count("sendfile64", out, NULL, 1);
    SPOIL(verdict);
    DONE(verdict, real(out, in, from, size));
}

#define CHANGES (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)
#define OPENER(name, dir, head, ...)                                                  \
    int name(head, int flags, ...) {                                                  \
        REAL(name);                                                                   \
        va_list rest;                                                                 \
        va_start(rest, flags);                                                        \
        mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(rest, mode_t) : 0;     \
        va_end(rest);                                                                 \
        enum deed verdict =                                                           \
            flags & CHANGES ? count("open", dir, path, flags & O_CREAT) : NOTHING;    \
        if (verdict == FAIL) return errno = failure, -1;                              \
        DONE(verdict, real(__VA_ARGS__, flags, mode));                                \
    }
#define COMMA ,
OPENER(open, AT_FDCWD, const char *path, path)
OPENER(open64, AT_FDCWD, const char *path, path)
OPENER(openat, dir, int dir COMMA const char *path, dir, path)
OPENER(openat64, dir, int dir COMMA const char *path, dir, path)

#define CHANGER(name, shown, parameters, arguments, dir, path, space)                 \
    int name parameters {                                                             \
        REAL(name);                                                                   \
        enum deed verdict = count(shown, dir, path, space);                           \
        SPOIL(verdict);                                                               \
        DONE(verdict, real arguments);                                                \
    }
CHANGER(rename, "rename", (const char *a, const char *b), (a, b), AT_FDCWD, b, 0)
CHANGER(renameat, "rename", (int d, const char *a, int e, const char *b), (d, a, e, b), e, b, 0)
CHANGER(renameat2, "rename", (int d, const char *a, int e, const char *b, unsigned f), (d, a, e, b, f), e, b, 0)
CHANGER(unlink, "unlink", (const char *a), (a), AT_FDCWD, a, 0)
CHANGER(unlinkat, "unlink", (int d, const char *a, int f), (d, a, f), d, a, 0)
CHANGER(rmdir, "rmdir", (const char *a), (a), AT_FDCWD, a, 0)
CHANGER(mkdir, "mkdir", (const char *a, mode_t m), (a, m), AT_FDCWD, a, 1)
CHANGER(mkdirat, "mkdir", (int d, const char *a, mode_t m), (d, a, m), d, a, 1)
CHANGER(link, "link", (const char *a, const char *b), (a, b), AT_FDCWD, b, 1)
CHANGER(linkat, "link", (int d, const char *a, int e, const char *b, int f), (d, a, e, b, f), e, b, 1)
CHANGER(symlink, "symlink", (const char *a, const char *b), (a, b), AT_FDCWD, b, 1)
CHANGER(fsync, "fsync", (int fd), (fd), fd, NULL, 1)
CHANGER(fdatasync, "fsync", (int fd), (fd), fd, NULL, 1)
CHANGER(ftruncate, "truncate", (int fd, off_t n), (fd, n), fd, NULL, 0)
CHANGER(ftruncate64, "truncate", (int fd, off64_t n), (fd, n), fd, NULL, 0)

int pthread_create(pthread_t *id, const pthread_attr_t *how, void *(*what)(void *), void *with) {
    REAL(pthread_create);
    if (threads_left >= 0 && atomic_fetch_add(&threads, 1) >= threads_left) return EAGAIN;
    return real(id, how, what, with);
}
