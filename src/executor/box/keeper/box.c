// Makes boxes in the file system of root.c.
//
// A box's first process, cloned into new namespaces, mounts what is private, drops all rights and forks the program's
// process, which waits. Then it reaps, and tells how the program ended. With its end the kernel kills the rest of its
// pid namespace.
#define _GNU_SOURCE
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
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { open_files_most = 1024, usual_stack_bytes = 8 << 20 };

static struct sock_fprog filter;
static bool yields_cpu;
/** Events: the program's process waits; the keeper lets it go; the program has ended. */
static int ready, go, ended;
/** A pidfd of the keeper. */
static int keeper;
/** The request's `may_end_quietly`, kept as the shared memory is unmapped. */
static bool quiet;
/** The process's name before it became `keeper`. */
static char own_name[16];

void open_boxes(void) {
  prctl(PR_GET_NAME, own_name, 0, 0, 0);
  prctl(PR_SET_NAME, "keeper", 0, 0, 0);
  // Limits what exec may grant, not the keeper itself.
  for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability += 1)
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) fail("keeper.capabilities");
  ready = eventfd(0, EFD_CLOEXEC);
  go = eventfd(0, EFD_CLOEXEC);
  ended = eventfd(0, EFD_CLOEXEC);
  if (ready < 0 || go < 0 || ended < 0) fail("keeper.event");
  keeper = (int)syscall(SYS_pidfd_open, getpid(), 0);
  if (keeper < 0) fail("keeper.event");
}

void load_filter(const void *instructions, size_t bytes) {
  filter.len = (unsigned short)(bytes / sizeof *filter.filter);
  filter.filter = malloc(bytes);
  if (filter.filter == NULL) fail("keeper.memory");
  memcpy(filter.filter, instructions, bytes);
}

void yield_cpu(void) { yields_cpu = true; }

/** Leaves the failure in the shared memory: in a box nobody else can be told. */
static _Noreturn void give_up(const char *step) {
  shared->error = errno;
  strncpy(shared->error_step, step, sizeof shared->error_step - 1);
  _exit(70);
}

static int open_scratch(uint64_t bytes, const char *mode) {
  char size[32];
  snprintf(size, sizeof size, "%llu", (unsigned long long)bytes);
  int context = fsopen("tmpfs", FSOPEN_CLOEXEC);
  if (context < 0 || fsconfig(context, FSCONFIG_SET_STRING, "size", size, 0) != 0 ||
      fsconfig(context, FSCONFIG_SET_STRING, "mode", mode, 0) != 0 ||
      fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) != 0)
    fail("box.scratch");
  int scratch = fsmount(context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
  if (scratch < 0) fail("box.scratch");
  close(context);
  return scratch;
}

static void resize_scratch(int scratch, uint64_t bytes) {
  char size[32];
  snprintf(size, sizeof size, "%llu", (unsigned long long)bytes);
  int context = fspick(scratch, "", FSPICK_EMPTY_PATH | FSPICK_CLOEXEC);
  if (context < 0 || fsconfig(context, FSCONFIG_SET_STRING, "size", size, 0) != 0 ||
      fsconfig(context, FSCONFIG_CMD_RECONFIGURE, NULL, NULL, 0) != 0)
    fail("box.resize");
  close(context);
}

void resize_box(struct box *box, uint64_t box_bytes, uint64_t scratch_bytes) {
  if (box->sizes[0] != box_bytes) resize_scratch(box->mounts[0], box_bytes);
  if (box->sizes[1] == scratch_bytes) return;
  resize_scratch(box->mounts[1], scratch_bytes);
  resize_scratch(box->mounts[2], scratch_bytes);
}

static void mount_privately(const struct box *box) {
  // The kernel makes a new proc only where a whole one is visible; that must go before the new one is mounted.
  int context = fsopen("proc", FSOPEN_CLOEXEC);
  // Only processes: the rest tells about the host.
  if (context < 0 || fsconfig(context, FSCONFIG_SET_STRING, "subset", "pid", 0) != 0 ||
      fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) != 0)
    give_up("box.proc");
  int proc = fsmount(context, FSMOUNT_CLOEXEC,
                     MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC);
  if (proc < 0 || umount2("/proc", MNT_DETACH) != 0) give_up("box.proc");
  if (move_mount(proc, "", AT_FDCWD, "/proc", MOVE_MOUNT_F_EMPTY_PATH) != 0) give_up("box.proc");
  for (size_t index = 0; index < scratch_count; index += 1)
    if (move_mount(box->mounts[index], "", AT_FDCWD, scratch_paths[index], MOVE_MOUNT_F_EMPTY_PATH) != 0)
      give_up("box.scratch");
}

