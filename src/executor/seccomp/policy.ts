// The system calls that a box may not make, their errnos, and the reasons: one row per reason. This is a deny list, because an
// allow list would break with each runtime upgrade. It has an upper bound: calls newer than the last reviewed one are refused.
// The errno is ENOSYS where libraries have a fallback, otherwise the errno that the kernel would give.
import { hasAnyBit, isNoneOf, isOneOf, refuse } from './row.ts'
import type { FilterRow } from './row.ts'
import type { Architecture } from './syscall-number.ts'

/**
 * `mseal`, Linux 6.10. Not allowed yet: 463–466 *xattrat (refused like setxattr), 467 open_tree_attr and 470 listns
 * (mounts, namespaces), 468–469 file_getattr, file_setattr (inode flags).
 */
export const lastReviewedNumber = 462

/** A range of call numbers; both ends are included. */
export type NumberRange = readonly [first: number, last: number]

/**
 * Numbers without a call at the review. They are refused, so that a newer kernel's call is not allowed unseen. x86_64 has since
 * got 335 uretprobe and 336 uprobe: newer kernels exempt them from filters, and kill callers other than the kernel's
 * trampoline. 244–259 of the generic table are specific to each architecture; aarch64 has none of them.
 */
export const unassignedNumbers: Readonly<Record<Architecture, readonly NumberRange[]>> = {
  x86_64: [[335, 423]],
  aarch64: [
    [244, 259],
    [295, 423],
  ],
}

/** True when no reviewed call has this number. */
export function isUnknown(architecture: Architecture, number: number): boolean {
  const unassigned = unassignedNumbers[architecture]
  return (
    number > lastReviewedNumber ||
    unassigned.some(([first, last]) => number >= first && number <= last)
  )
}

/**
 * Returns the rows that refuse O_DIRECT, whose bit depends on the architecture: a pipe then carries packets, each of which costs
 * the reader a page and a call; a file is read without the page cache.
 */
function refuseDirect(architecture: Architecture, bit: number): readonly FilterRow[] {
  return [
    refuse('EINVAL', 'open pipe2', hasAnyBit(1, bit)),
    refuse('EINVAL', 'openat', hasAnyBit(2, bit)),
    refuse('EINVAL', 'fcntl', isOneOf(1, 4), hasAnyBit(2, bit)),
  ].map((row) => ({ ...row, architecture }))
}

const unixFamily: readonly FilterRow[] = [
  // Only UNIX. INET reaches nothing, but its error queues and half-open connections are charged to no cgroup and outlive the
  // box; ALG (CVE-2026-31431), NETLINK, PACKET, VSOCK, RXRPC, TIPC … have many kernel bugs.
  refuse('EAFNOSUPPORT', 'socket socketpair', isNoneOf(0, 1)),
]

const unixOptions: readonly FilterRow[] = [
  // Only the level SOCKET: Unix sockets have no other.
  refuse('ENOPROTOOPT', 'setsockopt', isNoneOf(1, 1)),
  // Only REUSEADDR, BROADCAST, SNDBUF, RCVBUF, KEEPALIVE, LINGER, PASSCRED, RCVLOWAT, RCVTIMEO, SNDTIMEO. BPF programs
  // (ATTACH_*), time stamps whose errors are charged to no cgroup (TIMESTAMP*), uncharged groups (REUSEPORT), pages of files
  // (ZEROCOPY) and options that programs do not use are refused.
  refuse('ENOPROTOOPT', 'setsockopt', isNoneOf(2, 2, 6, 7, 8, 9, 13, 16, 18, 20, 21, 66, 67)),
]

/**
 * Returns all rows of a filter.
 * @param families rows that refuse socket families.
 * @param options further rows for the allowed families: socket types, protocols, options.
 */
