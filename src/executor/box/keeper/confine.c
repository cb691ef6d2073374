// Drops the rights that the keeper no longer needs when the boxes' file system is built. An attacker who takes over the
// keeper through a program's output can then do little more than the program.
#include "keeper.h"

#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/**
 * The capabilities that the keeper keeps, in its own user namespace. SYS_ADMIN and SYS_CHROOT: to make namespaces and
 * their mounts, and for setns into a mount namespace. DAC_READ_SEARCH: to read output files that a program left
 * unreadable. NET_ADMIN: to set up the network of boxes that have one. The filter allows no netlink, so it has no other
 * use.
 */
static const int kept[] = {CAP_SYS_ADMIN, CAP_SYS_CHROOT, CAP_DAC_READ_SEARCH, CAP_NET_ADMIN};

static void drop_capabilities(void) {
  // The bounding set limits which capabilities exec may grant.
  for (int capability = 0; prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; capability += 1)
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) die("keeper.capabilities");
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) die("keeper.capabilities");
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct sets[2] = {0};
  for (size_t index = 0; index < sizeof kept / sizeof *kept; index += 1) {
    if (kept[index] == CAP_NET_ADMIN && settings.loopback == 0) continue;
    struct __user_cap_data_struct *set = &sets[CAP_TO_INDEX(kept[index])];
    set->permitted |= CAP_TO_MASK(kept[index]);
    set->effective |= CAP_TO_MASK(kept[index]);
  }
  if (syscall(SYS_capset, &header, sets) != 0) die("keeper.capabilities");
}

uint64_t most_locked = locked_most;

static void limit(int resource, uint64_t value) {
  struct rlimit both = {value, value};
  if (setrlimit((unsigned)resource, &both) != 0) die("keeper.limit");
}

/** Sets limits once, because boxes inherit them from the keeper. */
static void set_limits(void) {
  // A box could lock pages of a toolchain's file that are charged to another slot, which could then not reclaim them.
  struct rlimit had;
  if (getrlimit(RLIMIT_MEMLOCK, &had) == 0 && had.rlim_max < most_locked) most_locked = had.rlim_max;
  limit(RLIMIT_MEMLOCK, most_locked);
  limit(RLIMIT_CORE, 0);
  // No program can leave the idle class, even if the worker may.
  limit(RLIMIT_NICE, 0);
  limit(RLIMIT_RTPRIO, 0);
}

void confine_keeper(void *instructions, size_t bytes) {
  set_limits();
  drop_capabilities();
  struct sock_fprog filter = {(unsigned short)(bytes / sizeof(struct sock_filter)), instructions};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) die("keeper.no_new_privs");
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) != 0) die("keeper.filter");
}