static void set_limit(int resource, uint64_t soft, uint64_t hard) {
  struct rlimit limit = {soft, hard};
  if (setrlimit((unsigned)resource, &limit) != 0) give_up("box.limit");
}

static void drop_rights(void) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct none[2] = {0};
  if (syscall(SYS_capset, &header, none) != 0) give_up("box.capabilities");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) give_up("box.no_new_privs");
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) != 0) give_up("box.filter");
}

/** Not inlined, as its stack would show in a program that goes on without exec. */
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
  // A submission may compile to a file that cannot start: it then ends as in a shell. It lies in /box; toolchains are
  // named by full paths, and a missing one is our failure.
  bool is_its_own = strncmp(strings[0], "./", 2) == 0 || strncmp(strings[0], "/box/", 5) == 0;
  if (!is_its_own) give_up("box.exec");
  dprintf(2, "%s: %s\n", strings[0], strerror(errno));
  _exit(errno == ENOENT ? 127 : 126);
}

/**
 * Where groups share the CPU, this counts only within the group: programs lose nothing, and keeper and first process never
 * wait behind many processes to kill them.
 */
static void enter_idle_class(void) {
  struct sched_param none = {0};
  if (yields_cpu && sched_setscheduler(0, SCHED_IDLE, &none) != 0) give_up("box.class");
}

static void limit_stack(bool unlimited) {
  struct rlimit stack;
  getrlimit(RLIMIT_STACK, &stack);
  uint64_t usual = stack.rlim_max < usual_stack_bytes ? stack.rlim_max : usual_stack_bytes;
  set_limit(RLIMIT_STACK, unlimited ? stack.rlim_max : usual, stack.rlim_max);
}

/** The program's process before its first instruction. Returns only when it goes on without exec. */
static void become_program(const struct box *box, enum start start) {
  uint64_t one = 1;
  if (dup2(box->input_reader, 0) < 0 || dup2(box->output[1], 1) < 0 || dup2(box->errors[1], 2) < 0)
    give_up("box.streams");
  if (setsid() < 0) give_up("box.session");
  if (start == ahead) {
    enter_idle_class();
    limit_stack(runtime_has_all_stack());
    start_runtime(box, ready);
    give_up("box.exec");
  }
  // Lets the program's processes read each other's /proc entries, as elsewhere.
  if (start == by_fork && prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) != 0) give_up("box.dumpable");
  if (write(ready, &one, sizeof one) != sizeof one) give_up("box.ready");
  if (read(go, &one, sizeof one) != sizeof one) give_up("box.go");
  enter_idle_class();
  const struct request *request = &shared->request;
  // In case the keeper dies.
  uint64_t cpu_seconds = last_cpu_seconds(request);
  set_limit(RLIMIT_CPU, cpu_seconds, cpu_seconds);
  set_limit(RLIMIT_FSIZE, request->file_size_limit, request->file_size_limit);
  limit_stack(request->unlimited_stack != 0);
  if (start == by_fork) {
    prctl(PR_SET_NAME, own_name, 0, 0, 0);
    quiet = request->may_end_quietly != 0;
    if (close_range(3, ~0U, 0) != 0) give_up("box.descriptors");
    munmap(shared, sizeof *shared);
    return;
  }
  start_program(request);
}

bool has_ended(void) { return __atomic_load_n(&shared->ended, __ATOMIC_ACQUIRE) != 0; }

bool may_end_quietly(void) { return quiet; }

/** Reaps orphans, tells how the program ended, and ends with it. */
static _Noreturn void watch_program(pid_t program) {
  // A namespace's first process gets signals from inside only for its handlers, which an interpreter has.
  for (int number = 1; number < NSIG; number += 1) signal(number, SIG_DFL);
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
    _exit(write(ended, &one, sizeof one) == sizeof one ? 0 : 70);
  }
}

/** Returns only in a program's process that needs no exec. */
static void become_box(struct box *box, enum start start) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) != 0) give_up("box.death");
  // The keeper may have ended before.
  struct pollfd gone = {keeper, POLLIN, 0};
  if (poll(&gone, 1, 0) != 0) _exit(70);
  int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (score < 0 || write(score, "500", 3) != 3) give_up("box.score");
  close(score);
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) give_up("box.dumpable");
  if (unshare(CLONE_NEWCGROUP) != 0) give_up("box.cgroup");
  if (sethostname("box", 3) != 0) give_up("box.hostname");
  mount_privately(box);
  if (chdir("/box") != 0) give_up("box.enter");
  set_limit(RLIMIT_CORE, 0, 0);
  set_limit(RLIMIT_NOFILE, open_files_most, open_files_most);
  // No program leaves the idle class, whatever the worker may do.
  set_limit(RLIMIT_NICE, 0, 0);
  set_limit(RLIMIT_RTPRIO, 0, 0);
  drop_rights();
  pid_t program = fork();
  if (program < 0) give_up("box.fork");
  if (program == 0) {
    become_program(box, start);
    return;
  }
  close_range(0, (unsigned)ended - 1, 0);
  close_range((unsigned)ended + 1, ~0U, 0);
  watch_program(program);
}

