// The table of channels: files, shared memory, message queues, names, locks and watches through which two runs might
// communicate.
import type { Channel } from '../channel.ts'

const raw = String.raw

/** A channel that works between two ends in one box. */
const channel = (name: string, code: Channel['code'], more: Partial<Channel> = {}): Channel => ({
  name,
  open: true,
  code,
  ...more,
})

/** A channel that does not work in one box either. */
const closed = (name: string, code: Channel['code']): Channel =>
  channel(name, code, { open: false })

/** A file that the sender creates and the receiver looks for. */
const fileAt = (name: string, path: string): Channel =>
  channel(name, {
    python: { send: `open("${path}", "w").write("message")`, receive: `os.path.exists("${path}")` },
    cpp: {
      send: `close(open("${path}", O_CREAT | O_WRONLY, 0666));`,
      receive: `return access("${path}", F_OK) == 0;`,
    },
    java: {
      send: `Files.writeString(Path.of("${path}"), "message");`,
      receive: `return Files.exists(Path.of("${path}"));`,
    },
  })

export const channels: readonly Channel[] = [
  fileAt('a file in /tmp', '/tmp/message'),
  fileAt('a file in /box', '/box/message'),
  fileAt('a file in /dev/shm', '/dev/shm/message'),
  channel('System V shared memory', {
    cpp: {
      send: `shmget(0x5eed, 4096, IPC_CREAT | 0666);`,
      receive: `return shmget(0x5eed, 0, 0) >= 0;`,
    },
    python: {
      send: `call("shmget", 0x5eed, 4096, 0o1666)`,
      receive: `libc.shmget(0x5eed, 0, 0) >= 0`,
    },
  }),
  channel('a System V semaphore', {
    cpp: {
      send: `semget(0x5eed, 1, IPC_CREAT | 0666);`,
      receive: `return semget(0x5eed, 0, 0) >= 0;`,
    },
    python: {
      send: `call("semget", 0x5eed, 1, 0o1666)`,
      receive: `libc.semget(0x5eed, 0, 0) >= 0`,
    },
  }),
  channel('a System V message queue', {
    cpp: { send: `msgget(0x5eed, IPC_CREAT | 0666);`, receive: `return msgget(0x5eed, 0) >= 0;` },
    python: { send: `call("msgget", 0x5eed, 0o1666)`, receive: `libc.msgget(0x5eed, 0) >= 0` },
  }),
  channel('a POSIX message queue', {
    cpp: {
      send: `syscall(SYS_mq_open, "hostile", O_CREAT | O_RDWR, 0666, nullptr);`,
      receive: `return syscall(SYS_mq_open, "hostile", O_RDWR, 0, nullptr) >= 0;`,
    },
  }),
  channel('POSIX shared memory and semaphores', {
    cpp: {
      shared: '#include <semaphore.h>',
      send: `sem_open("/hostile", O_CREAT, 0666, 1);`,
      receive: `return sem_open("/hostile", 0) != SEM_FAILED;`,
    },
    python: {
      shared: 'from multiprocessing import shared_memory, resource_tracker',
      send: `held = shared_memory.SharedMemory("hostile", create=True, size=64); globals().update(held=held)`,
      receive: `os.path.exists("/dev/shm/hostile")`,
    },
  }),
  channel('an abstract Unix socket', {
    python: {
      send: `s = socket.socket(socket.AF_UNIX); s.bind("\\0hostile"); s.listen(); globals().update(s=s)`,
      receive: `socket.socket(socket.AF_UNIX).connect_ex("\\0hostile") == 0`,
    },
    cpp: {
      shared: raw`static sockaddr_un name = {AF_UNIX, "\0hostile"}; static socklen_t length = sizeof(sa_family_t) + 8;`,
      send: `int s = socket(AF_UNIX, SOCK_STREAM, 0); bind(s, (sockaddr *)&name, length); listen(s, 8);`,
      receive: `int s = socket(AF_UNIX, SOCK_STREAM, 0); bool got = connect(s, (sockaddr *)&name, length) == 0; close(s); return got;`,
    },
  }),
  channel('a Unix socket in /tmp', {
    java: {
      shared: 'static ServerSocketChannel held;',
      send: `held = ServerSocketChannel.open(StandardProtocolFamily.UNIX); held.bind(UnixDomainSocketAddress.of("/tmp/hostile"));`,
      receive: `try (var one = SocketChannel.open(UnixDomainSocketAddress.of("/tmp/hostile"))) { return true; }`,
    },
  }),
  channel('a taken name among abstract sockets', {
    python: {
      shared: raw`
def taken():
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        try: s.bind("\0taken")
        except OSError as error: return error.errno == errno.EADDRINUSE
    return False`,
      send: raw`held = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM); held.bind("\0taken"); globals().update(held=held)`,
      receive: `taken()`,
    },
  }),
  channel(
    'a server on loopback',
    {
      python: {
        send: `s = socket.create_server(("127.0.0.1", 7777)); globals().update(s=s)`,
        receive: `socket.socket().connect_ex(("127.0.0.1", 7777)) == 0`,
      },
      java: {
        shared: 'static ServerSocket held;',
        send: `held = new ServerSocket(7777, 9, InetAddress.getLoopbackAddress());`,
        receive: `try (var one = new Socket(InetAddress.getLoopbackAddress(), 7777)) { return true; }`,
      },
    },
    { network: 'loopback' },
  ),
  channel(
    'a taken port of UDP',
    {
      cpp: {
        shared: raw`static sockaddr_in6 name; static int take() { name.sin6_family = AF_INET6; name.sin6_port = htons(7777); int s = socket(AF_INET6, SOCK_DGRAM, 0); int failed = bind(s, (sockaddr *)&name, sizeof name) ? errno : 0; if (failed) close(s); return failed ? -failed : s; }`,
        send: `take();`,
        receive: `int s = take(); if (s >= 0) close(s); return s == -EADDRINUSE;`,
      },
    },
    { network: 'loopback' },
  ),
  closed('the memory of JVMs in hsperfdata', {
    java: {
      send: `text("/proc/self/status");`,
      receive: `var all = new File("/tmp").list((d, n) -> n.startsWith("hsperfdata")); return all != null && all.length > 0;`,
    },
  }),
  channel('the list of processes', {
    python: {
      shared: 'import glob',
      send: `os.fork() or (libc.prctl(15, b"message"), time.sleep(1.2), os._exit(0))\ntime.sleep(0.1)`,
      receive: `any(open(path).read() == "message\\n" for path in glob.glob("/proc/[0-9]*/comm"))`,
    },
    java: {
      send: `new ProcessBuilder("/bin/sleep", "1.234").start();`,
      receive: `return ProcessHandle.allProcesses().anyMatch(one -> one.info().commandLine().orElse("").contains("1.234"));`,
    },
    cpp: {
      send: `if (fork() == 0) { setsid(); if (fork() == 0) { prctl(PR_SET_NAME, "message"); sleep(2); } _exit(0); } usleep(20000);`,
      receive: `return system("grep -qs '^message$' /proc/[0-9]*/comm") == 0;`,
    },
  }),
  closed('a key in a keyring', {
    cpp: {
      send: `for (int ring : {-1, -2, -3, -4, -5}) syscall(SYS_add_key, "user", "hostile", "m", 1, ring);`,
      receive: `return syscall(SYS_request_key, "user", "hostile", nullptr, -3) >= 0 || system("grep -qs hostile /proc/keys") == 0;`,
    },
    python: {
      send: `libc.syscall(248, b"user", b"hostile", b"m", 1, -4)`,
      receive: `"hostile" in open("/proc/keys").read()`,
    },
  }),
  channel('a POSIX lock on a shared file', {
    cpp: {
      shared: `static struct flock lock = {F_RDLCK, SEEK_SET, 7, 1, 0};`,
      send: `fcntl(open("/usr/bin/python3", O_RDONLY), F_SETLK, &lock); fcntl(open("/usr/bin/python3", O_RDONLY), F_OFD_SETLK, &lock);`,
      receive: `struct flock ask = {F_WRLCK, SEEK_SET, 7, 1, 0}; int f = open("/usr/bin/python3", O_RDONLY); bool got = fcntl(f, F_OFD_GETLK, &ask) == 0 && ask.l_type != F_UNLCK; close(f); return got;`,
    },
    python: {
      shared: 'import fcntl',
      send: `f = open("/usr/bin/python3"); globals().update(f=f); fcntl.lockf(f, fcntl.LOCK_SH); fcntl.fcntl(f, 37, struct.pack("hhqqi4x", 0, 0, 0, 0, 0))`,
      receive: `struct.unpack("hhqqi4x", fcntl.fcntl(open("/usr/bin/python3"), 36, struct.pack("hhqqi4x", 1, 0, 0, 1, 0)))[0] != 2`,
    },
  }),
  channel('flock on a shared file', {
    cpp: {
      shared: '#include <sys/file.h>',
      send: `flock(open("/usr/bin/python3", O_RDONLY), LOCK_EX);`,
      receive: `int f = open("/usr/bin/python3", O_RDONLY); bool got = flock(f, LOCK_EX | LOCK_NB) == -1 && errno == EWOULDBLOCK; close(f); return got;`,
    },
    python: {
      shared: `
import fcntl
def locked():
    try: fcntl.flock(open("/usr/bin/python3"), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError: return True
    return False`,
      send: `f = open("/usr/bin/python3"); globals().update(f=f); fcntl.flock(f, fcntl.LOCK_EX)`,
      receive: `locked()`,
    },
  }),
  closed('a lease on a shared file', {
    cpp: {
      send: `fcntl(open("/usr/bin/python3", O_RDONLY), 1024, F_RDLCK);`,
      receive: `int f = open("/usr/bin/python3", O_RDONLY); bool got = fcntl(f, 1025) != F_UNLCK; close(f); return got;`,
    },
  }),
  closed('a watch on a shared file', {
    cpp: {
      shared: '#include <sys/inotify.h>\nstatic int watch = -2;',
      send: `for (int i = 0; i < 40; i++) { close(open("/usr/bin/base64", O_RDONLY)); usleep(10000); }`,
      receive: `if (watch == -2) { watch = inotify_init1(IN_NONBLOCK); inotify_add_watch(watch, "/usr/bin/base64", IN_OPEN); } char text[4096]; return watch >= 0 && read(watch, text, sizeof text) > 0;`,
    },
    java: {
      shared: 'static WatchService watch;',
      send: `for (int i = 0; i < 40; i++) { text("/usr/bin/base64"); Thread.sleep(10); }`,
      receive: `if (watch == null) { watch = FileSystems.getDefault().newWatchService(); Path.of("/usr/bin").register(watch, StandardWatchEventKinds.ENTRY_MODIFY); } return watch.poll() != null;`,
    },
    python: {
      send: `[(os.close(os.open("/usr/bin/base64", os.O_RDONLY)), time.sleep(0.01)) for _ in range(40)]`,
      receive: `libc.inotify_init() >= 0`,
    },
  }),
  closed('the time of last access of a shared file', {
    python: {
      send: `open("/usr/share/zoneinfo/Asia/Tokyo", "rb").read()`,
      receive: `time.time() - os.stat("/usr/share/zoneinfo/Asia/Tokyo").st_atime < 10`,
    },
    cpp: {
      send: `char c; read(open("/usr/bin/tsort", O_RDONLY), &c, 1);`,
      receive: `struct stat s; return stat("/usr/bin/tsort", &s) == 0 && time(nullptr) - s.st_atime < 10;`,
    },
  }),
  closed('a hint on a shared file', {
    cpp: {
      send: `unsigned long hint = 5; fcntl(open("/usr/bin/tsort", O_RDONLY), 1036, &hint);`,
      receive: `unsigned long hint = 0; int f = open("/usr/bin/tsort", O_RDONLY); fcntl(f, 1035, &hint); close(f); return hint == 5;`,
    },
  }),
  channel('the pages of a user’s pipes', {
    python: {
      shared: 'import fcntl',
      send: `
children = [True]
while len(children) < 10 and children[-1]: children.append(os.fork())
globals().update(held=[os.pipe() for _ in range(120)])
if not children[-1]: time.sleep(2); os._exit(0)
time.sleep(0.3)`,
      receive: `min(fcntl.fcntl(one, 1032) for one in os.pipe()) < 65536`,
    },
    cpp: {
      send: `int held[2]; bool child = false; for (int i = 0; i < 9 && !child; i++) child = fork() == 0; for (int i = 0; i < 120; i++) pipe(held); if (child) { sleep(2); _exit(0); } usleep(300000);`,
      receive: `int one[2]; return pipe(one) == 0 && fcntl(one[0], 1032) < 65536;`,
    },
  }),
  channel('the pending signals of a user', {
    cpp: {
      shared: `static int queue() { sigset_t all; sigfillset(&all); sigprocmask(SIG_BLOCK, &all, nullptr); return sigqueue(getpid(), SIGRTMIN, {}); }`,
      send: `while (queue() == 0);`,
      receive: `if (queue() < 0) return errno == EAGAIN; sigset_t all; sigfillset(&all); sigwaitinfo(&all, nullptr); return false;`,
    },
  }),
  closed('the host name', {
    cpp: {
      send: `sethostname("message", 7);`,
      receive: `char name[64]; gethostname(name, 64); return strcmp(name, "box") != 0;`,
    },
  }),
  closed('the program’s own file', {
    python: {
      send: `open("/box/main.py", "a").write("#")`,
      receive: `open("/box/main.py").read().endswith("#")`,
    },
    java: {
      send: `Files.write(Path.of("/box/main.jar"), new byte[1], StandardOpenOption.APPEND);`,
      receive: `return Files.readAllBytes(Path.of("/box/main.jar"))[(int) Files.size(Path.of("/box/main.jar")) - 1] == 1;`,
    },
  }),
  closed('code left for the next interpreter', {
    python: {
      send: `[open(p, "w").write("import os; os.environ['MESSAGE'] = '1'") for p in ("/tmp/sitecustomize.py", "/box/usercustomize.py", "/box/.pythonrc", "/usr/lib/python3/dist-packages/hostile.pth")]`,
      receive: `"MESSAGE" in os.environ`,
    },
  }),
  closed('a page that forks share', {
    python: {
      send: raw`[libc.mprotect(ctypes.c_void_p(int(l.split("-")[0], 16)), 4096, 3) == 0 and ctypes.memset(int(l.split("-")[0], 16) + 64, 77, 1) for l in open("/proc/self/maps") if l.split()[1][3] == "s" and "/usr/" not in l]`,
      receive: raw`any(ctypes.string_at(int(l.split("-")[0], 16) + 64, 1) == b"M" for l in open("/proc/self/maps") if l.split()[1][3] == "s" and "/usr/" not in l)`,
    },
  }),
]
