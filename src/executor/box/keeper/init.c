// The first two processes of a box, until the program's first instruction.
//
// The first one, init, is cloned into new namespaces. It mounts the private file systems, drops all rights and forks
// the program's process, which waits. Then init reaps processes, and reports how the program ended. When init ends, the
// kernel kills the rest of its pid namespace.
#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { usual_stack_bytes = 8 << 20, block_bytes = 512 };
/** Seconds for which the keeper may hang. It looks at least once a second. */
enum { looks_missed_most = 3 };

/**
 * Limits of open files and of locked bytes, for a process and for all processes of a box together. The kernel charges
 * its memory for some descriptors to no cgroup, and a locked page may be charged to another slot.
 */
enum { open_files_most = 1024, open_files_least = 256, open_files_together = 128 * 1024 };
enum { locked_least = 4 << 10, locked_together = 4 << 20 };

static struct sock_fprog filter;
/** A pidfd of the keeper. */
static int keeper;
int host_proc;
/** The process's name before it became `keeper`. */
static char own_name[16];

void open_init(void) {
  prctl(PR_GET_NAME, own_name, 0, 0, 0);
  prctl(PR_SET_NAME, "keeper", 0, 0, 0);
  keeper = (int)syscall(SYS_pidfd_open, getpid(), 0);
  host_proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (keeper < 0 || host_proc < 0) die("keeper.proc");
  // No program may read the memory of an init, which is a copy of this process.
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) die("keeper.dumpable");
}

void load_filter(const void *instructions, size_t bytes) {
  filter.len = (unsigned short)(bytes / sizeof *filter.filter);
  filter.filter = malloc(bytes);
  if (filter.filter == NULL) die("keeper.memory");
  memcpy(filter.filter, instructions, bytes);
}

/** Writes the failure into the shared memory, because the keeper reads nothing else from a box, and exits. */
static _Noreturn void die_in_box(const char *step) {
  shared->error = errno;
  strncpy(shared->error_step, step, sizeof shared->error_step - 1);
  _exit(70);
}

static void mount_privately(const struct box *box) {
  int context = fsopen("proc", FSOPEN_CLOEXEC);
  // /proc shows only processes, because its other files are about the host.
  if (context < 0 || fsconfig(context, FSCONFIG_SET_STRING, "subset", "pid", 0) != 0 ||
      fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) != 0)
    die_in_box("box.proc");
  int proc = fsmount(context, FSMOUNT_CLOEXEC,
                     MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
  if (proc < 0) die_in_box("box.proc");
  if (setns(box_namespace, CLONE_NEWNS) != 0 || unshare(CLONE_NEWNS) != 0) die_in_box("box.mounts");
  if (move_mount(proc, "", AT_FDCWD, "/proc", MOVE_MOUNT_F_EMPTY_PATH) != 0) die_in_box("box.proc");
  for (size_t index = 0; index < scratch_count; index += 1)
    if (move_mount(box->mounts[index], "", AT_FDCWD, scratch_paths[index], MOVE_MOUNT_F_EMPTY_PATH) != 0)
      die_in_box("box.scratch");
}

static void set_limit(int resource, uint64_t soft, uint64_t hard) {
  struct rlimit limit = {soft, hard};
  if (setrlimit((unsigned)resource, &limit) != 0) die_in_box("box.limit");
}

/** The keeper has set no_new_privs, and has loaded a filter. Both apply here, too (confine.c). */
static void drop_rights(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct none[2] = {0};
  if (syscall(SYS_capset, &header, none) != 0) die_in_box("box.capabilities");
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) != 0) die_in_box("box.filter");
}

/** Executes the program. Not inlined, because a program that goes on without exec could otherwise see this stack. */
static __attribute__((noinline)) _Noreturn void start_program(const struct request *request) {
  char *strings[strings_most + 2];
  char *next = shared->block;
  size_t count = request->arguments + request->variables + 2;
  for (size_t index = 0; index < count; index += 1) {
    bool ends = index == request->arguments || index == count - 1;
    strings[index] = ends ? NULL : next;
    if (!ends) next += strlen(next) + 1;
  }
  execve(strings[0], strings, strings + request->arguments + 1);
  // A submission may compile to a file that cannot start. Such a file is in /box, and its run ends as in a shell. A
  // toolchain has another path. If it cannot start, that is a failure of the sandbox.
  bool is_its_own = strncmp(strings[0], "./", 2) == 0 || strncmp(strings[0], "/box/", 5) == 0;
  if (!is_its_own) die_in_box("box.exec");
  dprintf(2, "%s: %s\n", strings[0], strerror(errno));
  _exit(errno == ENOENT ? 127 : 126);
}

