/* One end of a channel between two bots, for `python -m benchmarks.channels`, which builds and starts it.

   It waits for the file `go` in its socket folder, which contains the channel, `say` or `hear`, the start in
   seconds of the host's clock, the length of a slot in seconds, the number of slots, and the bits per slot.
   The sender draws its bits from the kernel and prints them at the end. The receiver prints a number for each
   bit, which is larger if it has seen more of the sender. Nothing else passes between the two. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <glob.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

enum { MAX_BITS = 1024, NAMES = 6, LINES = 16, PIPES = 1100, CHILDREN = 40 };

static double start, period;
static int slots, width, slot;
static unsigned char bits[MAX_BITS];
static long seen[MAX_BITS];

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return t.tv_sec + t.tv_nsec * 1e-9;
}

static double nanoseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e9 + t.tv_nsec;
}

/* The time at which this part of the slot is over. */
static double at(double part) { return start + (slot + part) * period; }

static void await(double part) {
    while (now() < at(part)) usleep(100);
}

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void nothing(void) {}

/* Flush and reload: lines of a file in the layer of the base image. */

static volatile char *line[LINES], *other;

static void map_lines(void) {
    glob_t found;
    if (glob("/usr/local/lib/python3*/*-packages/numpy.libs/lib*openblas*", 0, NULL, &found)) fail("glob");
    int file = open(found.gl_pathv[0], O_RDONLY);
    char *map = mmap(NULL, 1 << 21, PROT_READ, MAP_PRIVATE, file, 0);
    if (map == MAP_FAILED) fail(found.gl_pathv[0]);
    /* The lines are in distant pages and at different offsets, so that the processor prefetches none of them. */
    for (int k = 0; k < LINES; k++) (void)*(line[k] = map + (1 << 20) + k * 3 * 4096 + k * 7 % 64 * 64);
    (void)*(other = map + (1 << 19));
}

/* The same with lines of the zero page, which the kernel maps wherever memory has been read but not written. */

static void map_zeros(void) {
    volatile char *map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED) fail("mmap");
    /* The lines are apart, because a processor may also fetch a line's neighbour. */
    for (int k = 0; k < LINES; k++) (void)*(line[k] = map + k * 256);
    static char own[64];
    other = own;
}

static void say_lines(void) {
    while (now() < at(1)) {
        for (int k = 0; k < width; k++) {
            /* Not a branch: a processor could execute the wrong one speculatively, and load the line. */
            volatile char *chosen = other + (line[k] - other) * bits[k];
            (void)*chosen;
        }
        usleep(150);
    }
}

static uint64_t ticks(volatile char *p) {
    unsigned core;
    _mm_mfence();
    uint64_t before = __rdtscp(&core);
    (void)*p;
    _mm_lfence();
    return __rdtscp(&core) - before;
}

/* Return a threshold in ticks, halfway between a load from the nearest cache and a load from memory, both measured
   with a line that only this process uses. */
static uint64_t threshold(void) {
    static volatile char own[64] __attribute__((aligned(64)));
    static uint64_t known;
    if (known) return known;
    uint64_t near = UINT64_MAX, far = UINT64_MAX, t;
    for (int n = 0; n < 1000; n++) {
        (void)*own;
        if ((t = ticks(own)) < near) near = t;
        _mm_clflush((void *)own);
        if ((t = ticks(own)) < far) far = t;
    }
    return known = (near + far) / 2;
}

static void hear_lines(void) {
    uint64_t near = threshold();
    for (;;) {
        for (int k = 0; k < width; k++) _mm_clflush((void *)line[k]);
        _mm_mfence();
        usleep(600);
        if (now() >= at(1)) return;
        for (int n = 0; n < width; n++) {
            int k = (n * 5 + 3) % width;
            if (ticks(line[k]) < near) seen[k] = 1;
        }
    }
}

/* Negative dentries: if a folder has no file with a given name, the kernel caches that for all containers. */

