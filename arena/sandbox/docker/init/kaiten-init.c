/* The first process of a bot's container: it starts the bot, reaps dead processes, and ends the
 * container when the bot has ended or its time is over, even if the arena is no longer running.
 *
 *     kaiten-init SECONDS WORD...
 *
 * It ends with the bot's exit code, or with 128 + the number of the signal that ended the bot. Its own
 * exit codes are those of env(1) and timeout(1): 127 if the program doesn't exist, 126 if it can't be
 * run, 125 for wrong arguments, 124 if the time is over. The kernel ends every process of a container
 * whose first process has ended.
 *
 * A bot can't stop this process. The kernel delivers no signals from inside a pid namespace to its first process
 * unless that process handles them, not even SIGKILL or SIGSTOP, and this one handles none. It counts the
 * remaining time while it waits, so it needs no signal from a timer. The bot can't access its memory (see
 * main), although both have the same uid. gVisor's kernel delivers every signal: there a bot can end this
 * process, which ends the bot too, or stop it, in which case a timer still ends it.
 *
 * Before the bot starts, this process closes everything that the bot can lock, and leaves writing the last
 * line to another process: see start_writer().
 *
 * The bot starts in a Landlock domain in which it can open only a few files in /proc and /sys: see hide().
 * A filter refuses calls that the engine's filter can't refuse: see refuse().
 */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { OVER = 124, WRONG_CALL = 125, CANNOT_RUN = 126, NOT_FOUND = 127, SIGNALLED = 128 };

static const long LONGEST = 7L * 24 * 60 * 60;

/* Doesn't use stdio, whose formatting would make up most of a static program. */
static void say(const char *const words[])
{
    char line[512];
    size_t length = 0;
    for (; *words != NULL; words++)
        for (const char *c = *words; *c != '\0' && length < sizeof line - 1; c++)
            line[length++] = *c;
    line[length++] = '\n';
    ssize_t ignored = write(STDERR_FILENO, line, length); /* an error can't be reported */
    (void)ignored;
}

#define SAY(...) say((const char *const[]){"arena: ", __VA_ARGS__, NULL})

static const char *why_not(int error, const char *program)
{
    struct stat status;
    int is_path = strchr(program, '/') != NULL;
    switch (error) {
    case ENOENT:
        if (!is_path)
            return "no such program in any folder of PATH";
        if (stat(program, &status) == 0)
            return "the file exists, but the program that runs it doesn't: the interpreter in its first line "
                   "(a Windows line ending counts as part of its name) or the loader of shared libraries";
        return "no such file";
    case EACCES:
        if (is_path && stat(program, &status) == 0 && S_ISDIR(status.st_mode))
            return "it is a folder";
        return "permission denied: make it and its folders executable for all users (chmod a+rx)";
    case ENOEXEC:
        return "neither a program for this kind of processor nor a script that begins with #!";
    default:
        return strerror(error);
    }
}

/* Landlock's numbers, which are the same on every kind of processor; the headers of some systems lack them. */
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446 };
enum { ASK_VERSION = 1, PATH_BENEATH = 1 };

static const uint64_t WRITE_FILE = 1 << 1, READ_FILE = 1 << 2, REFER = 1 << 13;

struct path_beneath {
    uint64_t access;
    int32_t parent;
} __attribute__((packed));

/* Files that language runtimes read: facts about the host, and the container's own limits. */
static const char *const FIXED[] = {
    "/proc/cgroups",
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/sys/kernel/cap_last_cap",
    "/proc/sys/kernel/osrelease",
    "/proc/sys/kernel/pid_max",
    "/proc/sys/kernel/threads-max",
    "/proc/sys/net/core/somaxconn",
    "/proc/sys/vm/max_map_count",
    "/proc/sys/vm/overcommit_memory",
    "/proc/version",
    "/sys/devices/system/cpu/online",
    "/sys/devices/system/cpu/possible",
    "/sys/devices/system/cpu/present",
    "/sys/fs/cgroup/cgroup.controllers",
    "/sys/fs/cgroup/cpu.max",
    "/sys/fs/cgroup/cpu.weight",
    "/sys/fs/cgroup/cpu/cpu.cfs_period_us",
    "/sys/fs/cgroup/cpu/cpu.cfs_quota_us",
    "/sys/fs/cgroup/cpu/cpu.shares",
    "/sys/fs/cgroup/cpuset.cpus.effective",
    "/sys/fs/cgroup/cpuset/cpuset.cpus",
    "/sys/fs/cgroup/memory.high",
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory.swap.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    "/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes",
    "/sys/fs/cgroup/memory/memory.soft_limit_in_bytes",
    "/sys/fs/cgroup/memory/memory.use_hierarchy",
    "/sys/fs/cgroup/pids.max",
    "/sys/fs/cgroup/pids/pids.max",
    "/sys/kernel/mm/transparent_hugepage/enabled",
    "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size",
    NULL,
};

/* Files about itself that the bot's first process may read, unlike the processes that it starts. */
static const char *const OWN[] = {"cgroup", "cmdline", "maps", "mountinfo", "stat", "statm", "status", NULL};

