// Escapes to other processes and to privilege: which processes are visible, which can be traced, and which identities a
// program can take.
import { bomb, probe } from '../attack.ts'
import type { Attack } from '../attack.ts'

const raw = String.raw

export const processEscapes: readonly Attack[] = [
  probe('no process can be traced', {
    python: raw`
refused("attach", lambda: call("ptrace", 16, 1, 0, 0))
refused("seize", lambda: call("ptrace", 0x4206, 1, 0, 0))
refused("traceme", lambda: call("ptrace", 0, 0, 0, 0))`,
    cpp: raw`
refused("attach", ptrace(PTRACE_ATTACH, 1, 0, 0));
refused("seize", ptrace(PTRACE_SEIZE, 1, 0, 0));
refused("traceme", ptrace(PTRACE_TRACEME, 0, 0, 0));
pid_t child = fork(); if (child == 0) { pause(); _exit(0); }
refused("own child", ptrace(PTRACE_ATTACH, child, 0, 0)); kill(child, SIGKILL);`,
  }),
  probe("another process's memory cannot be read by a call", {
    python: raw`
buffer = ctypes.create_string_buffer(64)
vector = (ctypes.c_size_t * 2)(ctypes.addressof(buffer), 64)
refused("read", lambda: call("process_vm_readv", 1, vector, 1, vector, 1, 0))
refused("write", lambda: call("process_vm_writev", 1, vector, 1, vector, 1, 0))`,
    cpp: raw`
static char text[64]; iovec mine{text, 64}, theirs{text, 64};
refused("read", process_vm_readv(1, &mine, 1, &theirs, 1, 0));
refused("write", process_vm_writev(1, &mine, 1, &theirs, 1, 0));
refused("kcmp", call(SYS_kcmp, getpid(), 1, 0, 0, 0));`,
  }),
  probe("a process's descriptors cannot be taken over", {
    cpp: raw`
int first = call(434, 1, 0);
if (first >= 0) refused("pidfd_getfd", call(438, first, 0, 0));
refused("process_madvise", call(440, first, nullptr, 0, 0, 0));
refused("process_mrelease", call(448, first, 0));
refused("pidfd_open of the host's", call(434, @WORKER_PID@, 0));`,
    python: raw`
refused("pidfd_open of the host's", lambda: os.pidfd_open(@WORKER_PID@))
refused("pidfd_open of the holder", lambda: os.pidfd_open(@HOLDER_PID@))`,
  }),
  probe('only the box is in sight', {
    python: raw`
seen = [name for name in os.listdir("/proc") if name.isdigit()]
if len(seen) > 2: escape(seen)
for pid in (@WORKER_PID@, @HOLDER_PID@):
    refused("kill", lambda: os.kill(pid, 0) or "alive")
    refused("environ", lambda: look(f"/proc/{pid}/environ"))`,
    cpp: raw`
int seen = 0; DIR *all = opendir("/proc");
while (dirent *one = readdir(all)) if (atoi(one->d_name) > 0) seen++;
if (seen > 2) escape("other processes");
refused("worker", kill(@WORKER_PID@, 0)); refused("holder", kill(@HOLDER_PID@, 0));
refused("environ", open("/proc/@WORKER_PID@/environ", O_RDONLY));`,
    java: raw`
long seen = ProcessHandle.allProcesses().count(); if (seen > 2) escape(seen + " processes");
if (ProcessHandle.of(@WORKER_PID@L).isPresent()) escape("the worker");
refused("environ", () -> text("/proc/@HOLDER_PID@/environ"));`,
  }),
  // canary.ts reads the host's kernel log after each attack.
  probe(
    'the name of a process that crashes makes no record of the kernel log, and gives none a level',
    {
      python: raw`
for name in (b"\n<0>FORGED\x1b[3m", b"\n SUB=FORGED", b"<0>FORGED\n\n"):
    child = os.fork()
    if child == 0:
        call("prctl", 15, name, 0, 0, 0)
        ctypes.string_at(0)
    if os.waitpid(child, 0)[1] != 11: escape("it did not crash")`,
      cpp: raw`
for (const char *name : {"\n<0>FORGED\x1b[3m", "\n SUB=FORGED", "<0>FORGED\n\n"}) { pid_t child = fork(); if (child == 0) { prctl(PR_SET_NAME, name, 0, 0, 0); static int *volatile nowhere; *nowhere = 1; } int status = 0; waitpid(child, &status, 0); if (!WIFSIGNALED(status)) escape("it did not crash"); }`,
    },
  ),
  bomb(
    'the name of a process without memory makes no record of the kernel log either',
    ['memory_limit'],
    {
      python: raw`
call("prctl", 15, b"\n<0>FORGED\x1b[3m", 0, 0, 0)
print(len(b"x" * (1 << 30)))`,
      cpp: raw`
prctl(PR_SET_NAME, "\n<0>FORGED\x1b[3m", 0, 0, 0);
for (;;) { void *more = malloc(1 << 20); if (more) memset(more, 1, 1 << 20); }`,
    },
  ),
  probe('the environment is a few words', {
    python: raw`
strange = set(os.environ) - {"PATH", "HOME", "LANG", "LC_ALL", "PWD", "LC_CTYPE", "OPENBLAS_NUM_THREADS", "USER", "LOGNAME"}
if strange: escape(strange)
print(dict(os.environ))`,
    cpp: raw`
for (char **one = environ; *one; one++) { puts(*one); if (strncmp(*one, "PATH=", 5) && strncmp(*one, "HOME=", 5) && strncmp(*one, "LANG=", 5) && strncmp(*one, "LC_ALL=", 7) && strncmp(*one, "USER=", 5) && strncmp(*one, "LOGNAME=", 8) && strncmp(*one, "OPENBLAS_NUM_THREADS=", 21) && strncmp(*one, "PWD=", 4)) escape(*one); }`,
    java: raw`
var names = new TreeSet<>(System.getenv().keySet()); names.removeAll(List.of("PATH", "HOME", "LANG", "LC_ALL", "PWD", "OPENBLAS_NUM_THREADS", "USER", "LOGNAME")); if (!names.isEmpty()) escape(names.toString());`,
  }),
  probe("the first process's environment and arguments hold no secret", {
    python: raw`
text = ""
for name in ("cmdline", "environ"):
    try: text += open(f"/proc/1/{name}").read()
    except (FileNotFoundError, PermissionError): pass
print(text.replace("\0", " "))
if "CANARY" in text or "DATABASE" in text or "--ro-bind" in text: escape("a secret")`,
    cpp: raw`
for (const char *path : {"/proc/1/environ", "/proc/1/cmdline"}) { char text[65536]; int file = open(path, O_RDONLY); long n = read(file, text, sizeof text); if (n > 0) { write(1, text, n); if (memmem(text, n, "CANA", 4)) escape(path); puts(""); } }`,
    java: raw`String all = ""; for (String name : List.of("cmdline", "environ")) try { all += text("/proc/1/" + name); } catch (IOException closed) { } System.out.println(all.replace('\0', ' ')); if (all.contains("CANA" + "RY")) escape("a secret");`,
  }),
  probe('no file under /proc holds the secret', {
    python: raw`
mark = ("HOSTILE" + "CANARY").encode()
for base, directories, names in os.walk("/proc"):
    directories[:] = [d for d in directories if d not in ("task", "map_files")]
    for name in names:
        path = f"{base}/{name}"
        if name in ("kmsg", "kcore", "pagemap", "kpagecount", "kpageflags", "kpagecgroup", "mem", "clear_refs"): continue
        try:
            file = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
            text = os.read(file, 1 << 18)
            os.close(file)
        except OSError: continue
        if mark in text: escape(path)`,
    cpp: raw`
#include <ftw.h>
static int visit(const char *path, const struct stat *, int kind, struct FTW *) {
  if (kind != FTW_F || strstr(path, "kmsg") || strstr(path, "kcore") || strstr(path, "/mem") || strstr(path, "pagemap") || strstr(path, "kpage")) return 0;
  static char text[1 << 18]; char mark[16]; snprintf(mark, sizeof mark, "%s%s", "HOSTILE", "CANARY");
  int file = open(path, O_RDONLY | O_NONBLOCK); if (file < 0) return 0;
  long n = read(file, text, sizeof text); close(file);
  if (n > 0 && memmem(text, n, mark, strlen(mark))) escape(path);
  return 0;
}
//main
nftw("/proc", visit, 64, FTW_PHYS);`,
    java: raw`
String mark = "HOSTILE" + "CANA".concat("RY");
for (String base : List.of("/proc", "/proc/1", "/proc/self", "/proc/self/net", "/proc/sysvipc", "/proc/sys/kernel"))
  for (File one : Objects.requireNonNullElse(new File(base).listFiles(), new File[0])) {
    if (!one.isFile() || one.getName().matches("k.*|mem|pagemap|clear_refs")) continue;
    try (var in = new FileInputStream(one)) { if (new String(in.readNBytes(1 << 18), StandardCharsets.ISO_8859_1).contains(mark)) escape(one.getPath()); } catch (IOException no) { }
  }`,
  }),
  probe('no memory of the first process holds the secret', {
    python: raw`
mark = ("HOSTILE" + "CANARY").encode()
try:
    memory = os.open("/proc/1/mem", os.O_RDONLY)
    for line in open("/proc/1/maps"):
        begin, end = (int(x, 16) for x in line.split()[0].split("-"))
        if end - begin > 1 << 24 or end > 1 << 63: continue
        try: text = os.pread(memory, end - begin, begin)
        except (OSError, OverflowError): continue
        if mark in text: escape(line)
except OSError as error: print("refused", error)`,
  }),
  probe('exactly three descriptors are open', {
    python: raw`
seen = set(os.listdir("/proc/self/fd")) - {"0", "1", "2", "3"}
if seen: escape(seen)
for number in range(3, 1024):
    try: os.fstat(number)
    except OSError: continue
    escape(number)`,
    cpp: raw`for (int i = 3; i < 4096; i++) if (fcntl(i, F_GETFD) != -1) escape("a descriptor");
for (int i = 0; i < 3; i++) refused("directory", openat(i, "..", O_RDONLY), ENOTDIR);`,
    java: raw`
for (String name : new File("/proc/self/fd").list()) { int n = Integer.parseInt(name); if (n < 3) continue; try { String to = Files.readSymbolicLink(Path.of("/proc/self/fd/" + n)).toString(); if (!to.startsWith("/usr/lib/jvm/") && !to.startsWith("/box/main.jar") && !to.startsWith("/proc/") && !to.startsWith("/dev/") && !to.startsWith("anon_inode:")) escape(n + " " + to); } catch (IOException gone) { } }`,
  }),
  probe('every namespace is its own', {
    python: raw`
theirs = "@NAMESPACES@".split()
for name in os.listdir("/proc/self/ns"):
    if name.startswith("time"): continue
    if os.readlink(f"/proc/self/ns/{name}") in theirs: escape(name)`,
    cpp: raw`
for (const char *name : {"cgroup", "ipc", "mnt", "net", "pid", "user", "uts"}) { char path[64], to[64] = ""; snprintf(path, 64, "/proc/self/ns/%s", name); readlink(path, to, 63); if (to[0] == 0 || strstr("@NAMESPACES@", to)) escape(name); }`,
    java: raw`for (String name : List.of("cgroup", "ipc", "mnt", "net", "pid", "user", "uts")) if ("@NAMESPACES@".contains(Files.readSymbolicLink(Path.of("/proc/self/ns/" + name)).toString())) escape(name);`,
  }),
  probe('no capability, no root, no group, a filter, in children too', {
    python: raw`
def check():
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
        if int(status[name], 16): escape(name + status[name])
    if status["Seccomp"].strip() != "2" or status["NoNewPrivs"].strip() != "1": escape("no filter")
    if status["Groups"].strip(): escape("groups" + status["Groups"])
    inside, outside, count = open("/proc/self/uid_map").read().split()
    if outside == "0" or count != "1": escape("uid_map")
check()
child = os.fork()
if child == 0: check(); os._exit(1 if bad else 0)
if os.waitpid(child, 0)[1]: escape("child")`,
    cpp: raw`
char text[8192] = ""; int file = open("/proc/self/status", O_RDONLY); read(file, text, 8191);
for (const char *want : {"CapInh:\t0000000000000000", "CapPrm:\t0000000000000000", "CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "CapAmb:\t0000000000000000", "Seccomp:\t2", "NoNewPrivs:\t1"}) if (!strstr(text, want)) escape(want);
if (getuid() == 0 || getgid() == 0 || getgroups(0, nullptr) != 0) escape("ids");`,
    java: raw`
String status = output("/bin/cat", "/proc/self/status");
for (String want : List.of("CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "Seccomp:\t2", "NoNewPrivs:\t1")) if (!status.contains(want)) escape(want);`,
  }),
  probe('nobody else can be become', {
    python: raw`
for name, arguments in (("setuid", (0,)), ("setgid", (0,)), ("setreuid", (0, 0)), ("setresuid", (0, 0, 0)), ("setresgid", (0, 0, 0)), ("seteuid", (0,)), ("setegid", (0,)), ("setuid", (60001,)), ("setuid", (65534,))):
    refused(f"{name}{arguments}", lambda: call(name, *arguments), errno.EINVAL)
refused("setgroups", lambda: os.setgroups([0]) or "done")`,
    cpp: raw`
refused("setuid", setuid(0), EINVAL); refused("setgid", setgid(0), EINVAL); refused("setresuid", setresuid(0, 0, 0), EINVAL);
gid_t root = 0; refused("setgroups", setgroups(1, &root));
setfsuid(0); if (setfsuid(-1) == 0) escape("setfsuid");
struct { unsigned version; int pid; } header = {0x20080522, 0}; struct { unsigned e, p, i; } all[2] = {{~0u, ~0u, ~0u}, {~0u, ~0u, ~0u}};
refused("capset", call(SYS_capset, &header, all));
refused("ambient", prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, 21, 0, 0));
refused("securebits", prctl(PR_SET_SECUREBITS, 1, 0, 0, 0));
refused("id map", open("/proc/self/uid_map", O_WRONLY) < 0 ? -1 : write(open("/proc/self/uid_map", O_WRONLY), "0 0 1", 5));`,
  }),
  probe('programs with the setuid bit give nothing', {
    python: raw`
import subprocess
for base in ("/usr/bin", "/usr/lib"):
    for directory, _, names in os.walk(base):
        for name in names:
            path = f"{directory}/{name}"
            try: mode = os.lstat(path).st_mode
            except OSError: continue
            if mode & 0o6000 and mode & 0o100000: print("setuid", path)
for words in (["su", "-c", "id -u"], ["mount", "-t", "tmpfs", "none", "/tmp"], ["umount", "/tmp"], ["chsh", "-s", "/bin/sh"], ["sudo", "-n", "id", "-u"], ["pkexec", "id", "-u"]):
    try: done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=3)
    except (OSError, subprocess.TimeoutExpired) as error: print("refused", words[0], error); continue
    if done.returncode == 0: escape(words)`,
    java: raw`
for (var words : List.of(List.of("/usr/bin/su", "-c", "id"), List.of("/usr/bin/mount", "-t", "tmpfs", "none", "/tmp"), List.of("/usr/bin/umount", "/tmp"), List.of("/usr/bin/unshare", "-Ur", "id"), List.of("/usr/bin/nsenter", "-t", "1", "-a", "id")))
  refused(words.get(0), () -> { int code = start(words.toArray(new String[0])); if (code != 0) throw new IOException("exit " + code); return "it worked"; });`,
    cpp: raw`
for (const char *command : {"su -c id", "mount -t tmpfs none /tmp", "LD_PRELOAD=/box/main mount --bind /tmp /box", "umount -l /tmp", "newgrp root -c id", "chfn -f x", "sudo -n id"}) { char line[256]; snprintf(line, 256, "%s </dev/null >/dev/null 2>&1", command); if (system(line) == 0) escape(command); }`,
  }),
  probe('a copy of a shell with the setuid bit is only a copy', {
    python: raw`
import shutil, subprocess
shutil.copy("/bin/sh", "/tmp/sh"); os.chmod("/tmp/sh", 0o6755)
if subprocess.run(["/tmp/sh", "-p", "-c", "id -u"], capture_output=True, text=True).stdout.strip() == "0": escape("root")`,
  }),
  probe('no namespace can be made or entered', {
    python: raw`
for flag in (0x10000000, 0x20000, 0x40000000, 0x8000000, 0x4000000, 0x2000000, 0x20000000, 0x80, 0x10000000 | 0x20000): refused(f"unshare {flag:x}", lambda: call("unshare", flag))
for name in ("mnt", "net", "pid", "user", "uts", "ipc", "cgroup"):
    try: file = os.open(f"/proc/1/ns/{name}", os.O_RDONLY)
    except OSError as error: print("refused", error); continue
    refused("setns " + name, lambda: call("setns", file, 0))`,
    cpp: raw`
for (unsigned flag : {0x10000000u, 0x20000u, 0x40000000u, 0x8000000u, 0x4000000u, 0x2000000u, 0x20000000u}) {
  refused("unshare", unshare(flag));
  refused("clone", call(SYS_clone, flag | SIGCHLD, 0, 0, 0, 0));
  refused("clone, high bits", call(SYS_clone, 0x100000000ul | flag | SIGCHLD, 0, 0, 0, 0));
}
unsigned long arguments[11] = {0x10000000, 0, 0, 0, SIGCHLD}; refused("clone3", call(435, arguments, sizeof arguments));
refused("setns", setns(open("/proc/1/ns/mnt", O_RDONLY), 0));`,
    java: raw`refused("unshare", () -> { if (start("/usr/bin/unshare", "-U", "true") != 0) throw new IOException("refused"); return "done"; });`,
  }),
  probe('a box cannot be made in a box', {
    python: raw`
import subprocess
for words in (["bwrap", "--ro-bind", "/", "/", "true"], ["unshare", "-Ur", "true"], ["unshare", "-m", "true"], ["chroot", "/", "true"], ["setpriv", "--reuid", "0", "true"], ["nsenter", "-t", "1", "-m", "true"]):
    try: code = subprocess.run(words, capture_output=True).returncode
    except OSError: continue
    if code == 0: escape(words)`,
  }),
  probe('tricks of prctl change nothing', {
    cpp: raw`
refused("no new privileges off", prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0), EINVAL);
refused("set_mm", prctl(PR_SET_MM, PR_SET_MM_ARG_START, 4096, 0, 0));
refused("set_mm, high bits", call(SYS_prctl, 0x100000000ul | PR_SET_MM, PR_SET_MM_ARG_START, 4096, 0, 0));
refused("seccomp off", prctl(PR_SET_SECCOMP, 0, 0, 0, 0), EINVAL);
refused("core scheduling", prctl(62, 1, 0, 0, 0), EINVAL);
prctl(PR_SET_DUMPABLE, 1); prctl(PR_SET_PTRACER, -1l); prctl(PR_SET_CHILD_SUBREAPER, 1); prctl(PR_SET_PDEATHSIG, 0);
if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1 || prctl(PR_GET_SECCOMP) != 2) escape("weaker");`,
    python: raw`
refused("no new privileges off", lambda: call("prctl", 38, 0, 0, 0, 0), errno.EINVAL)
refused("drop bound", lambda: call("prctl", 24, 21, 0, 0, 0))
refused("ambient", lambda: call("prctl", 47, 2, 21, 0, 0))`,
  }),
  bomb('a subreaper that clears its death signal dies with its run', ['exited'], {
    cpp: raw`
if (fork() == 0) { prctl(PR_SET_CHILD_SUBREAPER, 1); prctl(PR_SET_PDEATHSIG, 0); setsid(); if (fork() == 0) { prctl(PR_SET_NAME, "bwrap"); for (;;) pause(); } for (;;) pause(); }
usleep(100000);`,
  }),
  probe('no filter of its own can be loaded', {
    cpp: raw`
struct { unsigned short length; void *rows; } program = {0, nullptr};
refused("seccomp", call(SYS_seccomp, 1, 0, &program)); refused("seccomp, new listener", call(SYS_seccomp, 1, 8, &program));
refused("prctl", prctl(PR_SET_SECCOMP, 2, &program), EINVAL);
refused("prctl, high bits", call(SYS_prctl, 0x700000000ul | PR_SET_SECCOMP, 2, &program), EINVAL);`,
    python: raw`refused("prctl", lambda: call("prctl", 22, 1, 0, 0, 0), errno.EINVAL)`,
  }),
  probe('limits cannot be raised, priorities not taken', {
    python: raw`
import resource
for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_CPU, resource.RLIMIT_FSIZE, resource.RLIMIT_CORE):
    soft, hard = resource.getrlimit(kind)
    try: resource.setrlimit(kind, (hard + 1, hard + 1)); escape(kind)
    except (ValueError, OSError) as error: print("refused", error)
refused("nice", lambda: os.setpriority(os.PRIO_PROCESS, 0, -20) or "done")
refused("fifo", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)) or "done")
refused("rr", lambda: os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(99)) or "done")`,
    cpp: raw`
for (int kind : {RLIMIT_NOFILE, RLIMIT_CPU, RLIMIT_FSIZE, RLIMIT_CORE}) { rlimit wide{RLIM_INFINITY, RLIM_INFINITY}; refused("rlimit", setrlimit((__rlimit_resource)kind, &wide)); }
sched_param one{1}; refused("fifo", sched_setscheduler(0, SCHED_FIFO, &one)); refused("nice", setpriority(PRIO_PROCESS, 0, -20));
refused("ioprio", call(SYS_ioprio_set, 1, 0, 1 << 13));
struct { unsigned size, policy; unsigned long flags; int nice; unsigned priority; unsigned long run, end, period; } deadline = {48, 6, 0, 0, 0, 10000000, 20000000, 20000000};
refused("deadline", call(SYS_sched_setattr, 0, &deadline, 0));`,
  }),
  probe('personalities are refused', {
    cpp: raw`
for (unsigned long one : {0x0400000ul, 0x0040000ul, 0x8ul, 0x100000000ul | 0x0400000ul}) refused("personality", call(SYS_personality, one));`,
    python: raw`
refused("read implies exec", lambda: call("personality", 0x0400000))`,
  }),
  probe('tools of the JDK find no other JVM', {
    java: raw`
var pids = output(System.getProperty("java.home") + "/bin/jcmd", "-l"); System.out.println(pids);
if (pids.lines().filter(line -> line.matches("\\d+ .*") && !line.contains("jcmd")).count() > 1) escape(pids);
refused("hsperfdata", () -> { var all = new File("/tmp").list((d, n) -> n.startsWith("hsperfdata") || n.startsWith(".java_pid")); if (all.length == 0) throw new IOException("none"); for (var one : all) if (one.startsWith(".java_pid")) return one; throw new IOException("none of ours"); });`,
  }),
]