static double lookup(int k, int n) {
    char path[96];
    /* The start is in the name, so that no earlier run has looked for this name. */
    snprintf(path, sizeof path, "/usr/bin/%.0f-%d-%d-%d", start * 1000, slot, k, n);
    double before = nanoseconds();
    access(path, F_OK);
    return nanoseconds() - before;
}

static void say_names(void) {
    for (int k = 0; k < width; k++)
        for (int n = 0; n < NAMES; n++)
            if (bits[k]) lookup(k, n);
}

static void hear_names(void) {
    await(0.6);
    for (int k = 0; k < width; k++) {
        double least = 1e9, t;
        for (int n = 0; n < NAMES; n++)
            if ((t = lookup(k, n)) < least) least = t;
        seen[k] = -least;
    }
}

/* The other channels send a one by working in the first half of a slot, and a zero by working in the second. The
   receiver compares the halves, so it needs no threshold, and slow changes of the host's load cancel out. */

static void (*begin)(void), (*end)(void);
static long (*count)(double);

static void say_halves(void) {
    for (int half = 0; half < 2; half++) {
        await(half / 2.);
        if (bits[0] != half) begin();
        await(half / 2. + 0.4);
        if (bits[0] != half) end();
    }
}

static void hear_halves(void) {
    await(0.02);
    seen[0] = count(0.4);
    await(0.52);
    seen[0] -= count(0.9);
}

/* Inode numbers of pipes: one counter for the host, from which each core takes 1,024 at a time. */

static unsigned latest_inode(void) {
    unsigned most = 0;
    struct stat about;
    for (int n = 0, ends[2]; n < PIPES; n++) {
        if (pipe(ends)) fail("pipe");
        fstat(ends[0], &about);
        if (n == 0 || (int)(about.st_ino - most) > 0) most = about.st_ino;
        close(ends[0]);
        close(ends[1]);
    }
    return most;
}

static void take_numbers(void) {
    for (int n = 0; n < 3; n++) latest_inode();
}

static long numbers_taken(double until) {
    static unsigned before;
    await(until);
    unsigned taken = latest_inode(), since = taken - before;
    before = taken;
    return since;
}

static void use_inodes(void) { begin = take_numbers, end = nothing, count = numbers_taken; }

/* Timestamps of files, from Linux 6.13: changing a file whose time of change has just been read stamps it with the
   exact time. Until the next tick of the coarse clock, all of the host's new timestamps are at least as late. */

static int stamped;

static void stamp(void) {
    struct stat about;
    for (double end = now() + 0.38 * period; now() < end; usleep(200))
        if (fstat(stamped, &about) || fchmod(stamped, 0600)) fail("/tmp/stamped");
}

static long stamps_ahead(double until) {
    long ahead = 0;
    struct stat about;
    struct timespec coarse;
    for (int ends[2]; now() < at(until); usleep(200)) {
        if (pipe(ends)) fail("pipe");
        fstat(ends[0], &about);
        clock_gettime(CLOCK_REALTIME_COARSE, &coarse);
        ahead += about.st_ctim.tv_sec > coarse.tv_sec ||
                 (about.st_ctim.tv_sec == coarse.tv_sec && about.st_ctim.tv_nsec > coarse.tv_nsec);
        close(ends[0]);
        close(ends[1]);
    }
    return ahead;
}

static void use_stamps(void) {
    if ((stamped = open("/tmp/stamped", O_CREAT | O_RDWR, 0600)) < 0) fail("/tmp/stamped");
    begin = stamp, end = nothing, count = stamps_ahead;
}

/* Number of the host's processes: the link count of /proc. */

static pid_t child[CHILDREN];

static void fork_all(void) {
    for (int n = 0; n < CHILDREN; n++)
        if ((child[n] = fork()) == 0)
            for (;;) pause();
}