/* A rule refers to an inode, and /proc creates a new inode for a file whose name was dropped from the kernel's
 * cache. A descriptor that stays open keeps the name in the cache. Descriptors above this number are closed. */
enum { HIGHEST_KEPT = 200 };

/* Returns 0 if the path may be opened from now on, or does not exist. Links are not followed: one in the root of
 * a bot's image could lead to /proc. */
static int allow(int rules, int folder, const char *path, uint64_t access)
{
    struct stat status;
    int file = openat(folder, path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0)
        return 0;
    if (fstat(file, &status) < 0 || !S_ISDIR(status.st_mode))
        access &= ~REFER;
    struct path_beneath rule = {access, file};
    int failed = syscall(ADD_RULE, rules, PATH_BENEATH, &rule, 0) < 0;
    if (file > HIGHEST_KEPT)
        close(file);
    return failed;
}

static int is_hidden(const char *name)
{
    return !strcmp(name, ".") || !strcmp(name, "..") || !strcmp(name, "proc") || !strcmp(name, "sys");
}

/* Returns a ruleset under which a process can open only the files FIXED in /proc and /sys, and all files
 * elsewhere; -1 if the kernel has no Landlock; -2 on failure.
 *
 * Both folders contain counters of the whole machine. Some are in each process's own folder, which no mount
 * can cover: pagemap and smaps disclose whether another container uses the same page of a layer, and
 * net/softnet_stat counts the packets of the host. */
static int hide(void)
{
    int version = syscall(CREATE_RULESET, NULL, 0, ASK_VERSION);
    if (version < 1)
        return -1;
    /* REFER, which version 1 lacks, allows moving files to other folders. */
    uint64_t access = READ_FILE | WRITE_FILE | (version > 1 ? REFER : 0);
    int rules = syscall(CREATE_RULESET, &access, sizeof access, 0);
    DIR *top = opendir("/");
    if (rules < 0 || top == NULL)
        return -2;
    int failed = 0;
    for (struct dirent *entry; (entry = readdir(top)) != NULL;)
        if (!is_hidden(entry->d_name))
            failed |= allow(rules, dirfd(top), entry->d_name, access);
    closedir(top);
    for (const char *const *path = FIXED; *path != NULL; path++)
        failed |= allow(rules, AT_FDCWD, *path, READ_FILE);
    return failed ? -2 : rules;
}

/* Called in the bot's own process, just before it becomes the bot. Without no_new_privs, which the engine
 * sets, the kernel refuses with EPERM; the arena's canary then reports no-new-privileges and host-counters as
 * missing. */
static int enter(int rules)
{
    int self = open("/proc/self", O_PATH | O_CLOEXEC), failed = 0;
    for (const char *const *name = OWN; *name != NULL; name++)
        failed |= allow(rules, self, *name, READ_FILE);
    return failed || (syscall(RESTRICT_SELF, rules, 0) < 0 && errno != EPERM);
}

/* Called in the bot's own process too. statfs and fstatfs disclose how full the host's disk is, which visitors
 * of the arena's site can change. The engine's filter must allow them, because runc makes one of these calls
 * under it before it starts this program. From then on the bot can't set filters of its own either: no limit
 * counts their memory. Nor can it use Landlock: a rule for a file that containers share, such as this program, is
 * slower to remove while another container has a rule for the same file.
 *
 * The numbers are those of native calls: the engine's filter allows no others. If no filter can be set, the
 * arena's canary reports that the calls are allowed. */
