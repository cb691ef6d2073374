// Attacks through the sockets that a program has with `network: loopback`: other networks that it might reach, and what the
// kernel holds for connections and datagrams that nobody accepts. attacks.ts also runs the tables that a network may affect
// with loopback.
import { bomb, probe } from '../attack.ts'
import type { Attack } from '../attack.ts'

const raw = String.raw
const network = 'loopback'
const accounted = { accounted: true, network } as const
const stopped = ['memory_limit', 'wall_limit', 'cpu_limit', 'exited', 'crashed'] as const

/** A C++ address on loopback, with a port that the kernel chooses. */
const address = raw`static sockaddr_in at{}; static socklen_t size = sizeof at; static int on = 1; static char data[65536];
static int serve(int kind, int waiting) { at.sin_family = AF_INET; at.sin_addr.s_addr = htonl(INADDR_LOOPBACK); at.sin_port = 0; int s = socket(AF_INET, kind, 0); bind(s, (sockaddr *)&at, size); getsockname(s, (sockaddr *)&at, &size); if (kind == SOCK_STREAM) listen(s, waiting); return s; }
//main
`

export const loopbackAttacks: readonly Attack[] = [
  probe(
    'of networks there are TCP and UDP',
    {
      python: raw`
usual = {(1, 1), (1, 2), (1, 5), (2, 1), (2, 2), (10, 1), (10, 2)}
for family in range(64):
    for kind in range(1, 11):
        if (family, kind) not in usual: refused(f"socket {family} {kind}", lambda: call("socket", family, kind, 0))
    if family != 1: refused(f"socketpair {family}", lambda: call("socketpair", family, 1, 0, ctypes.create_string_buffer(8)))`,
      cpp: raw`
int ends[2];
for (int family = 0; family < 64; family++) {
  for (int kind = 1; kind < 11; kind++) if (!((family == 1 && (kind < 3 || kind == 5)) || ((family == 2 || family == 10) && kind < 3))) { refused("socket", socket(family, kind, 0)); refused("high bits", call(SYS_socket, 1l << 32 | family, 1l << 32 | kind, 1l << 32)); }
  if (family != 1) refused("socketpair", socketpair(family, 1, 0, ends));
}
for (int protocol = 1; protocol < 263; protocol++) { if (protocol != 6) refused("stream", socket(AF_INET, SOCK_STREAM, protocol)); if (protocol != 17) refused("datagram", socket(AF_INET6, SOCK_DGRAM, protocol)); }`,
    },
    { network },
  ),
  probe(
    'no group of sockets shares a port on loopback',
    {
      python: raw`
for family in (socket.AF_INET, socket.AF_INET6):
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        one = socket.socket(family, kind)
        refused(f"{family} {kind}", lambda: one.setsockopt(1, 15, 1))
        for option in (51, 52): refused(f"program {option}", lambda: one.setsockopt(1, option, bytes(16)))`,
      cpp: raw`
int on = 1;
for (int kind : {SOCK_STREAM, SOCK_DGRAM}) { int s = socket(AF_INET, kind, 0); refused("reuse", setsockopt(s, 1, 15, &on, 4)); refused("high bits", call(SYS_setsockopt, s, 1l << 32 | 1, 1l << 32 | 15, &on, 4)); }`,
    },
    { network },
  ),
  bomb(
    'connections on loopback that are closed with data on the way leave nothing',
    stopped,
    {
      python: raw`
server = socket.socket(); server.bind(("127.0.0.1", 0)); server.listen(999); held = []
for _ in range(400):
    s = socket.socket(); s.connect(server.getsockname()); s.setblocking(False); held.append(s)
    try:
        while True: s.send(bytes(65536))
    except BlockingIOError: pass
for s in held: s.close()`,
      cpp: raw`${address}
for (int round = 0; round < 4; round++) {
  int server = serve(SOCK_STREAM, 999), held[300]; 
  for (int &s : held) { s = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0); if (s < 0 || (connect(s, (sockaddr *)&at, size) != 0 && errno != EINPROGRESS)) break; while (send(s, data, sizeof data, MSG_NOSIGNAL) > 0) ; }
  for (int s : held) close(s);
  close(server);
}`,
    },
    accounted,
  ),
  bomb(
    'connections on loopback that nobody accepts leave nothing',
    stopped,
    {
      python: raw`
held = []
try:
    for _ in range(30):
        server = socket.socket(); server.bind(("127.0.0.1", 0)); server.listen(4096); held.append(server)
        for _ in range(200):
            s = socket.socket(); s.setblocking(False); s.connect_ex(server.getsockname()); held.append(s)
            try: s.send(bytes(65536))
            except OSError: pass
except OSError: pass`,
      cpp: raw`${address}
for (int i = 0; i < 20; i++) if (fork() == 0) {
  serve(SOCK_STREAM, 4096);
  for (;;) { int s = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0); if (s < 0) break; connect(s, (sockaddr *)&at, size); while (send(s, data, sizeof data, MSG_NOSIGNAL) > 0) ; }
  pause();
}
pause();`,
    },
    accounted,
  ),
  bomb(
    'datagrams on loopback that nobody reads leave nothing',
    stopped,
    {
      python: raw`
held = []
try:
    for n in range(900):
        family, host = (socket.AF_INET6, "::1") if n % 2 else (socket.AF_INET, "127.0.0.1")
        s = socket.socket(family, socket.SOCK_DGRAM); s.bind((host, 0)); s.setblocking(False); held.append(s)
        for _ in range(20): s.sendto(bytes(60000), s.getsockname())
except OSError: pass`,
      cpp: raw`${address}
for (int i = 0; i < 20; i++) if (fork() == 0) { for (int s; (s = serve(SOCK_DGRAM, 0)) >= 0;) for (int n = 0; n < 20; n++) sendto(s, data, 60000, MSG_DONTWAIT, (sockaddr *)&at, size); pause(); }
pause();`,
    },
    accounted,
  ),
  bomb(
    'connections that end by the thousand leave nothing',
    stopped,
    {
      python: raw`
server = socket.socket(); server.bind(("127.0.0.1", 0)); server.listen(99)
while True:
    s = socket.create_connection(server.getsockname()); a, _ = server.accept(); a.close(); s.close()`,
      cpp: raw`${address}
int server = serve(SOCK_STREAM, 99);
for (;;) { int s = socket(AF_INET, SOCK_STREAM, 0); if (connect(s, (sockaddr *)&at, size) != 0) { close(s); continue; } close(accept(server, nullptr, nullptr)); close(s); }`,
    },
    accounted,
  ),
  bomb(
    'who listens on every port leaves none taken',
    stopped,
    {
      python: raw`
held = []
for port in range(1, 65536):
    try: s = socket.socket(); s.bind(("0.0.0.0", port)); s.listen(); held.append(s)
    except OSError: break`,
      cpp: raw`
for (int n = 0; n < 16; n++) if (fork() == 0) {
  for (int port = n + 1; port < 65536; port += 16) { sockaddr_in6 to{}; to.sin6_family = AF_INET6; to.sin6_port = htons(port); int s = socket(AF_INET6, SOCK_STREAM, 0); if (s < 0 || bind(s, (sockaddr *)&to, sizeof to) != 0 || listen(s, 9) != 0) break; }
  pause();
}
usleep(400000);`,
    },
    { network },
  ),
  bomb(
    'a server that leaves its session and its parent ends with its run',
    ['exited'],
    {
      python: raw`
server = socket.socket(); server.bind(("127.0.0.1", 7777)); server.listen()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True: server.accept()
    os._exit(0)
socket.create_connection(("127.0.0.1", 7777))`,
      cpp: raw`${address}
int server = serve(SOCK_STREAM, 9);
if (fork() == 0) { setsid(); if (fork() == 0) for (;;) accept(server, nullptr, nullptr); _exit(0); }
refused("none", connect(socket(AF_INET, SOCK_STREAM, 0), (sockaddr *)&at, size) == 0 ? (errno = EPERM, -1) : -2);`,
    },
    { network },
  ),
]