/** A box that was killed early leaves its event set. */
static void clear_event(int event) {
  struct pollfd waits = {event, POLLIN, 0};
  uint64_t count;
  if (poll(&waits, 1, 0) > 0 && read(event, &count, sizeof count) != sizeof count) fail("keeper.event");
}

bool prepare_box(struct box *box, uint64_t box_bytes, uint64_t scratch_bytes, enum start start) {
  memset(&shared->ended, 0, sizeof *shared - offsetof(struct shared, ended));
  *box = (struct box){0};
  clear_event(ready);
  clear_event(go);
  clear_event(ended);
  box->ended = ended;
  box->sizes[0] = box_bytes;
  box->sizes[1] = scratch_bytes;
  box->mounts[0] = open_scratch(box_bytes, "0700");
  box->mounts[1] = open_scratch(scratch_bytes, "1777");
  box->mounts[2] = open_scratch(scratch_bytes, "1777");
  // A file, to be mapped or reopened; sealed in release_box.
  box->input = memfd_create("stdin", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", box->input);
  box->input_reader = open(path, O_RDONLY | O_CLOEXEC);
  if (box->input_reader < 0 || fchmod(box->input, 0444) != 0) fail("box.stdin");
  if (pipe2(box->output, O_CLOEXEC) != 0 || pipe2(box->errors, O_CLOEXEC) != 0) fail("box.pipe");
  if (start == ahead) prepare_runtime(box);
  int group = prepare_group();
  struct clone_args arguments = {
      .flags = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_PIDFD |
               (group >= 0 ? CLONE_INTO_CGROUP : 0),
      .pidfd = (uint64_t)(uintptr_t)&box->pidfd,
      .exit_signal = SIGCHLD,
      .cgroup = group >= 0 ? (unsigned)group : 0,
  };
  long pid = syscall(SYS_clone3, &arguments, sizeof arguments);
  if (pid < 0) fail("box.clone");
  if (pid == 0) {
    become_box(box, start);
    return true;
  }
  box->pid = (int)pid;
  if (group >= 0) close(group);
  close(box->input_reader);
  close(box->output[1]);
  close(box->errors[1]);
  if (start == ahead) leave_runtime(box);
  if (fcntl(box->output[0], F_SETFL, O_NONBLOCK) != 0 || fcntl(box->errors[0], F_SETFL, O_NONBLOCK) != 0)
    fail("box.pipe");
  return false;
}

void write_file(struct box *box, const char *name, bool executable, int *descriptor) {
  // Nothing of the program runs yet: no name here can be its link.
  char directory[256];
  for (const char *end = strchr(name, '/'); end != NULL; end = strchr(end + 1, '/')) {
    snprintf(directory, sizeof directory, "%.*s", (int)(end - name), name);
    if (mkdirat(box->mounts[0], directory, 0755) != 0 && errno != EEXIST) fail_saying("box.file", name);
  }
  *descriptor = openat(box->mounts[0], name, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC,
                       executable ? 0555 : 0444);
  if (*descriptor < 0) fail_saying("box.file", name);
  if (fchmod(*descriptor, executable ? 0555 : 0444) != 0) fail_saying("box.file", name);
}

void wait_until_ready(struct box *box, int seconds) {
  if (box->ready) return;
  struct pollfd events[] = {{ready, POLLIN, 0}, {box->pidfd, POLLIN, 0}};
  int found = poll(events, 2, seconds * 1000);
  uint64_t count;
  if (found > 0 && events[0].revents != 0 && read(ready, &count, sizeof count) == sizeof count) {
    box->ready = true;
    return;
  }
  if (shared->error_step[0] != 0) {
    errno = shared->error;
    fail(shared->error_step);
  }
  fail_saying("box.setup", found == 0 ? "the box was not ready in time" : "the box ended before it was ready");
}

void release_box(struct box *box) {
  if (fcntl(box->input, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0) fail("box.stdin");
  size_t held = shared->request.output_files > 0 ? 1 : 0;
  for (size_t index = held; index < scratch_count; index += 1) close(box->mounts[index]);
  if (has_runtime()) {
    release_runtime(box, &shared->request);
    return;
  }
  uint64_t one = 1;
  if (write(go, &one, sizeof one) != sizeof one) fail("box.go");
}

void kill_box(struct box *box) {
  if (syscall(SYS_pidfd_send_signal, box->pidfd, SIGKILL, NULL, 0) != 0 && errno != ESRCH) fail("box.kill");
}