static void end_all(void) {
    for (int n = 0; n < CHILDREN; n++)
        if (child[n] > 0) kill(child[n], SIGKILL), waitpid(child[n], NULL, 0);
}

static long processes(double until) {
    struct stat about;
    await(until - 0.1);
    if (stat("/proc", &about)) fail("/proc");
    return about.st_nlink;
}

static void use_processes(void) { begin = fork_all, end = end_all, count = processes; }

/* Gaps: a bot that shares a core with a busy one gets less done. */

static pid_t spinner;

static void spin(void) {
    if ((spinner = fork()) == 0)
        for (;;)
            ;
}

static void stop(void) {
    if (spinner > 0) kill(spinner, SIGKILL), waitpid(spinner, NULL, 0);
}

static long gaps(double until) {
    double lost = 0, before = now(), t;
    for (; before < at(until); before = t)
        if ((t = now()) - before > 20e-6) lost += t - before;
    return lost * 1e6;
}

static void use_gaps(void) { begin = spin, end = stop, count = gaps; }

/* Preemptions, and moves to another core, of a receiver that works for a third of the time. */

static long moves(double until) {
    long times = 0;
    for (int before = sched_getcpu(), core; now() < at(until); before = core) {
        usleep(2000);
        for (double end = now() + 0.001; now() < end;)
            ;
        times += (core = sched_getcpu()) != before;
    }
    return times;
}

static long preemptions(double until) {
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    moves(until);
    getrusage(RUSAGE_SELF, &after);
    /* If the host is busy, a working sender leaves the receiver less time, so the receiver is preempted less often. */
    return before.ru_nivcsw - after.ru_nivcsw;
}

static void use_preemptions(void) { begin = spin, end = stop, count = preemptions; }

static void use_moves(void) { begin = spin, end = stop, count = moves; }

/* A core's own caches, and the path to memory. The sender reads more memory than fits into any cache. */

enum { LINE = 64, OWN = 512 << 10, SWEPT = 64 << 20 };

static volatile char *area;