/**
 * Enters the idle class if groups share the CPU. The class then has an effect only inside the group: programs lose
 * nothing, and keeper and init never wait behind the many processes that they must kill.
 */
static void enter_idle_class(void) {
  struct sched_param none = {0};
  if (settings.shares_cpu != 0 && sched_setscheduler(0, SCHED_IDLE, &none) != 0) die_in_box("box.class");
}

static uint64_t divide(uint64_t together, uint64_t processes, uint64_t least, uint64_t most) {
  uint64_t each = processes == 0 ? most : together / processes;
  return each < least ? least : each > most ? most : each;
}

struct own_limits find_own_limits(const struct request *request) {
  uint64_t locked = divide(locked_together, request->processes, locked_least, locked_most);
  return (struct own_limits){
      // Doubled, because the kernel's ticks may exceed the group's CPU time by a fifth.
      .cpu_seconds = 2 * ((request->cpu_nanoseconds + 999999999) / 1000000000) + 1,
      // One block more than the disk holds, so that a full disk causes ENOSPC and not SIGXFSZ.
      .file_size = request->box_bytes + block_bytes,
      .open_files = divide(open_files_together, request->processes, open_files_least, open_files_most),
      .locked_bytes = locked < most_locked ? locked : most_locked,
  };
}

static void limit_stack(bool unlimited) {
  struct rlimit stack;
  getrlimit(RLIMIT_STACK, &stack);
  uint64_t usual = stack.rlim_max < usual_stack_bytes ? stack.rlim_max : usual_stack_bytes;
  set_limit(RLIMIT_STACK, unlimited ? stack.rlim_max : usual, stack.rlim_max);
}

