// The filter's policy: which system calls a box may not make, what they answer, and why; a row a reason.
// A deny list bounded above: calls newer than the last one reviewed do not exist in a box, so that what a later kernel
// adds stays closed until someone reads it and raises the number. An allow list would break with each runtime upgrade.
// Refusals that a library has a fallback for say ENOSYS; what the kernel itself would refuse says what the kernel would.
import { hasAnyBit, isNoneOf, isOneOf, refuse } from './seccomp-row.ts'
import type { FilterRow } from './seccomp-row.ts'
import type { Architecture } from './syscall-number.ts'

/**
 * The newest call that was reviewed: `mseal`, Linux 6.10. Not yet let in: 463–466 *xattrat (closed like setxattr),
 * 467 open_tree_attr and 470 listns (mounts, namespaces), 468–469 file_getattr, file_setattr (inode flags).
 */
export const lastReviewedNumber = 462

/**
 * Numbers without a call when the table was reviewed; a kernel that fills one must not open it.
 * x86_64: 335 uretprobe and 336 uprobe since then, which newer kernels exempt from filters and which kill any caller
 * but the kernel's own trampoline.
 */
export const unassignedNumbers: Readonly<
  Record<Architecture, { readonly first: number; readonly last: number }>
> = {
  x86_64: { first: 335, last: 423 },
  aarch64: { first: 295, last: 423 },
}

