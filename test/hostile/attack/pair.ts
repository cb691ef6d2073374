// Attacks between a program and its interactor. The victim, which holds a secret everywhere, is in pair.ts.
import type { PairAttack } from '../pair.ts'

const raw = String.raw

/** hostile.ts measures what the worker pays for each. */
export const pairAttacks: readonly PairAttack[] = [
  {
    name: 'a hundred thousand waits for a stream hold up nobody',
    code: {
      cpp: raw`
int copies[150], told = 0; for (int &copy : copies) copy = dup(1);
for (int one; told < 100000 && (one = epoll_create1(0)) >= 0;)
  for (int copy : copies) { epoll_event nothing{}; if (epoll_ctl(one, EPOLL_CTL_ADD, copy, &nothing) == 0) told++; }
for (int n = 0; n < 2000; n++) write(1, "\n", 1);
fprintf(stderr, "%d waits\n", told);`,
      python: raw`
import select
copies, waits = [os.dup(1) for _ in range(150)], []
for _ in range(600):
    waits.append(select.epoll())
    for copy in copies: waits[-1].register(copy, 0)
for _ in range(2000): os.write(1, b"\n")`,
    },
  },
  {
    name: 'the other is not among the processes',
    code: {
      python: raw`
others = [pid for pid in os.listdir("/proc") if pid.isdigit() and int(pid) not in (1, os.getpid())]
if others: escape(others)
for name in ("cmdline", "environ", "maps", "mem", "stack"): refused(name, lambda: open(f"/proc/3/{name}").read())
for name in ("fd", "root", "cwd", "task"): refused(name, lambda: os.listdir(f"/proc/3/{name}"))`,
      cpp: raw`
DIR *all = opendir("/proc"); while (dirent *one = readdir(all)) { int pid = atoi(one->d_name); if (pid > 1 && pid != getpid()) escape(one->d_name); }`,
    },
  },
  {
    name: 'the other gets no signal, is not traced and not read',
    code: {
      cpp: raw`
char bytes[8]; iovec here{bytes, 8}, there{(void *)0x400000, 8};
for (int pid = 2; pid < 100000; pid++) {
  if (pid == getpid()) continue;
  if (kill(pid, SIGUSR1) == 0) escape("kill");
  if (pid > 5000) continue;
  if (ptrace(PTRACE_SEIZE, pid, nullptr, nullptr) == 0) escape("ptrace");
  if (syscall(SYS_process_vm_readv, pid, &here, 1, &there, 1, 0) > 0) escape("process_vm_readv");
  if (syscall(434, pid, 0) >= 0) escape("pidfd_open");
  if (getpriority(PRIO_PROCESS, pid) == 0 && errno == 0) escape("getpriority");
}
refused("all", kill(-1, SIGUSR1)); refused("as a user", setpriority(PRIO_USER, getuid() + 1, 5));`,
      python: raw`
for pid in range(2, 20000):
    if pid == os.getpid(): continue
    for number in (0, 9, 10):
        try: os.kill(pid, number); escape(pid)
        except OSError: pass
refused("all", lambda: os.kill(-1, 9))`,
    },
  },
  {
    name: 'the files of the other are not there, and stay as they are',
    code: {
      python: raw`
for place in ("/tmp/secret", "/box/secret", "/dev/shm/secret"):
    refused(place, lambda: open(place).read())
    open(place, "w").write("stolen")
for place, _, names in os.walk("/"):
    if place.startswith(("/proc", "/usr")): continue
    for path in (os.path.join(place, name) for name in names):
        if os.path.isfile(path) and os.access(path, os.R_OK) and b"secret" + b"-" in open(path, "rb").read(4096): escape(path)`,
    },
  },
  {
    name: 'no memory, no socket and no variable of the other is there',
    code: {
      python: raw`
refused("memory", lambda: call("shmget", 0x5eed, 0, 0))
refused("socket", lambda: socket.socket(socket.AF_UNIX).connect("\0victim"))
if "SECRET" in os.environ or any("secret" + "-" in word for word in os.environ.values()): escape("environment")
if any("secret" + "-" in word for word in sys.argv): escape("arguments")`,
      cpp: raw`
refused("memory", shmget(0x5eed, 0, 0));
sockaddr_un name = {AF_UNIX, "\0victim"}; refused("socket", connect(socket(AF_UNIX, SOCK_STREAM, 0), (sockaddr *)&name, sizeof(sa_family_t) + 7));
if (getenv("SECRET")) escape("environment");`,
    },
  },
  {
    name: 'the two streams carry bytes and nothing else',
    code: {
      python: raw`
import array, fcntl
for number in (0, 1):
    one = socket.socket(fileno=os.dup(number))
    pid, user, group = struct.unpack("3i", one.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    if pid != 0 or user == 0: escape(f"the peer is {pid} of {user}")
    if one.getsockname() or one.getpeername(): escape("a name")
    refused("a descriptor", lambda: one.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [2]))]))
    refused("by name", lambda: look(f"/proc/self/fd/{number}", os.O_RDWR))
    refused("in /dev", lambda: look(["/dev/stdin", "/dev/stdout"][number]))
    refused("its peer", lambda: one.getsockopt(1, 77))
    fcntl.fcntl(number, 8, os.getpid())
    for flag in (socket.MSG_OOB, socket.MSG_DONTWAIT):
        try: one.send(b"x", flag)
        except OSError: pass
os.write(0, b"stray\n")`,
      cpp: raw`
for (int number : {0, 1}) {
  ucred peer; socklen_t size = sizeof peer; getsockopt(number, SOL_SOCKET, SO_PEERCRED, &peer, &size); if (peer.pid != 0 || peer.uid == 0) escape("peer");
  int own = 2; char byte = 'x'; iovec bytes{&byte, 1}; alignas(cmsghdr) char control[CMSG_SPACE(sizeof own)] = {}; msghdr message{}; message.msg_iov = &bytes; message.msg_iovlen = 1; message.msg_control = control; message.msg_controllen = sizeof control;
  cmsghdr *head = CMSG_FIRSTHDR(&message); head->cmsg_level = SOL_SOCKET; head->cmsg_type = SCM_RIGHTS; head->cmsg_len = CMSG_LEN(sizeof own); memcpy(CMSG_DATA(head), &own, sizeof own);
  refused("a descriptor", sendmsg(number, &message, 0));
}
if (write(0, "stray\n", 6) < 0) perror("write");`,
    },
  },
]
