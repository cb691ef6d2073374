// Builds the read-only file system of a keeper's boxes, in new namespaces.
//
// The user namespace has only one uid: the slot's, mapped to 1000. The network namespace has not even a loopback
// interface that is up. The filter allows only Unix sockets, and no socket outlives its box. For boxes with a network of
// their own, loopback.c says what differs.
#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { box_uid = 1000 };

const char *const scratch_paths[scratch_count] = {"/box", "/tmp", "/dev/shm"};
int box_namespace;

/** Creates the file if it does not exist. */
static void write_path(const char *path, const char *text, const char *step) {
  int descriptor = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0444);
  if (descriptor < 0 || write(descriptor, text, strlen(text)) != (ssize_t)strlen(text)) die_with(step, path);
  close(descriptor);
}

static void enter_user_namespace(void) {
  unsigned uid = geteuid(), gid = getegid();
  if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET) != 0) die("keeper.unshare");
  char map[64];
  snprintf(map, sizeof map, "%d %u 1", box_uid, uid);
  write_path("/proc/self/uid_map", map, "keeper.map");
  write_path("/proc/self/setgroups", "deny", "keeper.map");
  snprintf(map, sizeof map, "%d %u 1", box_uid, gid);
  write_path("/proc/self/gid_map", map, "keeper.map");
  write_path("/proc/sys/user/max_user_namespaces", "0", "keeper.limit");
}

static void make_parents(char *path) {
  for (char *end = strchr(path + 1, '/'); end != NULL; end = strchr(end + 1, '/')) {
    *end = 0;
    if (mkdir(path, 0755) != 0 && errno != EEXIST) die_with("root.create", path);
    *end = '/';
  }
}

/**
 * A temporary tmpfs. `nothing` is the upper one of the two lower layers of each overlay, and empty; `whole` is the mount
 * point for single files.
 */
static const char layers[] = "/layers", nothing[] = "/layers/nothing", whole[] = "/layers/whole";

static void open_layers(void) {
  if (mkdir(layers, 0755) != 0 || mount("tmpfs", layers, "tmpfs", MS_NOSUID | MS_NODEV, "size=4k,nr_inodes=8") != 0 ||
      mkdir(nothing, 0755) != 0 || mkdir(whole, 0755) != 0)
    die("root.layer");
}

static void close_layers(void) {
  if (umount2(layers, MNT_DETACH) != 0 || rmdir(layers) != 0) die("root.layer");
}

static void set_layer(int context, unsigned command, const char *key, const char *value, const char *source) {
  if (fsconfig(context, command, key, value, 0) != 0) die_with("root.layer", source);
}

/**
 * Mounts an overlay of a host directory. Its inodes belong to this keeper alone, over the host's pages, so a lock on a
 * file locks it only in this keeper's boxes. Free space and free inodes are those of `nothing`. The kernel refuses a
 * directory with mounts inside, because the overlay would leave them out.
 */
static void mount_layer(const char *source, const char *directory, const char *target) {
  int context = fsopen("overlay", FSOPEN_CLOEXEC);
  if (context < 0) die_with("root.layer", source);
  char lower[4096];
  if (strpbrk(directory, ":\\") != NULL ||
      snprintf(lower, sizeof lower, "%s:/old%s", nothing, directory) >= (int)sizeof lower)
    die_with("root.layout", source);
  set_layer(context, FSCONFIG_SET_FLAG, "userxattr", NULL, source);
  set_layer(context, FSCONFIG_SET_STRING, "lowerdir", lower, source);
  set_layer(context, FSCONFIG_CMD_CREATE, NULL, NULL, source);
  int layer = fsmount(context, FSMOUNT_CLOEXEC, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV);
  if (layer < 0 || move_mount(layer, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH) != 0)
    die_with("root.layer", source);
  close(layer);
  close(context);
}

static void bind_file(const char *source, const char *target, uint64_t attributes) {
  if (mount(source, target, NULL, MS_BIND, NULL) != 0) die_with("root.bind", target);
  struct mount_attr wanted = {.attr_set = MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | attributes};
  if (syscall(SYS_mount_setattr, AT_FDCWD, target, AT_RECURSIVE, &wanted, sizeof wanted) != 0)
    die_with("root.restrict", target);
}

