// Attacks on registers of the host: numbers that every box could read and that a program changes by its work.
import { probe } from '../attack.ts'
import type { Attack } from '../attack.ts'

const raw = String.raw

/** Files below /proc that show the state or the identity of the host, by group. */
const records: Readonly<Record<string, readonly string[]>> = {
  "the host's load and uptime": ['loadavg', 'uptime', 'stat', 'schedstat', 'pressure/cpu'],
  "the host's memory": ['meminfo', 'vmstat', 'zoneinfo', 'buddyinfo', 'swaps', 'pressure/memory'],
  "the host's interrupts and disks": ['interrupts', 'softirqs', 'diskstats', 'pressure/io'],
  "the host's counts of files, inodes and terminals": [
    ['sys/fs/file-nr', 'sys/fs/inode-nr', 'sys/fs/inode-state', 'sys/fs/dentry-state'],
    ['sys/kernel/pty/nr', 'sys/fs/aio-nr', 'cgroups', 'key-users', 'locks'],
  ].flat(),
  "the host's name for its boot": ['sys/kernel/random/boot_id', 'sys/kernel/random/entropy_avail'],
}

const readNothing = (
  names: readonly string[],
): Pick<Attack['code'], 'python' | 'cpp' | 'java'> => ({
  python: raw`
for name in ${JSON.stringify(names)}:
    try: text = open("/proc/" + name).read(1 << 16)
    except OSError: continue
    if text: escape(f"{name}: {text[:60]!r}")`,
  cpp: raw`
for (const char *name : {${names.map((name) => `"/proc/${name}"`).join(', ')}}) { char text[64]; int file = open(name, O_RDONLY); if (file >= 0 && read(file, text, sizeof text) > 0) escape(name); }`,
  java: raw`
for (String name : List.of(${names.map((name) => JSON.stringify(name)).join(', ')})) { try { if (!text("/proc/" + name).isEmpty()) escape(name); } catch (IOException none) { } }`,
})

export const registerAttacks: readonly Attack[] = [
  ...Object.entries(records).map(([name, names]) =>
    probe(`${name} cannot be read`, readNothing(names)),
  ),
  probe("a socket's cookie, and its network's, cannot be read", {
    python: raw`
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
    for one in (socket.socket(socket.AF_UNIX, kind), socket.socketpair(socket.AF_UNIX, kind)[0]):
        for option in (57, 71): refused(f"{kind} {option}", lambda: one.getsockopt(1, option, 8))`,
    cpp: raw`
int s = socket(AF_UNIX, SOCK_STREAM, 0); unsigned long n; socklen_t size = sizeof n;
for (int option : {57, 71}) { refused("cookie", getsockopt(s, 1, option, &n, &size)); refused("high bits", call(SYS_getsockopt, s, 1l << 32 | 1, 1l << 32 | option, &n, &size)); }`,
  }),
  probe("a mount's number, and its namespace's, cannot be read", {
    cpp: raw`
char seen[256]; refused("statx", call(SYS_statx, AT_FDCWD, "/", 0, 0x4000, seen), EINVAL); refused("high bits", call(SYS_statx, AT_FDCWD, "/", 0, 1l << 32 | 0x4000, seen), EINVAL);
int space = open("/proc/self/ns/mnt", O_RDONLY); for (unsigned long asked : {0x8008b705, 0x8008b70d, 0x8010b70a, 0x8018b70a}) refused("ioctl", ioctl(space, asked, seen), EINVAL);`,
  }),
  probe("a socket's peer cannot be had as a pidfd", {
    python: raw`
one = socket.socketpair()[0]
refused("peer", lambda: one.getsockopt(1, 77))`,
  }),
  probe("no file system tells of the host's inodes and blocks", {
    python: raw`
free = lambda path: (lambda s: (s.f_frsize * s.f_blocks, s.f_files, s.f_files - s.f_ffree))(os.statvfs(path))
for path in ("/usr/bin", "/usr/lib", "/usr/bin/python3"):
    blocks, inodes, used = free(path)
    if blocks > 1 << 20 or inodes > 1000 or used > 10: escape(f"{path} {blocks} {inodes} {used}")
for path in ("/", "/proc", "/dev/shm", "/tmp", "/box"):
    blocks, inodes, used = free(path)
    if blocks > 1 << 30 or used > 1000: escape(f"{path} {blocks} {inodes} {used}")`,
    cpp: raw`
#include <sys/statfs.h>
//main
struct statfs one;
for (const char *path : {"/usr/bin", "/usr/lib"}) if (statfs(path, &one) != 0 || one.f_blocks > 256 || one.f_files > 1000) escape(path);
refused("by mount", call(457, nullptr, nullptr, 0, 0));`,
    java: raw`
for (String path : List.of("/usr/bin", "/usr/lib")) if (new File(path).getTotalSpace() > 1 << 20) escape(path);`,
  }),
  probe('no page of the program is merged with equal ones', {
    python: raw`
for option in (67, 68): refused(str(option), lambda: call("prctl", option, 1, 0, 0, 0), errno.EINVAL)
import mmap
try: mmap.mmap(-1, 4096).madvise(12); escape("merged")
except (OSError, AttributeError): pass`,
    cpp: raw`
for (int option : {67, 68}) { refused("prctl", call(SYS_prctl, option, 1, 0, 0, 0), EINVAL); refused("high bits", call(SYS_prctl, 1l << 32 | option, 1, 0, 0, 0), EINVAL); }
refused("madvise", madvise(mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), 4096, MADV_MERGEABLE), EINVAL);`,
  }),
  probe('no file is read past the page cache', {
    python: raw`
for path in ("/usr/bin/python3", "/tmp/new", "/usr/bin"): refused(path, lambda: os.open(path, os.O_DIRECT | os.O_RDWR * 0 | os.O_CREAT * (path == "/tmp/new")), errno.EINVAL)
file = os.open("/usr/bin/python3", os.O_RDONLY)
import fcntl
refused("later", lambda: fcntl.fcntl(file, fcntl.F_SETFL, os.O_DIRECT), errno.EINVAL)`,
    cpp: raw`
struct { unsigned long flags, mode, resolve; } how{O_RDONLY, 0, 0};
refused("open", open("/usr/bin/python3", O_RDONLY | O_DIRECT), EINVAL); refused("openat2", call(437, AT_FDCWD, "/usr/bin/python3", &how, sizeof how));
refused("later", fcntl(open("/usr/bin/python3", O_RDONLY), F_SETFL, O_DIRECT), EINVAL);`,
    java: raw`refused("direct", () -> look("/usr/bin/env", StandardOpenOption.READ, com.sun.nio.file.ExtendedOpenOption.DIRECT));`,
  }),
]
