// Makes boxes in the file system of root.c, fills them, starts their programs, and kills them. The first two processes
// of a box are in init.c.
#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/**
 * The sizes of the box's file systems: those of the last request until the box is resized. Programs must not read them.
 */
static struct {
  uint64_t box_bytes, scratch_bytes;
} *sizes;

void open_boxes(void) {
  sizes = allocate_unforked(sizeof *sizes);
  sizes->box_bytes = sizes->scratch_bytes = 64 << 20;
  open_init();
}

static bool set_size(int context, uint64_t bytes) {
  char size[32];
  snprintf(size, sizeof size, "%llu", (unsigned long long)bytes);
  return fsconfig(context, FSCONFIG_SET_STRING, "size", size, 0) == 0;
}

/** @param mode of the root directory. NULL for the default of tmpfs, which is 1777. */
static int open_scratch(uint64_t bytes, const char *mode) {
  int context = fsopen("tmpfs", FSOPEN_CLOEXEC);
  if (context < 0 || !set_size(context, bytes) ||
      (mode != NULL && fsconfig(context, FSCONFIG_SET_STRING, "mode", mode, 0) != 0) ||
      // The default would be half as many as the host has pages.
      fsconfig(context, FSCONFIG_SET_STRING, "nr_inodes", "1000000", 0) != 0 ||
      fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) != 0)
    die("box.scratch");
  int scratch = fsmount(context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
  if (scratch < 0) die("box.scratch");
  close(context);
  return scratch;
}

static void resize_scratch(int scratch, uint64_t bytes) {
  int context = fspick(scratch, "", FSPICK_EMPTY_PATH | FSPICK_CLOEXEC);
  if (context < 0 || !set_size(context, bytes) || fsconfig(context, FSCONFIG_CMD_RECONFIGURE, NULL, NULL, 0) != 0)
    die("box.resize");
  close(context);
}

void resize_box(const struct box *box, uint64_t box_bytes, uint64_t scratch_bytes) {
  if (sizes->box_bytes != box_bytes) resize_scratch(box->mounts[0], box_bytes);
  sizes->box_bytes = box_bytes;
  if (sizes->scratch_bytes == scratch_bytes) return;
  resize_scratch(box->mounts[1], scratch_bytes);
  resize_scratch(box->mounts[2], scratch_bytes);
  sizes->scratch_bytes = scratch_bytes;
}

void require_no_failure(void) {
  if (shared->error_step[0] == 0) return;
  errno = shared->error;
  die(shared->error_step);
}

bool has_ended(void) { return __atomic_load_n(&shared->ended, __ATOMIC_ACQUIRE) != 0; }

static void open_streams(struct box *box) {
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", box->input);
  box->input_reader = open(path, O_RDONLY | O_CLOEXEC);
  if (box->input_reader < 0) die("box.stdin");
  if (pipe2(box->output, O_CLOEXEC) != 0 || fcntl(box->output[0], F_SETFL, O_NONBLOCK) != 0) die("box.pipe");
}

bool prepare_box(struct box *box) {
  memset(&shared->ended, 0, sizeof *shared - offsetof(struct shared, ended));
  *box = (struct box){0};
  box->reports = eventfd(0, EFD_CLOEXEC);
  box->go = eventfd(0, EFD_CLOEXEC);
  if (box->reports < 0 || box->go < 0) die("box.event");
  box->mounts[0] = open_scratch(sizes->box_bytes, "0700");
  box->mounts[1] = open_scratch(sizes->scratch_bytes, NULL);
  box->mounts[2] = open_scratch(sizes->scratch_bytes, NULL);
  // The input is a file, so that programs can map and reopen it. release_box seals it.
  box->input = memfd_create("stdin", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fchmod(box->input, 0444) != 0) die("box.stdin");
  if (pipe2(box->errors, O_CLOEXEC) != 0) die("box.pipe");
  if (settings.own_streams != 0) open_carriers(box);
  else open_streams(box);
  if (has_runtime()) prepare_runtime(box);
  int group = cgroup->prepare();
  if (!clone_init(box, group)) return true;
  if (group >= 0) close(group);
  if (settings.own_streams == 0) {
    close(box->input_reader);
    close(box->output[1]);
  }
  close(box->errors[1]);
  if (has_runtime()) leave_runtime(box);
  if (fcntl(box->errors[0], F_SETFL, O_NONBLOCK) != 0) die("box.pipe");
  return false;
}

int create_file(const struct box *box, const char *name, bool executable) {
  // The program does not run yet, so no name here can be a link that it made.
  char directory[256];
  for (const char *end = strchr(name, '/'); end != NULL; end = strchr(end + 1, '/')) {
    snprintf(directory, sizeof directory, "%.*s", (int)(end - name), name);
    if (mkdirat(box->mounts[0], directory, 0755) != 0 && errno != EEXIST) die_with("box.file", name);
  }
  mode_t mode = executable ? 0555 : 0444;
  int file = openat(box->mounts[0], name, O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, mode);
  if (file < 0) die_with("box.file", name);
  return file;
}

void wait_until_ready(struct box *box, int seconds) {
  // Init and the program's process report once each.
  for (uint64_t reported = 0; !box->ready; box->ready = reported == 2) {
    struct pollfd events[] = {{box->reports, POLLIN, 0}, {box->pidfd, POLLIN, 0}};
    int found = poll(events, 2, seconds * 1000);
    uint64_t more = 0;
    bool reports = found > 0 && events[0].revents != 0 && read(box->reports, &more, sizeof more) == sizeof more;
    reported += more;
    if (reports && !has_ended()) continue;
    require_no_failure();
    die_with("box.setup", found == 0 ? "the box was not ready in time" : "the box ended before it was ready");
  }
}

void release_box(struct box *box) {
  if (fcntl(box->input, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) != 0) die("box.stdin");
  size_t held = shared->request.output_files > 0 ? 1 : 0;
  for (size_t index = held; index < scratch_count; index += 1) close(box->mounts[index]);
  if (has_runtime()) {
    release_runtime(box, &shared->request);
    return;
  }
  uint64_t one = 1;
  if (write(box->go, &one, sizeof one) != sizeof one) die("box.go");
}

void kill_box(struct box *box) {
  if (syscall(SYS_pidfd_send_signal, box->pidfd, SIGKILL, NULL, 0) != 0 && errno != ESRCH) die("box.kill");
}