export const listRows = (
  families: readonly FilterRow[],
  options: readonly FilterRow[],
): readonly FilterRow[] => [
  // Namespaces and mounts

  // Its flags are behind a pointer that no filter can follow; libc falls back to clone only on ENOSYS.
  refuse('ENOSYS', 'clone3'),
  // CLONE_NEW*: a process has every capability inside a new user namespace.
  refuse('EPERM', 'clone', hasAnyBit(0, 0x7e020000)),
  // Flags are an unsigned long; the high half has no meaning yet, and a newer kernel must not give it one unnoticed.
  refuse('EPERM', 'clone', { ...isNoneOf(0, 0), word: 'high' }),
  // Namespaces and mounts form the box.
  refuse('EPERM', 'unshare setns mount umount2 pivot_root chroot'),
  // The newer mount interface (CVE-2021-41133: Flatpak did not refuse it).
  refuse(
    'ENOSYS',
    'open_tree move_mount fsopen fsconfig fsmount fspick mount_setattr listmount statmount quotactl_fd',
  ),

  // Other processes

  // The box's pid 1 shares the program's uid.
  refuse('EPERM', 'ptrace process_vm_readv process_vm_writev kcmp'),
  // Access to another process: its descriptors, the release of its memory.
  refuse('ENOSYS', 'pidfd_getfd process_madvise process_mrelease'),
  // On init: a limit on its CPU time would let the program end it, and the result of the program would be unknown.
  refuse('EPERM', 'prlimit64', isOneOf(0, 1)),
  // On init: if it must wait for the other processes, it outlives SIGKILL.
  refuse(
    'EPERM',
    'sched_setscheduler sched_setparam sched_setattr sched_setaffinity',
    isOneOf(0, 1),
  ),
  // SCHED_OTHER: succeeds without effect. In a box of the idle class the kernel would answer EPERM, and Free Pascal, which
  // requests it for each thread, would then have no threads.
  refuse('done', 'sched_setscheduler', isOneOf(1, 0)),
  // On init, too; PRIO_PGRP and PRIO_USER may also name it.
  refuse('EPERM', 'setpriority', isNoneOf(0, 0)),
  // The same, by its number.
  refuse('EPERM', 'setpriority', isOneOf(1, 1)),
  // On init, too; IOPRIO_WHO_PGRP and _USER may also name it.
  refuse('EPERM', 'ioprio_set', isNoneOf(0, 1)),
  // The same, by its number.
  refuse('EPERM', 'ioprio_set', isOneOf(1, 1)),
  // PR_SET_MM changes what /proc shows of a process.
  refuse('EPERM', 'prctl', isOneOf(0, 35)),
  // PR_SCHED_CORE: a core-scheduling cookie makes the neighbour's hyperthread idle.
  refuse('EINVAL', 'prctl', isOneOf(0, 62)),

  // Kernel surface that exploits start from and no program needs

  // Makes calls that no filter sees; has had many kernel bugs.
  refuse('ENOSYS', 'io_uring_setup io_uring_enter io_uring_register'),
  // Help exploits: stop the kernel during a copy, place code in it, read its timing, hide memory from it.
  refuse('ENOSYS', 'userfaultfd bpf perf_event_open memfd_secret modify_ldt'),
  // A classic BPF program becomes kernel code that the caller chooses (JIT spraying); the box has its filter already.
  refuse('ENOSYS', 'seccomp'),
  // PR_SET_SECCOMP: the older way to load such a program.
  refuse('EINVAL', 'prctl', isOneOf(0, 22)),
  // MSG_OOB on Unix sockets: a use after free reached from browser sandboxes (CVE-2025-38236).
  refuse('EOPNOTSUPP', 'sendto', hasAnyBit(3, 1)),
  // 4 GiB or more at once. The kernel goes through the whole length without looking for signals: one call for 32 TiB took
  // seconds, and a box of processes that were in it outlived its kill by a minute.
  refuse('ENOMEM', 'mincore', { ...isNoneOf(1, 0), word: 'high' }),
  // Dead or administrative calls.
  refuse(
    'ENOSYS',
    'lookup_dcookie nfsservctl uselib sysfs ustat _sysctl remap_file_pages kexec_load kexec_file_load',
  ),
  // Newer calls that no supported C library, JVM or Python makes; every caller falls back.
  refuse(
    'ENOSYS',
    'futex_wake futex_wait futex_requeue lsm_get_self_attr lsm_set_self_attr lsm_list_modules set_mempolicy_home_node',
  ),
  // READ_IMPLIES_EXEC, no address randomisation; 0 and the query stay allowed.
  refuse('EPERM', 'personality', isNoneOf(0, 0, 0xffffffff)),
  // TIOCSTI, TIOCLINUX type into a terminal (CVE-2017-5226, CVE-2023-28100); TIOCSETD loads line disciplines.
  refuse('EPERM', 'ioctl', isOneOf(1, 0x5412, 0x541c, 0x5423)),
  // SIOCGIFBR, SIOCSIFBR, SIOCGIFVLAN, SIOCSIFVLAN, SIOCBR*: load the modules for bridges and VLANs for any caller.
  refuse(
    'EPERM',
    'ioctl',
    isOneOf(1, 0x8940, 0x8941, 0x8982, 0x8983, 0x89a0, 0x89a1, 0x89a2, 0x89a3),
  ),
  // FIEMAP, FIBMAP, ext4's GET_ES_CACHE, PRECACHE_EXTENTS, GETSTATE and CLEAR_ES_CACHE: show where the toolchain is on the
  // host's disk, and which parts are in memory.
  refuse(
    'EOPNOTSUPP',
    'ioctl',
    isOneOf(1, 0xc020660b, 0x1, 0xc020662a, 0x6612, 0x40046629, 0x6628),
  ),
  // FS_IOC_GETFSUUID (and ext4's), GETFSSYSFSPATH, GETFSLABEL: show which disk of which host it is.
  refuse('EOPNOTSUPP', 'ioctl', isOneOf(1, 0x80111500, 0x8008662c, 0x80811501, 0x81009431)),

  // Sockets
  ...families,
  // Only STREAM, DGRAM, SEQPACKET: the types of Unix sockets.
  refuse('ESOCKTNOSUPPORT', 'socket socketpair', { ...isNoneOf(1, 1, 2, 5), mask: 0xf }),
  // Only the default protocol, 0 or PF_UNIX (1).
  refuse('EPROTONOSUPPORT', 'socket socketpair', isOneOf(0, 1), isNoneOf(2, 0, 1)),
  ...options,
  // Their control messages are behind a pointer: descriptors sent in cycles keep a kernel thread at work that no cgroup is
  // charged for, and can hold resources of an ended box.
  refuse('EPERM', 'sendmsg sendmmsg'),

  // The page cache, which all boxes share through the toolchain's files

  // Pass page-cache pages on: the primitive of Dirty Pipe, Copy Fail, Dirty Frag; sendfile into a pipe or a file stays allowed,
  // because libraries call it.
  refuse('ENOSYS', 'splice tee vmsplice'),
  // Shows which pages of a shared file another box has read.
  refuse('ENOSYS', 'cachestat'),
  // RWF_NOWAIT shows the same, RWF_DONTCACHE evicts pages.
  refuse('EOPNOTSUPP', 'preadv2', isNoneOf(5, 0)),
  // Only advice, but POSIX_FADV_DONTNEED evicts the toolchain from memory for every box.
  refuse('done', 'fadvise64 readahead'),
  // MADV_MERGEABLE: the timing of merged pages shows the memory of another box.
  refuse('EINVAL', 'madvise', isOneOf(2, 12)),
  // PR_SET_MEMORY_MERGE, PR_GET_MEMORY_MERGE: the same for all memory of a process.
  refuse('EINVAL', 'prctl', isOneOf(0, 67, 68)),
  // Its flags are behind a pointer; every caller falls back to openat.
  refuse('ENOSYS', 'openat2'),
  ...refuseDirect('x86_64', 0x4000),
  ...refuseDirect('aarch64', 0x10000),

  // State that outlives a run or is seen by another box

  // SO_COOKIE, SO_NETNS_COOKIE, SO_PEERPIDFD: numbers that the host never uses twice, so that runs could count each other.
  refuse('ENOPROTOOPT', 'getsockopt', isOneOf(1, 1), isOneOf(2, 57, 71, 77)),
  // STATX_MNT_ID_UNIQUE: such a number, too; each box takes dozens of them.
  refuse('EINVAL', 'statx', hasAnyBit(3, 0x4000)),
  // NS_GET_MNTNS_ID, NS_GET_ID: the same for namespaces.
  refuse('EINVAL', 'ioctl', isOneOf(1, 0x8008b705, 0x8008b70d)),
  // NS_MNT_GET_INFO, NS_MNT_GET_NEXT, NS_MNT_GET_PREV: the same, with an answer of 16 bytes or more; the kernel compares the
  // number alone.
  refuse('EINVAL', 'ioctl', { ...isOneOf(1, 10, 11, 12), mask: 0xff }, hasAnyBit(1, 0x3ff00000)),
  // Keyrings are not namespaced and outlive a run.
  refuse('ENOSYS', 'keyctl add_key request_key'),
  // A watch on /usr/bin/python3 shows when other boxes start it.
  refuse('ENOSYS', 'inotify_init inotify_init1 fanotify_init'),
  // F_SETLEASE, F_NOTIFY: leases and watches on shared files pass signals between boxes.
  refuse('EPERM', 'fcntl', isOneOf(1, 1024, 1026)),
  // F_SET_RW_HINT leaves a mark on the shared inode on kernels that do not check the owner.
  refuse('EINVAL', 'fcntl', isOneOf(1, 1036, 1038)),
  // fs.aio-max-nr is one limit for the whole host: a box could use it up, or send signals with it.
  refuse('ENOSYS', 'io_setup'),

  // Memory that the memory limit does not count

  // An access list takes 64 KiB of kernel memory per file, charged to no cgroup: 2,000 files took 130 MB (Linux 6.18).
  refuse('EOPNOTSUPP', 'setxattr lsetxattr fsetxattr'),
  // MAP_HUGETLB: the host's reserved huge pages are outside the memory limit; PostgreSQL may use them.
  refuse('ENOMEM', 'mmap', hasAnyBit(3, 0x40000)),
  // MFD_HUGETLB: the same.
  refuse('EINVAL', 'memfd_create', hasAnyBit(1, 0x4)),
  // SHM_HUGETLB: the same.
  refuse('EPERM', 'shmget', hasAnyBit(2, 0x800)),

  // The host's disk

  // Nothing in a box is durable; a loop of these calls on the host's files stalls the disk for everyone.
  refuse('done', 'sync syncfs fsync fdatasync sync_file_range'),
  // MS_SYNC: the same through a mapping; MS_ASYNC, with which libunwind probes addresses, stays allowed.
  refuse('done', 'msync', hasAnyBit(2, 0x4)),

  // Files and devices

  // Open files by inode, past every mount (the "shocker" escape).
  refuse('EPERM', 'name_to_handle_at open_by_handle_at'),
  // Would make devices; only FIFOs are ordinary.
  refuse('EPERM', 'mknod', { ...isNoneOf(1, 0x1000), mask: 0xf000 }),
  refuse('EPERM', 'mknodat', { ...isNoneOf(2, 0x1000), mask: 0xf000 }),

  // Administration and NUMA

  // Administration; the program has no capability for it, and with the filter the kernel need not check.
  refuse(
    'EPERM',
    'syslog acct quotactl swapon swapoff reboot init_module finit_module delete_module create_module iopl ioperm settimeofday clock_settime clock_adjtime adjtimex sethostname setdomainname vhangup',
  ),
  // NUMA placement; the JVM, g++ and CPython work without it.
  refuse('EPERM', 'move_pages migrate_pages mbind set_mempolicy get_mempolicy'),
]

/** The filter of boxes without a network, which allows Unix sockets only. */
export const filterRows = listRows(unixFamily, unixOptions)

/** The calls with which a keeper makes boxes and opens the output files of a program. Its boxes may not make them. */
const keeperCalls: ReadonlySet<string> = new Set(
  'clone3 unshare setns fsopen fsconfig fsmount fspick move_mount sethostname prctl openat2'.split(
    ' ',
  ),
)

/** Splits rows by their calls: those of the keeper's own filter, which its boxes inherit, and those that its boxes add. */
export function splitRows(rows: readonly FilterRow[]): Record<'keeper' | 'box', FilterRow[]> {
  const pick = (isBox: boolean): FilterRow[] =>
    rows
      .map((row) => ({
        ...row,
        calls: row.calls.filter((name) => keeperCalls.has(name) === isBox),
      }))
      .filter(({ calls }) => calls.length > 0)
  return { keeper: pick(false), box: pick(true) }
}