/** Shows one file, from an overlay of its directory. */
static void bind_from_layer(const char *source, const char *target) {
  char directory[4096], file[4096];
  const char *name = strrchr(source, '/') + 1;
  snprintf(directory, sizeof directory, "%.*s", (int)(name - source), source);
  snprintf(file, sizeof file, "%s/%s", whole, name);
  mount_layer(source, directory, whole);
  bind_file(file, target, MOUNT_ATTR_NODEV);
  if (umount2(whole, MNT_DETACH) != 0) die("root.layer");
}

/** Copies a file, because its directory may contain mounts of a container, and can then have no overlay. */
static void copy_host_file(const char *source, const char *target, mode_t mode) {
  char block[16 * 1024];
  int input = open(source, O_RDONLY | O_CLOEXEC), output = open(target, O_WRONLY | O_CLOEXEC);
  if (input < 0 || output < 0) die_with("root.copy", source);
  ssize_t bytes;
  while ((bytes = read(input, block, sizeof block)) > 0)
    if (write(output, block, (size_t)bytes) != bytes) die_with("root.copy", target);
  if (bytes < 0 || fchmod(output, mode & 0555) != 0) die_with("root.copy", source);
  close(input);
  close(output);
}

/** Files up to this size are copied, such as the linker's cache and the JDK's certificates. */
enum { largest_copy_bytes = 512 * 1024 };

static void show_host_path(const char *source, const char *target) {
  char from[4096];
  snprintf(from, sizeof from, "/old%s", source);
  struct stat found;
  if (stat(from, &found) != 0) die_with("root.find", source);
  if (S_ISDIR(found.st_mode)) {
    if (mkdir(target, 0755) != 0 && errno != EEXIST) die_with("root.create", target);
    mount_layer(source, source, target);
    return;
  }
  write_path(target, "", "root.create");
  if (S_ISCHR(found.st_mode))
    bind_file(from, target, MOUNT_ATTR_NOEXEC);
  else if (found.st_size <= largest_copy_bytes)
    copy_host_file(from, target, found.st_mode);
  else
    bind_from_layer(source, target);
}

static void show_host(char *layout, size_t bytes) {
  const char *end = layout + bytes;
  for (char *entry = layout; entry < end;) {
    char *source = entry + strlen(entry) + 1;
    char *target = source + strlen(source) + 1;
    make_parents(target);
    if (strcmp(entry, "bind") == 0) {
      show_host_path(source, target);
    } else if (strcmp(entry, "link") == 0) {
      if (symlink(source, target) != 0) die_with("root.link", target);
    } else {
      write_path(target, source, "root.create");
    }
    entry = target + strlen(target) + 1;
  }
}

/**
 * The kernel makes a new proc only where a complete one is visible, but boxes should not see that one. If each box
 * unmounted it, a hello program would take a tenth longer, because the kernel then waits for every processor.
 */
static void show_proc_to_keeper(int proc) {
  box_namespace = openat(proc, "self/ns/mnt", O_RDONLY | O_CLOEXEC);
  if (box_namespace < 0 || unshare(CLONE_NEWNS) != 0) die("root.proc");
  if (move_mount(proc, "", AT_FDCWD, "/proc", MOVE_MOUNT_F_EMPTY_PATH) != 0) die("root.proc");
  close(proc);
}

void build_root(char *layout, size_t bytes) {
  enter_user_namespace();
  if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) die("root.private");
  if (mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755,size=8m,nr_inodes=4096") != 0) die("root.mount");
  if (chdir("/tmp") != 0 || mkdir("old", 0755) != 0) die("root.create");
  if (syscall(SYS_pivot_root, ".", "old") != 0) die("root.pivot");
  if (chdir("/") != 0) die("root.enter");
  umask(0);
  open_layers();
  show_host(layout, bytes);
  close_layers();
  for (size_t index = 0; index < scratch_count; index += 1)
    if (mkdir(scratch_paths[index], 0755) != 0) die_with("root.create", scratch_paths[index]);
  if (mkdir("/proc", 0555) != 0) die("root.create");
  int proc = open_tree(AT_FDCWD, "/old/proc", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
  if (proc < 0) die("root.bind");
  // The interpreter checks that its script exists before it opens it.
  write_path("/box/main.py", "", "root.create");
  if (umount2("/old", MNT_DETACH) != 0 || rmdir("/old") != 0) die("root.leave");
  if (mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, NULL) != 0) die("root.restrict");
  show_proc_to_keeper(proc);
  if (chdir("/box") != 0) die("root.enter");
  umask(022);
}
