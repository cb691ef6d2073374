// Escapes through files: mounts, devices, links, the toolchain, settings of the host. The attacks never write: opening a
// file for writing is proof enough, and they create files only in a directory that the suite has planted.
import { bomb, probe } from '../attack.ts'
import type { Attack } from '../attack.ts'

const raw = String.raw

export const fileEscapes: readonly Attack[] = [
  probe("files of the host's are not there", {
    python: raw`
for path in ("/etc/shadow", "/etc/debian_version", "/etc/hostname", "/etc/resolv.conf", "/root", "/home", "/var", "/run", "/sys", "/boot", "/opt", "/srv", "/mnt", "/work", "/proc/1/root/etc/shadow", "/proc/1/cwd/etc/shadow", "@FILE@", "@SHM_FILE@", "@VAR_FILE@", "/../../..@FILE@", "/proc/self/root@FILE@", "/proc/1/root@FILE@", "/dev/fd/0/../..@FILE@"): refused(path, lambda: look(path), errno.ENOTDIR)`,
    cpp: raw`
for (const char *path : {"/etc/shadow", "/etc/debian_version", "/root", "/home", "/var", "/run", "/sys", "/boot", "/proc/1/root/etc/shadow", "/proc/1/cwd/etc/shadow", "@FILE@", "@SHM_FILE@", "@VAR_FILE@", "/../../..@FILE@", "/proc/self/root@FILE@", "/proc/1/root@FILE@"}) refused(path, open(path, O_RDONLY));
chdir("/"); for (int i = 0; i < 100; i++) chdir(".."); refused("..", open("etc/shadow", O_RDONLY));`,
    java: raw`
for (String path : List.of("/etc/shadow", "/etc/debian_version", "/root/.bashrc", "/sys/kernel/uevent_helper", "/proc/1/root/etc/shadow", "@FILE@", "@SHM_FILE@", "@VAR_FILE@", "/proc/1/root@FILE@")) { refused(path, () -> text(path)); refused("url " + path, () -> new URL("file://" + path).openStream().read()); }`,
  }),
  probe('nothing but scratch space can be opened for writing', {
    python: raw`
allowed = ("/box/", "/tmp/", "/dev/shm/", "/proc/")
for base, directories, names in os.walk("/"):
    directories[:] = [d for d in directories if f"{base}/{d}" not in ("//proc", "/proc")]
    for name in names:
        path = os.path.join(base, name)
        if path.startswith(allowed) or os.path.islink(path) or path.startswith("/dev/"): continue
        if os.access(path, os.W_OK): refused(path, lambda: look(path, os.O_WRONLY))
    if base.startswith(("/box", "/tmp", "/dev/shm")) or not os.access(base, os.W_OK): continue
    if base != "/dev/pts": escape(f"directory {base}")`,
    cpp: raw`
#include <ftw.h>
static int visit(const char *path, const struct stat *, int kind, struct FTW *) {
  if (!strncmp(path, "/proc", 5) || !strncmp(path, "/box", 4) || !strncmp(path, "/tmp", 4) || !strncmp(path, "/dev", 4)) return 0;
  if (kind == FTW_F && access(path, W_OK) == 0) refused(path, open(path, O_WRONLY));
  if (kind == FTW_D && access(path, W_OK) == 0) escape(path);
  return 0;
}
//main
nftw("/usr", visit, 64, FTW_PHYS); nftw("/etc", visit, 64, FTW_PHYS); if (access("/", W_OK) == 0) escape("/");`,
  }),
  probe('the toolchain cannot be opened for writing', {
    python: raw`
for path in ("/usr/bin/python3", "/bin/sh", "/usr/bin/g++", "/usr/bin/bwrap", sys.executable, "/etc/ld.so.cache", os.__file__, "/box/main.py", "/proc/self/exe", "/proc/1/exe"):
    refused(path, lambda: look(path, os.O_WRONLY), errno.ETXTBSY)
    refused(path, lambda: look(path, os.O_RDWR), errno.ETXTBSY)
for directory in ("/", "/usr/bin", "/usr/lib", "/etc", "/dev", "/proc"): refused(directory, lambda: os.close(os.open(f"{directory}/hostile-probe", os.O_CREAT | os.O_EXCL)) or "made")
refused("unnamed", lambda: os.open("/usr/bin", os.O_TMPFILE | os.O_RDWR))`,
    cpp: raw`
for (const char *path : {"/usr/bin/python3", "/bin/sh", "/usr/bin/g++", "/usr/bin/bwrap", "/etc/ld.so.cache", "/box/main", "/proc/self/exe", "/proc/1/exe"}) refused(path, open(path, O_WRONLY), ETXTBSY);
for (const char *path : {"/hostile-probe", "/usr/bin/hostile-probe", "/usr/lib/hostile-probe", "/etc/hostile-probe", "/dev/hostile-probe"}) refused(path, open(path, O_CREAT | O_EXCL, 0600));`,
    java: raw`
String home = System.getProperty("java.home");
for (String path : List.of("/usr/bin/python3", "/bin/sh", "/etc/ld.so.cache", home + "/lib/modules", home + "/bin/java", "/box/main.jar", "/proc/1/exe")) refused(path, () -> look(path, StandardOpenOption.WRITE));
refused("new", () -> Files.createFile(Path.of("/usr/bin/hostile-probe")));`,
  }),
  probe('a read-only file cannot be written through a mapping', {
    python: raw`
import mmap
file = os.open("/usr/bin/python3", os.O_RDONLY)
refused("map", lambda: mmap.mmap(file, 4096, mmap.MAP_SHARED, mmap.PROT_READ | mmap.PROT_WRITE))`,
    cpp: raw`
int file = open("/usr/bin/python3", O_RDONLY);
refused("map", (long)mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
void *shown = mmap(nullptr, 4096, PROT_READ, MAP_SHARED, file, 0); refused("protect", mprotect(shown, 4096, PROT_READ | PROT_WRITE));
refused("truncate", ftruncate(file, 0), EINVAL); refused("punch", fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096), EBADF);`,
    java: raw`refused("map", () -> { try (var channel = FileChannel.open(Path.of("/box/main.jar"), StandardOpenOption.READ)) { return channel.map(FileChannel.MapMode.READ_WRITE, 0, 100); } catch (NonWritableChannelException error) { throw new IOException(error); } });`,
  }),
  probe('forced writes through /proc/self/mem change no file', {
    cpp: raw`
// The program's own file, which the box alone holds: a kernel with the hole (CVE-2016-5195) would change only that.
int file = open("/proc/self/exe", O_RDONLY), memory = open("/proc/self/mem", O_RDWR); char before[64], after[64];
char *shown = (char *)mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, file, 0); memcpy(before, shown, 64);
for (int i = 0; i < 2000; i++) { pwrite(memory, "hostile", 7, (off_t)shown); madvise(shown, 4096, MADV_DONTNEED); }
pread(file, after, 64, 0); if (memcmp(before, after, 64)) escape("the file changed");`,
  }),
  probe('mounts cannot be made, moved or undone', {
    python: raw`
for source, target, kind, flags in ((b"none", b"/tmp", b"tmpfs", 0), (b"/usr", b"/tmp", None, 4096), (b"none", b"/", None, 32 | 4096), (b"none", b"/usr/bin", None, 32 | 4096), (b"none", b"/tmp", b"proc", 0), (b"none", b"/tmp", b"sysfs", 0), (b"none", b"/tmp", b"cgroup", 0), (b"none", b"/tmp", b"cgroup2", 0), (b"none", b"/tmp", b"overlay", 0)):
    refused(f"mount {source} {target} {kind}", lambda: call("mount", source, target, kind, flags, b"memory" if kind == b"cgroup" else None))
for target in (b"/tmp", b"/", b"/proc", b"/usr/bin"): refused("umount", lambda: call("umount2", target, 2))
refused("chroot", lambda: os.chroot("/tmp") or "done")`,
    cpp: raw`
refused("tmpfs", mount("none", "/tmp", "tmpfs", 0, nullptr)); refused("rw", mount(nullptr, "/", nullptr, MS_REMOUNT | MS_BIND, nullptr)); refused("rw", mount(nullptr, "/usr/bin", nullptr, MS_REMOUNT | MS_BIND, nullptr));
refused("bind", mount("/usr", "/tmp", nullptr, MS_BIND, nullptr)); refused("shared", mount(nullptr, "/", nullptr, MS_SHARED | MS_REC, nullptr)); refused("move", mount("/tmp", "/box", nullptr, MS_MOVE, nullptr));
refused("umount", umount2("/tmp", MNT_DETACH)); refused("umount", umount2("/", MNT_DETACH));
refused("pivot_root", call(SYS_pivot_root, ".", ".")); refused("chroot", chroot("/tmp"));`,
  }),
  probe('the newer calls for mounts are refused', {
    cpp: raw`
refused("open_tree", call(428, AT_FDCWD, "/", 1)); refused("move_mount", call(429, AT_FDCWD, "/tmp", AT_FDCWD, "/box", 0)); refused("fsopen", call(430, "tmpfs", 0));
refused("fsconfig", call(431, 0, 0, nullptr, nullptr, 0)); refused("fsmount", call(432, 0, 0, 0)); refused("fspick", call(433, AT_FDCWD, "/", 0)); refused("mount_setattr", call(442, AT_FDCWD, "/", 0, nullptr, 0));
refused("statmount", call(457, nullptr, nullptr, 0, 0)); refused("listmount", call(458, nullptr, nullptr, 0, 0));`,
  }),
  probe('the tree of cgroups is out of reach', {
    python: raw`
for path in ("/sys/fs/cgroup", "/sys/fs/cgroup/memory/release_agent", "/sys/fs/cgroup/cgroup.procs"): refused(path, lambda: look(path))
for line in open("/proc/self/cgroup"):
    if not line.rstrip().endswith(":/"): escape(line)
if os.path.exists("/proc/1/cgroup") and "runledger" in open("/proc/1/cgroup").read(): escape("/proc/1/cgroup")
refused("mount", lambda: call("mount", b"none", b"/tmp", b"cgroup", 0, b"rdma"))`,
    cpp: raw`
refused("sys", open("/sys/fs/cgroup", O_RDONLY)); refused("unshare", unshare(0x10000000 | 0x20000)); refused("mount", mount("none", "/tmp", "cgroup", 0, "rdma"));
char line[512]; FILE *file = fopen("/proc/self/cgroup", "r"); while (fgets(line, 512, file)) if (strstr(line, "runledger") || !strstr(line, ":/\n")) escape(line);`,
    java: raw`refused("sys", () -> look("/sys/fs/cgroup/cgroup.procs")); for (String line : text("/proc/self/cgroup").split("\n")) if (!line.endsWith(":/")) escape(line);`,
  }),
  probe("the host's handlers and switches cannot be set", {
    python: raw`
for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/kernel/hotplug", "/proc/sys/kernel/panic", "/proc/sys/kernel/poweroff_cmd", "/proc/sysrq-trigger", "/proc/sys/fs/binfmt_misc/register", "/sys/kernel/uevent_helper", "/sys/kernel/debug", "/proc/sys/kernel/hostname", "/proc/sys/kernel/randomize_va_space", "/proc/sys/vm/overcommit_memory", "/proc/sys/net/ipv4/ip_forward", "/proc/irq/default_smp_affinity", "/proc/mtrr", "/proc/acpi/wakeup", "/proc/scsi/scsi"): refused(path, lambda: look(path, os.O_WRONLY))`,
    cpp: raw`
for (const char *path : {"/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sysrq-trigger", "/proc/sys/fs/binfmt_misc/register", "/sys/kernel/uevent_helper", "/proc/sys/kernel/panic", "/proc/irq/default_smp_affinity"}) refused(path, open(path, O_WRONLY));`,
    java: raw`
for (String path : List.of("/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sysrq-trigger", "/sys/kernel/uevent_helper", "/proc/sys/vm/drop_caches")) refused(path, () -> look(path, StandardOpenOption.WRITE));`,
  }),
  probe('no setting under /proc/sys can be opened for writing', {
    python: raw`
for base, _, names in os.walk("/proc/sys"):
    for name in names:
        # The last pid of the box's own pid namespace: anyone may open it and only a capability may write.
        if name != "ns_last_pid": refused(f"{base}/{name}", lambda: look(f"{base}/{name}", os.O_WRONLY))`,
    cpp: raw`
#include <ftw.h>
static int visit(const char *path, const struct stat *, int kind, struct FTW *) { if (kind == FTW_F && !strstr(path, "ns_last_pid")) refused(path, open(path, O_WRONLY)); return 0; }
//main
nftw("/proc/sys", visit, 64, FTW_PHYS);`,
    java: raw`
try (var all = Files.walk(Path.of("/proc/sys/kernel"))) { for (Path path : (Iterable<Path>) all::iterator) if (Files.isRegularFile(path) && !path.endsWith("ns_last_pid")) refused(path.toString(), () -> look(path.toString(), StandardOpenOption.WRITE)); } catch (UncheckedIOException | NoSuchFileException no) { }`,
  }),
  probe("the host's devices are not there", {
    python: raw`
for name in ("mem", "kmem", "kmsg", "port", "sda", "vda", "nvme0n1", "fuse", "kvm", "net/tun", "vhost-vsock", "vsock", "loop0", "loop-control", "mapper/control", "uinput", "userfaultfd", "autofs", "cuse", "snapshot", "rtc0", "hwrng", "console", "tty0", "tty1", "ttyS0", "vcs", "mqueue", "hugepages", "log", "dri/card0", "cpu/0/msr"): refused(name, lambda: look("/dev/" + name))
strange = set(os.listdir("/dev")) - {"core", "fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "tty", "urandom", "zero", "console"}
if strange: escape(strange)
for path in ("/proc/kcore", "/dev/core", "/proc/kmsg", "/proc/kpageflags"): refused(path, lambda: look(path))`,
    cpp: raw`
for (const char *path : {"/dev/mem", "/dev/kmem", "/dev/kmsg", "/dev/port", "/dev/vda", "/dev/sda", "/dev/fuse", "/dev/kvm", "/dev/net/tun", "/dev/loop-control", "/dev/userfaultfd", "/proc/kcore", "/proc/kpageflags"}) refused(path, open(path, O_RDONLY));`,
    java: raw`for (String path : List.of("/dev/mem", "/dev/kmsg", "/dev/vda", "/dev/fuse", "/dev/kvm", "/dev/net/tun", "/proc/kcore", "/proc/kmsg")) refused(path, () -> look(path));`,
  }),
  probe('devices and pipes with names cannot be made', {
    python: raw`
import stat
for directory in ("/tmp", "/box", "/dev/shm"):
    for kind, device in ((stat.S_IFBLK, os.makedev(254, 0)), (stat.S_IFCHR, os.makedev(1, 1)), (stat.S_IFCHR, os.makedev(0, 0))): refused(f"{directory} {kind}", lambda: os.mknod(f"{directory}/node", kind | 0o666, device) or "made")`,
    cpp: raw`
refused("block", mknod("/tmp/disk", S_IFBLK | 0666, 254 << 8)); refused("memory", mknod("/tmp/mem", S_IFCHR | 0666, 1 << 8 | 1)); refused("whiteout", mknod("/tmp/no", S_IFCHR, 0));`,
  }),
  probe('links lead nowhere outside', {
    python: raw`
for directory in ("/tmp", "/box", "/dev/shm"):
    for number, target in enumerate(("/etc/shadow", "@FILE@", "/proc/1/root/etc/shadow", "../../../../etc/shadow")):
        os.symlink(target, f"{directory}/link{number}")
        refused(target, lambda: look(f"{directory}/link{number}"))
    for target in ("/usr/bin/su", "/usr/bin/python3", "/etc/ld.so.cache", "/proc/1/environ"): refused("hard " + target, lambda: os.link(target, f"{directory}/hard") or "made")`,
    cpp: raw`
symlink("/etc/shadow", "/tmp/a"); refused("link", open("/tmp/a", O_RDONLY)); symlink("@FILE@", "/box/b"); refused("link", open("/box/b", O_WRONLY));
refused("hard link", link("/usr/bin/su", "/tmp/su")); refused("hard link", link("/proc/1/environ", "/tmp/e")); refused("rename", rename("/usr/bin/python3", "/tmp/p"));`,
    java: raw`
Files.createSymbolicLink(Path.of("/tmp/a"), Path.of("/etc/shadow")); refused("link", () -> text("/tmp/a")); refused("hard link", () -> Files.createLink(Path.of("/tmp/su"), Path.of("/usr/bin/su")));`,
  }),
  bomb('names that a collector might follow are followed by nobody', ['exited'], {
    python: raw`
import shutil
for number, name in enumerate(("main", "run", "stdout", "stderr", "result", "out", "a.out", "compile_output", "Main.class", "main.jar", "core")):
    path = "/box/" + name
    if os.path.lexists(path): continue
    if number % 3 == 0: os.symlink("@FILE@", path)
    elif number % 3 == 1: os.mkdir(path, 0)
    else: s = socket.socket(socket.AF_UNIX); s.bind(path)
os.chmod("/box", 0)`,
    cpp: raw`for (const char *name : {"stdout", "stderr", "result", "output.s", "metadata"}) { symlink("@FILE@", name); } chmod("/box", 0); chmod("/tmp", 0);`,
    java: raw`for (String name : List.of("stdout", "result", "out", "Main.class")) Files.createSymbolicLink(Path.of("/box/" + name), Path.of("@FILE@"));`,
  }),
  probe("a path through another process's root or directory stays inside", {
    python: raw`
for base in ("/proc/1/root", "/proc/1/cwd", "/proc/self/root", "/proc/self/cwd", "/proc/1/task/1/root"):
    try: names = set(os.listdir(base))
    except OSError as error: print("refused", base, error); continue
    if names & {"root", "home", "var", "sys", "boot", "run", "work"}: escape(f"{base} {names}")
    for up in ("/..", "/../..", "/../../.."):
        if set(os.listdir(base + up)) & {"root", "home", "var", "sys", "boot"}: escape(base + up)`,
    cpp: raw`
for (const char *path : {"/proc/1/root/var", "/proc/1/root/../var", "/proc/1/cwd/../../sys", "/proc/1/root/oldroot", "/oldroot", "/newroot", "/proc/1/root/newroot"}) refused(path, open(path, O_RDONLY | O_DIRECTORY), ENOTDIR);`,
  }),
]