static void refuse(void)
{
    struct sock_filter steps[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_statfs, 10, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fstatfs, 9, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CREATE_RULESET, 8, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ADD_RULE, 7, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, RESTRICT_SELF, 6, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[0])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SECCOMP, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_TIMERSLACK, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_THP_DISABLE, 2, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    struct sock_fprog filter = {sizeof steps / sizeof *steps, steps};
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

/* Gives the bot's sleeps no slack: with slack, the kernel could end them at another bot's timer on the same core.
 * Disables huge pages, since all containers share the one that contains zeros. The filter makes both settings
 * final. */
static void be_exact(void)
{
    prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
}

/* Keeps the names of the bot's own files, to which the rules refer, in the kernel's cache. */
static void keep(pid_t bot)
{
    char path[32] = "/proc/";
    size_t length = strlen(path), digits = 1;
    for (pid_t rest = bot; rest >= 10; rest /= 10)
        digits++;
    for (size_t place = digits; place > 0; place--, bot /= 10)
        path[length + place - 1] = (char)('0' + bot % 10);
    int folder = open(path, O_PATH | O_CLOEXEC);
    for (const char *const *name = OWN; *name != NULL; name++)
        openat(folder, *name, O_PATH | O_CLOEXEC);
}

static void become(char *const words[], int rules)
{
    if (rules >= 0 && enter(rules)) {
        SAY("can't hide /proc from the bot: ", strerror(errno));
        _exit(WRONG_CALL);
    }
    be_exact();
    refuse();
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    execvp(words[0], words);
    int error = errno;
    SAY("can't start ", words[0], ": ", why_not(error, words[0]));
    _exit(error == ENOENT || error == ENOTDIR ? NOT_FOUND : CANNOT_RUN);
}

/* Containers share the host's user and time namespaces, whose inodes the kernel creates when a process looks at
 * them and drops when none does any more. A new inode has a new time, so a bot could see whether another
 * container holds the inode. This process holds both inodes until it ends. */
static void hold_namespaces(void)
{
    open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
    open("/proc/self/ns/time", O_RDONLY | O_CLOEXEC);
}

static void await(const sigset_t *signals)
{
    while (sigwaitinfo(signals, NULL) < 0)
        ;
}

/* Starts a process that keeps stdin, stdout and stderr open in place of the first process, and writes the last
 * line to stderr when it gets the signal. Returns its process id, or -1 on failure.
 *
 * A bot can hold the lock of its stderr's pipe as long as it lives. Whoever writes to the pipe, opens it or is
 * the last to close it then waits for the lock, and not even SIGKILL ends the wait. A process closes its files
 * when it is killed, and the first process does so before the kernel kills the others. So if it still had
 * these files, neither its deadline nor the engine could end the container. The writer may wait for the lock:
 * the kernel kills the bot too once the first process has ended. */
static pid_t start_writer(const char *seconds, const sigset_t *order)
{
    pid_t writer = fork();
    if (writer == 0) {
        await(order);
        SAY("ended by the hard deadline of ", seconds, " s");
        _exit(0);
    }
    return writer;
}

enum { WRITING_MS = 3000 };

/* Waits at most WRITING_MS: the bot may have stopped the writer, and processes that have left the bot's group may
 * hold the lock. An honest bot's line takes longer only if the host is very busy, and is then missing. */
static void write_last_line(pid_t writer)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    kill(writer, SIGCHLD);
    for (int waited = 0; waited < WRITING_MS && waitpid(writer, NULL, WNOHANG) == 0; waited += 10)
        nanosleep(&pause, NULL);
}

enum { AT_ONCE = 64 };

/* Reaps ended processes, but only some at a time: a bot may create them faster than they are reaped, and the
 * time must be checked. Returns the exit code of the bot if it was among them, otherwise -1. */
static int collect(pid_t bot, int *more)
{
    int code = -1, status, count = 0;
    pid_t ended = 0;
    while (count++ < AT_ONCE && (ended = waitpid(-1, &status, WNOHANG)) > 0)
        if (ended == bot)
            code = WIFSIGNALED(status) ? SIGNALLED + WTERMSIG(status) : WEXITSTATUS(status);
    *more = ended > 0;
    return code;
}

static int watch(pid_t bot, long seconds, const sigset_t *death)
{
    struct timespec now, end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += seconds;
    for (;;) {
        int more, code = collect(bot, &more);
        if (code >= 0)
            return code;
        clock_gettime(CLOCK_MONOTONIC, &now);
        struct timespec left = {end.tv_sec - now.tv_sec, end.tv_nsec - now.tv_nsec};
        if (left.tv_nsec < 0) {
            left.tv_sec -= 1;
            left.tv_nsec += 1000000000;
        }
        if (left.tv_sec < 0)
            return -1;
        if (more)
            continue;
        /* If a process has ended since the last check, its signal is pending. */
        sigtimedwait(death, NULL, &left);
    }
}

/* For gVisor: SIGKILL reaches a stopped process too, and no other process can change its timers. Linux doesn't
 * deliver this signal to the first process of a pid namespace, which can't be stopped anyway. */
static void end_even_if_stopped(long seconds)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
    struct itimerspec when = {.it_value = {.tv_sec = seconds}};
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
        timer_settime(timer, 0, &when, NULL);
}

int main(int count, char *words[])
{
    char *rest = NULL;
    long seconds = count > 2 ? strtol(words[1], &rest, 10) : 0;
    if (seconds <= 0 || seconds > LONGEST || *rest != '\0') {
        SAY("usage: kaiten-init SECONDS WORD..., with SECONDS at most a week");
        return WRONG_CALL;
    }
    /* The bot will have the same uid. This denies it access to this process's memory before it starts. */
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);

    hold_namespaces();
    end_even_if_stopped(seconds + 1);

    sigset_t death;
    sigemptyset(&death);
    sigaddset(&death, SIGCHLD);
    sigprocmask(SIG_BLOCK, &death, NULL);

    int rules = hide();
    if (rules < -1) {
        SAY("can't hide /proc from the bot: ", strerror(errno));
        return WRONG_CALL;
    }

    pid_t writer = start_writer(words[1], &death);
    pid_t bot = writer < 0 ? -1 : fork();
    if (bot < 0) {
        SAY("can't start a process: ", strerror(errno));
        return CANNOT_RUN;
    }
    if (bot == 0) {
        await(&death); /* until the first process is ready */
        become(words + 2, rules);
    }
    keep(bot);
    for (int file = STDIN_FILENO; file <= STDERR_FILENO; file++)
        close(file);
    kill(bot, SIGCHLD);

    int code = watch(bot, seconds, &death);
    if (code >= 0)
        return code;
    kill(-bot, SIGKILL); /* before the line, so that the bot no longer competes with the writer */
    write_last_line(writer);
    return OVER;
}