/** When memory is short, the kernel must kill the program before keeper and init. */
static void prefer_for_oom_kill(void) {
  // A process that is not dumpable may not write its score.
  if (prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0) die_in_box("box.dumpable");
  int score = openat(host_proc, "self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (score < 0 || write(score, "500", 3) != 3) die_in_box("box.score");
  close(score);
}

/** The program's process before its first instruction. Returns only when it goes on without exec. */
static void become_program(const struct box *box) {
  uint64_t one = 1;
  prefer_for_oom_kill();
  if (dup2(box->input_reader, 0) < 0 || dup2(box->output[1], 1) < 0 || dup2(box->errors[1], 2) < 0)
    die_in_box("box.streams");
  if (setsid() < 0) die_in_box("box.session");
  if (has_runtime()) {
    enter_idle_class();
    limit_stack(settings.runtime_unlimited_stack != 0);
    start_runtime(box);
    die_in_box("box.exec");
  }
  if (forks) warm_up();
  if (write(box->reports, &one, sizeof one) != sizeof one) die_in_box("box.ready");
  if (read(box->go, &one, sizeof one) != sizeof one) die_in_box("box.go");
  enter_idle_class();
  const struct request *request = &shared->request;
  if (request->merges_stderr != 0 && dup2(1, 2) < 0) die_in_box("box.streams");
  struct own_limits own = find_own_limits(request);
  set_limit(RLIMIT_CPU, own.cpu_seconds, own.cpu_seconds);
  set_limit(RLIMIT_FSIZE, own.file_size, own.file_size);
  set_limit(RLIMIT_NOFILE, own.open_files, own.open_files);
  set_limit(RLIMIT_MEMLOCK, own.locked_bytes, own.locked_bytes);
  limit_stack(request->unlimited_stack != 0);
  if (forks) {
    prctl(PR_SET_NAME, own_name, 0, 0, 0);
    if (close_range(3, ~0U, 0) != 0) die_in_box("box.descriptors");
    munmap(shared, sizeof *shared);
    return;
  }
  start_program(request);
}

/**
 * Removes an interpreter's signal handlers. The init of a pid namespace gets signals from inside only if it has a handler
 * for them.
 */
static void forget_handlers(void) {
  for (int number = 1; number < NSIG; number += 1) signal(number, SIG_DFL);
}

/**
 * Kills the program when the keeper hangs. A process that writes to stdout holds the pipe's lock while its memory is
 * read. It can make that take as long as it likes, and the keeper, which must read the pipe, then neither looks at the
 * limits nor hears the worker. Counts this process's own looks, because a host that stood still is no fault of the
 * program's: keeper and init stand still together.
 */
static void watch_keeper(int number) {
  static uint64_t looks;
  static int64_t looked;
  static int missed;
  (void)number;
  // The program may send this signal, too.
  if (now() - looked < INT64_C(1000000000) / 2) return;
  looked = now();
  uint64_t seen = __atomic_load_n(&shared->looks, __ATOMIC_RELAXED);
  missed = seen == looks ? missed + 1 : 0;
  looks = seen;
  if (looks > 0 && missed >= looks_missed_most) kill(-1, SIGKILL);
}

static void begin_watch(void) {
  struct sigaction action = {.sa_handler = watch_keeper, .sa_flags = SA_RESTART};
  struct itimerval second = {{1, 0}, {1, 0}};
  if (sigaction(SIGALRM, &action, NULL) != 0 || setitimer(ITIMER_REAL, &second, NULL) != 0) _exit(70);
}

/** Reaps orphans, and reports how the program ended. Exits when the program has ended. */
static _Noreturn void watch_program(const struct box *box, pid_t program) {
  for (;;) {
    siginfo_t info;
    if (waitid(P_ALL, 0, &info, WEXITED) != 0) {
      if (errno == EINTR) continue;
      _exit(70);
    }
    if (info.si_pid != program) continue;
    shared->end_nanoseconds = now();
    shared->end_code = info.si_code;
    shared->end_status = info.si_status;
    __atomic_store_n(&shared->ended, 1, __ATOMIC_RELEASE);
    uint64_t one = 1;
    _exit(write(box->reports, &one, sizeof one) == sizeof one ? 0 : 70);
  }
}

/** Becomes init. Returns only in a program's process that goes on without exec. */
static void become_box(const struct box *box) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) die_in_box("box.death");
  // The keeper may have ended before this setting.
  struct pollfd gone = {keeper, POLLIN, 0};
  if (poll(&gone, 1, 0) != 0) _exit(70);
  if (unshare(CLONE_NEWCGROUP) != 0) die_in_box("box.cgroup");
  if (sethostname("box", 3) != 0) die_in_box("box.hostname");
  const char *failed = settings.loopback != 0 ? raise_loopback() : NULL;
  if (failed != NULL) die_in_box(failed);
  mount_privately(box);
  if (chdir("/box") != 0) die_in_box("box.enter");
  set_limit(RLIMIT_NOFILE, open_files_most, open_files_most);
  drop_rights();
  pid_t program = fork();
  if (program < 0) die_in_box("box.fork");
  if (program == 0) {
    become_program(box);
    return;
  }
  // Done before the keeper starts the program, which could send signals. Otherwise clone_init has cleared them.
  if (forks) forget_handlers();
  uint64_t one = 1;
  if (write(box->reports, &one, sizeof one) != sizeof one) _exit(70);
  close_range(0, (unsigned)box->reports - 1, 0);
  close_range((unsigned)box->reports + 1, ~0U, 0);
  begin_watch();
  watch_program(box, program);
}

bool clone_init(struct box *box, int group) {
  struct clone_args arguments = {
      // A program that goes on without exec needs the interpreter's handlers.
      .flags = CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_PIDFD | (forks ? 0 : CLONE_CLEAR_SIGHAND) |
               (settings.loopback != 0 ? CLONE_NEWNET : 0) | (group >= 0 ? CLONE_INTO_CGROUP : 0),
      .pidfd = (uint64_t)(uintptr_t)&box->pidfd,
      .exit_signal = SIGCHLD,
      .cgroup = group >= 0 ? (unsigned)group : 0,
  };
  box->pid = (int)syscall(SYS_clone3, &arguments, sizeof arguments);
  if (box->pid < 0) die("box.clone");
  if (box->pid > 0) return true;
  become_box(box);
  return false;
}
