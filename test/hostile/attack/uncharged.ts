// Attacks through work and memory that the kernel does not charge to a program: error queues, orphans, groups of sockets,
// descriptors in transit, packets of one byte. For `accounted` rows account.ts also checks the host's own figures.
import { bomb, probe, stopped } from '../attack.ts'
import type { Attack } from '../attack.ts'

const raw = String.raw
const accounted = { accounted: true } as const
/** Keeps attacks.ts from running the row with a network, because loopback.ts has another version of it. */
const network = 'none'

export const unchargedAttacks: readonly Attack[] = [
  bomb(
    'errors of datagrams that are kept with time stamps take nothing',
    ['exited', 'memory_limit', 'crashed'],
    {
      python: raw`
data = bytes(60000); held = []
for kind in ((socket.AF_INET, socket.SOCK_DGRAM), (socket.AF_UNIX, socket.SOCK_DGRAM)):
    for _ in range(999):
        try: s = socket.socket(*kind)
        except OSError: break
        held.append(s)
        for option, value in ((8, 1 << 30), (7, 1 << 30), (37, 256), (65, 256)):
            try: s.setsockopt(1, option, value)
            except OSError: pass
        for _ in range(8):
            try: s.sendto(data, 64, ("127.0.0.1", 9) if kind[0] == socket.AF_INET else "/tmp/nobody")
            except OSError: break`,
      cpp: raw`
static char data[60000]; int most = 1 << 30, stamps = 256; sockaddr_in nobody{}; nobody.sin_family = AF_INET; nobody.sin_port = htons(9); nobody.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
for (int i = 0; i < 999; i++) {
  int s = socket(AF_INET, SOCK_DGRAM, 0); if (s < 0) break;
  setsockopt(s, 1, 7, &most, 4); setsockopt(s, 1, 8, &most, 4); setsockopt(s, 1, 37, &stamps, 4);
  for (int n = 0; n < 8; n++) sendto(s, data, sizeof data, MSG_DONTWAIT, (sockaddr *)&nobody, sizeof nobody);
}`,
    },
    accounted,
  ),
  probe('no socket keeps time stamps or errors', {
    python: raw`
one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
for option in (29, 35, 37, 63, 64, 65): refused(str(option), lambda: one.setsockopt(1, option, 256))
for level, option in ((0, 11), (41, 25), (0, 8), (17, 103)): refused(f"{level} {option}", lambda: one.setsockopt(level, option, 1))`,
    cpp: raw`
int ends[2], on = 256; socketpair(AF_UNIX, SOCK_DGRAM, 0, ends);
for (long option : {29, 35, 37, 63, 64, 65}) { refused("stamps", setsockopt(ends[0], 1, option, &on, 4)); refused("high bits", call(SYS_setsockopt, ends[0], 1l << 32 | 1, 1l << 32 | option, &on, 4)); }
for (long level : {0, 6, 17, 41, 270}) refused("level", call(SYS_setsockopt, ends[0], 1l << 32 | level, 11, &on, 4));`,
  }),
  bomb(
    'connections that are closed with data on the way leave nothing',
    ['exited', 'crashed'],
    {
      python: raw`
try:
    address = ("127.0.0.1", 5000); server = socket.socket(); server.setsockopt(6, 9, 60); server.bind(address); server.listen(999)
    held = []
    for _ in range(40):
        s = socket.socket(); s.setsockopt(1, 7, 4 << 20); s.connect(address); s.setblocking(False); held.append(s)
    held[0].send(b"x"); time.sleep(0.01); server.listen(0)
    for s in held[1:]:
        try:
            while True: s.send(bytes(65536))
        except BlockingIOError: pass
    escape("connected")
except OSError: pass`,
      cpp: raw`
sockaddr_in to{}; to.sin_family = AF_INET; to.sin_addr.s_addr = htonl(INADDR_LOOPBACK); to.sin_port = htons(5000);
int server = socket(AF_INET, SOCK_STREAM, 0); refused("server", server); refused("bind", bind(server, (sockaddr *)&to, sizeof to), EBADF);`,
    },
    { ...accounted, network },
  ),
  bomb(
    'connections to a Unix socket that nobody accepts leave nothing',
    [...stopped, 'exited'],
    {
      python: raw`
servers, held = [], []
try:
    for n in range(20):
        server = socket.socket(socket.AF_UNIX); server.bind(f"\0orphans {n}"); server.listen(1 << 30); servers.append(server)
        for _ in range(40):
            s = socket.socket(socket.AF_UNIX); s.setblocking(False); s.setsockopt(1, 7, 1 << 30); s.connect(f"\0orphans {n}"); held.append(s)
            try:
                while True: s.send(bytes(65536))
            except BlockingIOError: pass
except OSError: pass`,
      cpp: raw`
static char data[65536]; sockaddr_un name{}; name.sun_family = AF_UNIX; int most = 1 << 30; bool more = true;
for (int n = 0; n < 20 && more; n++) {
  int server = socket(AF_UNIX, SOCK_STREAM, 0); name.sun_path[1] = 'a' + n; socklen_t size = sizeof(sa_family_t) + 2;
  if (server < 0 || bind(server, (sockaddr *)&name, size) != 0 || listen(server, most) != 0) break;
  for (int i = 0; i < 40; i++) {
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0); if (s < 0 || connect(s, (sockaddr *)&name, size) != 0) { more = false; break; }
    setsockopt(s, 1, 7, &most, 4); while (write(s, data, sizeof data) > 0) ;
  }
}`,
    },
    accounted,
  ),
  probe(
    'no group of sockets shares a port',
    {
      python: raw`
for family in (socket.AF_INET, socket.AF_INET6): refused(str(family), lambda: socket.socket(family, socket.SOCK_DGRAM))
refused("reuse", lambda: socket.socket(socket.AF_UNIX).setsockopt(1, 15, 1))`,
      cpp: raw`
int s = socket(AF_UNIX, SOCK_DGRAM, 0), on = 1; refused("reuse", setsockopt(s, 1, 15, &on, 4)); refused("high bits", call(SYS_setsockopt, s, 1, 1l << 32 | 15, &on, 4));`,
    },
    { network },
  ),
  bomb(
    'descriptors on their way in circles keep no thread of the kernel at work',
    ['exited', 'cpu_limit', 'wall_limit', 'crashed'],
    {
      python: raw`
import array
chain = [socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(100)]
give = lambda to, *what: to.sendmsg([b"x"], [(1, 1, array.array("i", [one.fileno() for one in what]))])
for last, pair in zip(chain, chain[1:]): refused("pass on", lambda: give(pair[0], *last, chain[0][0]))
refused("send_fds", lambda: socket.send_fds(chain[0][0], [b"x"], [1]))`,
      cpp: raw`
int pairs[100][2]; for (auto &pair : pairs) socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
for (int i = 1; i < 100; i++) {
  alignas(cmsghdr) char control[CMSG_SPACE(12)] = ""; char c = 'x'; iovec part{&c, 1}; msghdr message{}; message.msg_iov = &part; message.msg_iovlen = 1; message.msg_control = control; message.msg_controllen = sizeof control;
  cmsghdr *head = CMSG_FIRSTHDR(&message); head->cmsg_level = SOL_SOCKET; head->cmsg_type = SCM_RIGHTS; head->cmsg_len = CMSG_LEN(12);
  int given[3] = {pairs[i - 1][0], pairs[i - 1][1], pairs[0][0]}; memcpy(CMSG_DATA(head), given, 12);
  refused("sendmsg", sendmsg(pairs[i][0], &message, 0)); mmsghdr many{message, 0}; refused("sendmmsg", sendmmsg(pairs[i][0], &many, 1, 0));
}`,
    },
    accounted,
  ),
  probe('no pipe carries packets', {
    python: raw`
import fcntl
refused("pipe2", lambda: os.pipe2(os.O_DIRECT), errno.EINVAL)
for one in (1, 2, *os.pipe()): refused(str(one), lambda: fcntl.fcntl(one, fcntl.F_SETFL, os.O_WRONLY | os.O_DIRECT), errno.EINVAL)
refused("by name", lambda: os.open("/proc/self/fd/1", os.O_WRONLY | os.O_DIRECT), errno.EINVAL)`,
    cpp: raw`
int ends[2]; refused("pipe2", pipe2(ends, O_DIRECT | O_CLOEXEC), EINVAL); refused("high bits", call(SYS_pipe2, ends, 1l << 32 | O_DIRECT), EINVAL);
for (int one : {1, 2}) { refused("F_SETFL", fcntl(one, F_SETFL, O_WRONLY | O_DIRECT), EINVAL); refused("high bits", call(SYS_fcntl, one, 1l << 32 | F_SETFL, O_WRONLY | O_DIRECT), EINVAL); }
refused("by name", open("/proc/self/fd/1", O_WRONLY | O_DIRECT), EINVAL);`,
  }),
  bomb(
    'output of one byte at a time costs nobody else',
    ['output_limit', 'cpu_limit', 'wall_limit', 'exited'],
    {
      python: raw`
import fcntl
for one in (1, 2):
    for act in (lambda: fcntl.fcntl(one, fcntl.F_SETFL, os.O_WRONLY | os.O_DIRECT), lambda: fcntl.fcntl(one, 1031, 1 << 20)):
        try: act()
        except OSError: pass
while True: os.write(1, b"x"); os.write(2, b"y")`,
      cpp: raw`
for (int one : {1, 2}) { fcntl(one, F_SETFL, O_WRONLY | O_DIRECT); fcntl(one, F_SETPIPE_SZ, 1 << 20); }
for (;;) { write(1, "x", 1); write(2, "y", 1); }`,
    },
    accounted,
  ),
]