static void map_area(void) {
    static int order[OWN / LINE];
    int lines = OWN / LINE;
    area = mmap(NULL, SWEPT, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (area == MAP_FAILED) fail("mmap");
    memset((void *)area, 1, SWEPT);
    /* In the receiver's part, each line points to the next in random order, so that none is prefetched. */
    for (int n = 0; n < lines; n++) {
        int k = random() % (n + 1);
        order[n] = order[k], order[k] = n;
    }
    for (int n = 0; n < lines; n++) *(volatile int *)(area + order[n] * LINE) = order[(n + 1) % lines] * LINE;
}

static void sweep(void) {
    if ((spinner = fork()) == 0)
        for (int n = 0;; n = (n + LINE) % SWEPT) (void)area[n];
}

static long evictions(double until) {
    uint64_t near = threshold();
    long far = 0, times = 0;
    for (; now() < at(until); times++) {
        for (int n = 0, next = 0; n < OWN / LINE; n++) {
            far += ticks(area + next) > near;
            next = *(volatile int *)(area + next);
        }
        usleep(500);
    }
    return times ? far * 1000 / times : 0;
}

static long latency(double until) {
    uint64_t sum = 0, t;
    long times = 0;
    for (; now() < at(until); usleep(500))
        for (int n = 0; n < 200; n++) {
            volatile char *p = area + random() % (SWEPT / LINE) * LINE;
            _mm_clflush((void *)p);
            if ((t = ticks(p)) < 2000) sum += t, times++; /* otherwise interrupted */
        }
    return times ? sum * 1000 / times : 0;
}

static void use_caches(void) {
    map_area();
    begin = sweep, end = stop, count = evictions;
}

static void use_memory(void) {
    map_area();
    begin = sweep, end = stop, count = latency;
}

static double duration(void (*act)(void)) {
    double before = nanoseconds();
    act();
    return nanoseconds() - before;
}

/* Futex hash table: processes with only one thread share it, and waking takes longer if another process waits in the
   same bucket. */

static int word[2048], *woken;

static void wait_all(void) {
    for (int n = 0; n < CHILDREN; n++)
        if ((child[n] = fork()) == 0)
            for (;;) syscall(SYS_futex, &word[n], FUTEX_WAIT_PRIVATE, 0, NULL);
}

static void wake(void) { syscall(SYS_futex, woken, FUTEX_WAKE_PRIVATE, 1); }

static long waking(double until) {
    double sum = 0;
    await(until - 0.1);
    for (woken = word; woken < word + sizeof word / sizeof *word; woken++) {
        double least = 1e9, t;
        for (int n = 0; n < 4; n++)
            if ((t = duration(wake)) < least) least = t;
        sum += least;
    }
    return sum;
}

static void use_futexes(void) { begin = wait_all, end = end_all, count = waking; }

/* Sockets in flight: while a socket is in its own queue, the kernel starts a clean-up whenever one of the host's
   unix sockets is closed. */

static int ends[2];

static void put_in_flight(void) {
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof(int))];
    } control = {{.cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
    struct iovec byte = {"", 1};
    struct msghdr message = {
        .msg_iov = &byte, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) fail("socketpair");
    memcpy(CMSG_DATA(&control.head), &ends[0], sizeof(int));
    if (sendmsg(ends[1], &message, 0) < 0) fail("sendmsg");
}

static void take_out(void) {
    close(ends[0]);
    close(ends[1]);
}

static void open_and_close(void) { close(socket(AF_UNIX, SOCK_STREAM, 0)); }

static long closing(double until) {
    double speeds = 0; /* the mean speed hardly depends on the few calls that are interrupted */
    long times = 0;
    for (; now() < at(until - 0.05); times++) {
        speeds += 1e9 / duration(open_and_close);
        usleep(20); /* lets the clean-up run */
    }
    return times ? -speeds / times : 0;
}

static void use_sockets(void) { begin = put_in_flight, end = take_out, count = closing; }

static const struct {
    const char *name;
    void (*prepare)(void), (*say)(void), (*hear)(void);
} channels[] = {
    {"cache", map_lines, say_lines, hear_lines},
    {"zeros", map_zeros, say_lines, hear_lines},
    {"names", nothing, say_names, hear_names},
    {"inodes", use_inodes, say_halves, hear_halves},
    {"stamps", use_stamps, say_halves, hear_halves},
    {"processes", use_processes, say_halves, hear_halves},
    {"gaps", use_gaps, say_halves, hear_halves},
    {"preemptions", use_preemptions, say_halves, hear_halves},
    {"moves", use_moves, say_halves, hear_halves},
    {"caches", use_caches, say_halves, hear_halves},
    {"memory", use_memory, say_halves, hear_halves},
    {"futexes", use_futexes, say_halves, hear_halves},
    {"sockets", use_sockets, say_halves, hear_halves},
};

int main(void) {
    char name[32], role[32];
    FILE *go;
    while (!(go = fopen("/run/arena/go", "r"))) usleep(10000);
    if (fscanf(go, "%31s %31s %lf %lf %d %d", name, role, &start, &period, &slots, &width) != 6) return 2;
    int c = 0, says = !strcmp(role, "say");
    while (strcmp(channels[c].name, name)) c++;
    channels[c].prepare();
    static char text[1 << 16];
    char *p = text;
    for (slot = 0; slot < slots; slot++) {
        memset(seen, 0, sizeof seen);
        if (getrandom(bits, width, 0) != width) fail("getrandom");
        for (int k = 0; k < width; k++) bits[k] &= 1;
        await(0);
        (says ? channels[c].say : channels[c].hear)();
        for (int k = 0; k < width && p < text + sizeof text - 32; k++)
            p += sprintf(p, "%ld ", says ? bits[k] : seen[k]);
    }
    fprintf(stderr, "%s\n", text);
}