/** The policy. */
export const filterRows: readonly FilterRow[] = [
  // Namespaces and mounts
  refuse(
    'ENOSYS',
    ['clone3'],
    'its flags lie behind a pointer that no filter can follow; libc falls back to clone on ENOSYS alone',
  ),
  refuse(
    'EPERM',
    ['clone'],
    'CLONE_NEW*: a new user namespace gives back every capability inside it',
    hasAnyBit(0, 0x7e020000),
  ),
  refuse(
    'EPERM',
    ['clone'],
    'flags are an unsigned long; the high half has no meaning yet and must not get one unseen',
    { argument: 0, word: 'high', test: 'none_of', values: [0] },
  ),
  refuse(
    'EPERM',
    ['unshare', 'setns', 'mount', 'umount2', 'pivot_root', 'chroot'],
    'namespaces and mounts are the box itself',
  ),
  refuse(
    'ENOSYS',
    [
      'open_tree',
      'move_mount',
      'fsopen',
      'fsconfig',
      'fsmount',
      'fspick',
      'mount_setattr',
      'listmount',
      'statmount',
      'quotactl_fd',
    ],
    'the newer mount interface (CVE-2021-41133: Flatpak forgot it)',
  ),

  // Other processes
  refuse(
    'EPERM',
    ['ptrace', 'process_vm_readv', 'process_vm_writev', 'kcmp'],
    "the box's pid 1 shares the program's uid",
  ),
  refuse(
    'ENOSYS',
    ['pidfd_getfd', 'process_madvise', 'process_mrelease'],
    "reach into another process: its descriptors, its memory's fate",
  ),
  refuse(
    'EPERM',
    ['prlimit64'],
    'the first process of the box: with a limit on its CPU time the program could end it, and we would not know how the program ended',
    isOneOf(0, 1),
  ),
  refuse('EPERM', ['prctl'], 'PR_SET_MM rewrites what /proc says of a process', isOneOf(0, 35)),
  refuse(
    'EINVAL',
    ['prctl'],
    "PR_SCHED_CORE: a core-scheduling cookie idles the neighbour's hyperthread",
    isOneOf(0, 62),
  ),

  // Kernel surface that exploits start from and no program here needs
  refuse(
    'ENOSYS',
    ['io_uring_setup', 'io_uring_enter', 'io_uring_register'],
    'makes calls where no filter looks; a long list of kernel bugs',
  ),
  refuse(
    'ENOSYS',
    ['userfaultfd', 'bpf', 'perf_event_open', 'memfd_secret', 'modify_ldt'],
    'exploitation aids: stop the kernel mid-copy, place code in it, read its timing, hide memory from it',
  ),
  refuse(
    'ENOSYS',
    ['seccomp'],
    "a classic BPF program is compiled to kernel code of the caller's choosing (JIT spraying); the box has its filter",
  ),
  refuse(
    'EINVAL',
    ['prctl'],
    'PR_SET_SECCOMP: the older way to load such a program',
    isOneOf(0, 22),
  ),
  refuse(
    'ENOPROTOOPT',
    ['setsockopt'],
    "only the levels SOCKET, IP, IPV6, TCP, UDP, of which the rows below speak: UDP-Lite's (136) sets UDP's options",
    isNoneOf(1, 0, 1, 6, 17, 41),
  ),
  refuse(
    'ENOPROTOOPT',
    ['setsockopt'],
    'SO_ATTACH_FILTER, _BPF, _REUSEPORT_CBPF, _REUSEPORT_EBPF: BPF programs again',
    isOneOf(1, 1),
    isOneOf(2, 26, 50, 51, 52),
  ),
  refuse(
    'ENOPROTOOPT',
    ['setsockopt'],
    'TCP_ULP turns a socket into kernel TLS or ESP-in-TCP, and loads the module',
    isOneOf(1, 6),
    isOneOf(2, 31),
  ),
  refuse(
    'ENOPROTOOPT',
    ['setsockopt'],
    'UDP_ENCAP feeds packets to ESP (CVE-2026-43284) and L2TP',
    isOneOf(1, 17),
    isOneOf(2, 100),
  ),
  refuse(
    'EOPNOTSUPP',
    ['sendto'],
    'MSG_OOB on Unix sockets: a use after free reached from browser sandboxes (CVE-2025-38236)',
    hasAnyBit(3, 1),
  ),
  refuse('EOPNOTSUPP', ['sendmsg'], 'MSG_OOB, as with sendto', hasAnyBit(2, 1)),
  refuse('EOPNOTSUPP', ['sendmmsg'], 'MSG_OOB, as with sendto', hasAnyBit(3, 1)),
  refuse(
    'ENOSYS',
    [
      'lookup_dcookie',
      'nfsservctl',
      'uselib',
      'sysfs',
      'ustat',
      '_sysctl',
      'remap_file_pages',
      'kexec_load',
      'kexec_file_load',
    ],
    'dead or administrative calls',
  ),
  refuse(
    'ENOSYS',
    [
      'futex_wake',
      'futex_wait',
      'futex_requeue',
      'lsm_get_self_attr',
      'lsm_set_self_attr',
      'lsm_list_modules',
      'set_mempolicy_home_node',
    ],
    'newer calls that no C library, JVM or Python here makes; every caller falls back',
  ),
  refuse(
    'EPERM',
    ['personality'],
    'READ_IMPLIES_EXEC, no address randomisation; 0 and the query stay',
    isNoneOf(0, 0, 0xffffffff),
  ),
  refuse(
    'EPERM',
    ['ioctl'],
    'TIOCSTI, TIOCLINUX type into a terminal (CVE-2017-5226, CVE-2023-28100); TIOCSETD loads line disciplines',
    isOneOf(1, 0x5412, 0x541c, 0x5423),
  ),

  refuse(
    'EPERM',
    ['ioctl'],
    'SIOCGIFBR, SIOCSIFBR, SIOCGIFVLAN, SIOCSIFVLAN, SIOCBR*: load the modules for bridges and VLANs, whoever asks',
    isOneOf(1, 0x8940, 0x8941, 0x8982, 0x8983, 0x89a0, 0x89a1, 0x89a2, 0x89a3),
  ),

  // Sockets
  refuse(
    'EAFNOSUPPORT',
    ['socket', 'socketpair'],
    'only UNIX, INET, INET6: ALG (CVE-2026-31431), NETLINK, PACKET, VSOCK, RXRPC, TIPC … are where the bugs are',
    isNoneOf(0, 1, 2, 10),
  ),
  refuse(
    'ESOCKTNOSUPPORT',
    ['socket', 'socketpair'],
    'INET only as STREAM and DGRAM: SEQPACKET reaches SCTP without naming it, type 6 is DCCP',
    isOneOf(0, 2, 10),
    { argument: 1, mask: 0xf, test: 'none_of', values: [1, 2] },
  ),
  refuse(
    'EPROTONOSUPPORT',
    ['socket', 'socketpair'],
    'only the default, ICMP (1, also PF_UNIX), TCP, UDP: MPTCP, SCTP, L2TP and SMC (256) hide behind INET',
    isNoneOf(2, 0, 1, 6, 17),
  ),

  // The page cache, which all boxes share through the toolchain's files
  refuse(
    'ENOSYS',
    ['splice', 'tee', 'vmsplice'],
    'hand page-cache pages around: the primitive of Dirty Pipe, Copy Fail, Dirty Frag',
  ),
  refuse(
    'EINVAL',
    ['sendfile'],
    'puts page-cache pages into packets as splice does; on EINVAL Java, Python and libstdc++ copy instead',
  ),
  refuse(
    'ENOPROTOOPT',
    ['setsockopt'],
    'SO_ZEROCOPY: MSG_ZEROCOPY from a mapped file does the same',
    isOneOf(1, 1),
    isOneOf(2, 60),
  ),
  refuse('ENOSYS', ['cachestat'], 'tells which pages of a shared file another box has read'),
  refuse(
    'EOPNOTSUPP',
    ['preadv2'],
    'RWF_NOWAIT tells the same, RWF_DONTCACHE evicts',
    isNoneOf(5, 0),
  ),
  refuse(
    'done',
    ['fadvise64', 'readahead'],
    'advice only: but POSIX_FADV_DONTNEED evicts the toolchain for every box',
  ),
  refuse(
    'EINVAL',
    ['madvise'],
    'MADV_MERGEABLE: merged pages tell by timing what another box holds',
    isOneOf(2, 12),
  ),

  // State that outlives a run or is seen by another box
  refuse(
    'ENOPROTOOPT',
    ['getsockopt'],
    'SO_NETNS_COOKIE: a number that is never used twice, by which runs in one network know each other',
    isOneOf(1, 1),
    isOneOf(2, 71),
  ),
  refuse(
    'ENOSYS',
    ['keyctl', 'add_key', 'request_key'],
    'keyrings are not namespaced and outlive a run',
  ),
  refuse(
    'ENOSYS',
    ['inotify_init', 'inotify_init1', 'fanotify_init'],
    'a watch on /usr/bin/python3 sees other boxes start it',
  ),
  refuse(
    'done',
    ['fcntl'],
    "F_SETLK(W), F_OFD_SETLK(W): locks on the toolchain's files would talk across boxes. Nothing is locked, so F_GETLK finds nothing; SQLite on a file needs the success",
    isOneOf(1, 6, 7, 37, 38),
  ),
  refuse('done', ['flock'], 'locks on shared files, as with fcntl; nothing is locked'),
  refuse(
    'EPERM',
    ['fcntl'],
    'F_SETLEASE, F_NOTIFY: leases and watches on shared files talk across boxes',
    isOneOf(1, 1024, 1026),
  ),
  refuse(
    'EINVAL',
    ['fcntl'],
    'F_SET_RW_HINT leaves a mark on the shared inode on kernels that do not check the owner',
    isOneOf(1, 1036, 1038),
  ),
  refuse(
    'ENOSYS',
    ['io_setup'],
    'fs.aio-max-nr is one count for the host: a box could use it up, or signal by it',
  ),

  // Memory that the memory limit does not count
  refuse(
    'EOPNOTSUPP',
    ['setxattr', 'lsetxattr', 'fsetxattr'],
    'an access list takes 64 KiB of kernel memory a file that no cgroup is charged for: 2,000 files took 130 MB (Linux 6.18)',
  ),
  refuse(
    'ENOPROTOOPT',
    ['setsockopt'],
    'TCP_MD5SIG, _EXT, TCP_AO_ADD_KEY: a socket takes 128 KiB of such keys, charged to no cgroup either',
    isOneOf(1, 6),
    isOneOf(2, 14, 32, 38),
  ),
  refuse(
    'EOPNOTSUPP',
    ['sendto'],
    'MSG_MORE: a datagram held back unfinished is charged to no cgroup: 30,000 sockets held 1.2 GB and counted for 80 MB (Linux 6.18)',
    hasAnyBit(3, 0x8000),
  ),
  refuse('EOPNOTSUPP', ['sendmsg'], 'MSG_MORE, as with sendto', hasAnyBit(2, 0x8000)),
  refuse('EOPNOTSUPP', ['sendmmsg'], 'MSG_MORE, as with sendto', hasAnyBit(3, 0x8000)),
  refuse(
    'ENOPROTOOPT',
    ['setsockopt'],
    'UDP_CORK: the same for every datagram',
    isOneOf(1, 17),
    isOneOf(2, 1),
  ),
  refuse(
    'ENOPROTOOPT',
    ['setsockopt'],
    'IP_*: only TOS, TTL, MTU_DISCOVER, RECVERR, MULTICAST_IF, _TTL, _LOOP, _ALL: memberships and options are charged to no cgroup',
    isOneOf(1, 0),
    isNoneOf(2, 1, 2, 10, 11, 32, 33, 34, 49),
  ),
  refuse(
    'ENOPROTOOPT',
    ['setsockopt'],
    'IPV6_*: the same, as UNICAST_HOPS, MULTICAST_IF, _HOPS, _LOOP, _ALL, MTU_DISCOVER, RECVERR, V6ONLY, TCLASS',
    isOneOf(1, 41),
    isNoneOf(2, 16, 17, 18, 19, 23, 25, 26, 29, 67),
  ),
  refuse(
    'ENOMEM',
    ['mmap'],
    "MAP_HUGETLB: the host's reserved huge pages are outside the memory limit; PostgreSQL may live on them",
    hasAnyBit(3, 0x40000),
  ),
  refuse('EINVAL', ['memfd_create'], 'MFD_HUGETLB: the same', hasAnyBit(1, 0x4)),
  refuse('EPERM', ['shmget'], 'SHM_HUGETLB: the same', hasAnyBit(2, 0x800)),

  // The host's disk
  refuse(
    'done',
    ['sync', 'syncfs', 'fsync', 'fdatasync', 'sync_file_range'],
    "nothing in a box is durable; on the host's files a loop of them stalls the disk for everyone",
  ),
  refuse(
    'done',
    ['msync'],
    'MS_SYNC: the same by way of a mapping; MS_ASYNC, with which libunwind probes addresses, stays',
    hasAnyBit(2, 0x4),
  ),

  // Files and devices
  refuse(
    'EPERM',
    ['name_to_handle_at', 'open_by_handle_at'],
    'open files by inode, past every mount (the "shocker" escape)',
  ),
  refuse('EPERM', ['mknod', 'mknodat'], 'devices, and FIFOs that hang whoever opens them'),

  // Administration and NUMA
  refuse(
    'EPERM',
    [
      'syslog',
      'acct',
      'quotactl',
      'swapon',
      'swapoff',
      'reboot',
      'init_module',
      'finit_module',
      'delete_module',
      'create_module',
      'iopl',
      'ioperm',
      'settimeofday',
      'clock_settime',
      'clock_adjtime',
      'adjtimex',
      'sethostname',
      'setdomainname',
      'vhangup',
    ],
    'administration; the program has no capability for it, the filter saves the kernel from asking',
  ),
  refuse(
    'EPERM',
    ['move_pages', 'migrate_pages', 'mbind', 'set_mempolicy', 'get_mempolicy'],
    'NUMA placement; the JVM, g++ and CPython do without',
  ),
]

/** Put before the policy where no cgroup limits the memory that such sockets hold (cgroup.ts, `limitsSocketMemory`). */
export const internetRow: FilterRow = refuse(
  'EAFNOSUPPORT',
  ['socket', 'socketpair'],
  'INET, INET6: their buffers would be outside every limit',
  isOneOf(0, 2, 10),
)
