// Escapes through sockets: families, addresses, options, and the host's own listeners. Addresses outside the machine are
// documentation ranges (RFC 5737, RFC 3849), which no host uses.
import { probe } from '../attack.ts'
import type { Attack } from '../attack.ts'

const raw = String.raw

export const networkEscapes: readonly Attack[] = [
  probe(
    'only UNIX sockets exist',
    {
      python: raw`
for family in range(0, 64):
    if family == 1: continue
    for kind in (1, 2, 3, 5): refused(f"socket {family} {kind}", lambda: call("socket", family, kind, 0))
    refused(f"socketpair {family}", lambda: call("socketpair", family, 1, 0, ctypes.create_string_buffer(8)))`,
      cpp: raw`
int ends[2];
for (int family = 0; family < 64; family++) if (family != 1) { for (int kind : {1, 2, 3, 5}) refused("socket", socket(family, kind, 0)); refused("socketpair", socketpair(family, 1, 0, ends)); }`,
    },
    { network: 'none' },
  ),
  probe('raw and packet sockets are refused', {
    python: raw`
for family, kind, protocol in ((2, 3, 1), (2, 3, 255), (10, 3, 58), (17, 3, 3 << 8), (17, 2, 0), (2, 10, 0)): refused(f"{family} {kind}", lambda: socket.socket(family, kind, protocol))`,
    cpp: raw`refused("raw", socket(AF_INET, SOCK_RAW, 1)); refused("raw 6", socket(AF_INET6, SOCK_RAW, 58)); refused("packet", socket(AF_PACKET, SOCK_RAW, 0)); refused("old packet", socket(AF_INET, SOCK_PACKET, 0));`,
    java: raw`refused("ping", () -> { if (!InetAddress.getByName("192.0.2.1").isReachable(100)) throw new IOException("unreachable"); return "reached"; });`,
  }),
  probe('netlink is refused', {
    cpp: raw`for (int protocol : {0, 4, 6, 9, 12, 15, 16, 20}) refused("netlink", socket(16, SOCK_RAW, protocol));`,
    python: raw`
for protocol in (0, 6, 9, 12, 15): refused(str(protocol), lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol))`,
  }),
  probe("the kernel's cryptography is refused (CVE-2026-31431)", {
    cpp: raw`refused("alg", socket(38, SOCK_SEQPACKET, 0));`,
    python: raw`refused("alg", lambda: socket.socket(38, socket.SOCK_SEQPACKET, 0))`,
  }),
  probe('sockets to the hypervisor are refused', {
    cpp: raw`refused("vsock", socket(40, SOCK_STREAM, 0)); refused("vsock", socket(40, SOCK_DGRAM, 0));`,
    python: raw`refused("vsock", lambda: socket.socket(40, socket.SOCK_STREAM))`,
  }),
  probe('RxRPC, RDS, TIPC, keys and XDP are refused', {
    cpp: raw`refused("rxrpc", socket(33, SOCK_DGRAM, 2)); refused("rds", socket(21, SOCK_SEQPACKET, 0)); refused("tipc", socket(30, SOCK_RDM, 0)); refused("key", socket(15, SOCK_RAW, 2)); refused("xdp", socket(44, SOCK_RAW, 0)); refused("smc", socket(43, SOCK_STREAM, 0));`,
  }),
  probe('protocols that hide behind INET are refused', {
    cpp: raw`
refused("sctp", socket(AF_INET, SOCK_SEQPACKET, 132)); refused("sctp", socket(AF_INET, SOCK_STREAM, 132)); refused("sctp", socket(AF_INET, SOCK_SEQPACKET, 0)); refused("mptcp", socket(AF_INET, SOCK_STREAM, 262)); refused("dccp", socket(AF_INET, 6, 33)); refused("l2tp", socket(AF_INET, SOCK_DGRAM, 115)); refused("smc", socket(AF_INET, SOCK_STREAM, 256)); refused("udplite", socket(AF_INET, SOCK_DGRAM, 136));`,
    python: raw`
for kind, protocol in ((5, 132), (1, 132), (1, 262), (6, 33), (2, 115), (2, 136)): refused(str(protocol), lambda: socket.socket(socket.AF_INET, kind, protocol))`,
  }),
  probe("the host's listener on loopback is not reached", {
    python: raw`
for host in ("127.0.0.1", "0.0.0.0", "127.1.2.3", "@ADDRESS@", "::1", "::ffff:127.0.0.1"):
    refused(host, lambda: socket.create_connection((host, @PORT@), 2).recv(100))
def send():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.connect(("127.0.0.1", @PORT@)); s.send(b"x"); time.sleep(0.05); s.send(b"x"); return "sent"
refused("datagram", send)`,
    cpp: raw`
for (const char *host : {"127.0.0.1", "0.0.0.0", "@ADDRESS@"}) { sockaddr_in to{}; to.sin_family = AF_INET; to.sin_port = htons(@PORT@); inet_pton(AF_INET, host, &to.sin_addr); int s = socket(AF_INET, SOCK_STREAM, 0); refused(host, s < 0 ? -1 : connect(s, (sockaddr *)&to, sizeof to)); }`,
    java: raw`
for (String host : List.of("127.0.0.1", "0.0.0.0", "@ADDRESS@")) refused(host, () -> { try (var socket = new Socket()) { socket.connect(new InetSocketAddress(host, @PORT@), 2000); return new String(socket.getInputStream().readAllBytes()); } });
refused("http", () -> new URL("http://127.0.0.1:@PORT@/").openStream().readAllBytes());`,
  }),
  probe('no address beyond the box is reached', {
    python: raw`
for host in ("192.0.2.1", "198.51.100.1", "169.254.1.1", "10.0.0.1", "172.17.0.1", "224.0.0.1", "255.255.255.255", "2001:db8::1", "fe80::1", "ff02::1"):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        def reach():
            with socket.socket(family, kind) as s:
                s.settimeout(2)
                s.connect((host, 53)); return s.send(b"x")
        # A link-local address without an interface is EINVAL.
        refused(f"{host} {kind}", reach, errno.EINVAL)`,
    cpp: raw`
for (const char *host : {"192.0.2.1", "169.254.1.1", "10.0.0.1", "172.17.0.1", "224.0.0.1"}) for (int kind : {SOCK_STREAM, SOCK_DGRAM}) { sockaddr_in to{}; to.sin_family = AF_INET; to.sin_port = htons(80); inet_pton(AF_INET, host, &to.sin_addr); int s = socket(AF_INET, kind, 0); refused(host, s < 0 ? -1 : connect(s, (sockaddr *)&to, sizeof to)); }`,
    java: raw`
for (String host : List.of("192.0.2.1", "169.254.1.1", "10.0.0.1")) refused(host, () -> { try (var socket = new Socket()) { socket.connect(new InetSocketAddress(host, 80), 2000); return "connected"; } });`,
  }),
  probe('no name is resolved', {
    python: raw`
refused("name", lambda: socket.getaddrinfo("example.invalid", 80), socket.EAI_AGAIN, socket.EAI_NONAME, socket.EAI_SYSTEM, socket.EAI_FAIL)`,
    java: raw`refused("name", () -> InetAddress.getByName("example.invalid"));`,
  }),
  probe('there is no interface but its own loopback', {
    python: raw`
names = {line.split(":")[0].strip() for line in open("/proc/self/net/dev").readlines()[2:]}
if names - {"lo"}: escape(names)`,
    cpp: raw`char line[512]; FILE *file = fopen("/proc/self/net/dev", "r"); for (int i = 0; fgets(line, 512, file); i++) if (i > 1 && !strstr(line, " lo:")) escape(line);`,
    java: raw`try { var all = NetworkInterface.getNetworkInterfaces(); while (all != null && all.hasMoreElements()) { var one = all.nextElement(); if (!one.isLoopback()) escape(one.getName()); } } catch (SocketException none) { System.out.println("refused " + none); }`,
  }),
  probe("the host's Unix sockets are not reached", {
    python: raw`
for path in ("@SOCKET@", "\0@ABSTRACT@", "\0/tmp/.X11-unix/X0", "\0/org/kernel/linux/storage/multipathd", "/run/docker.sock", "/var/run/docker.sock", "/run/systemd/private", "/run/dbus/system_bus_socket", "/run/containerd/containerd.sock", "/var/run/postgresql/.s.PGSQL.5432", "/tmp/.s.PGSQL.5432", "/dev/log"):
    def reach():
        with socket.socket(socket.AF_UNIX) as s: s.connect(path); return s.recv(100)
    refused(repr(path), reach)`,
    cpp: raw`
sockaddr_un to{}; to.sun_family = AF_UNIX; strcpy(to.sun_path, "@SOCKET@"); refused("path", connect(socket(AF_UNIX, SOCK_STREAM, 0), (sockaddr *)&to, sizeof to));
memset(to.sun_path, 0, sizeof to.sun_path); strcpy(to.sun_path + 1, "@ABSTRACT@"); refused("abstract", connect(socket(AF_UNIX, SOCK_STREAM, 0), (sockaddr *)&to, sizeof(sa_family_t) + 1 + strlen("@ABSTRACT@")));`,
    java: raw`
for (String path : List.of("@SOCKET@", "/run/docker.sock", "/run/systemd/private", "/var/run/postgresql/.s.PGSQL.5432")) refused(path, () -> { try (var channel = SocketChannel.open(StandardProtocolFamily.UNIX)) { return channel.connect(UnixDomainSocketAddress.of(path)); } });`,
  }),
  probe('options that load code or lend rights are refused', {
    cpp: raw`
static char program[1024]; int one = 1, u = socket(AF_UNIX, SOCK_DGRAM, 0);
for (int option : {26, 50, 51, 52, 60}) refused("BPF", setsockopt(u, SOL_SOCKET, option, program, 16));
for (int option : {36, 32, 33}) refused("mark, force", setsockopt(u, SOL_SOCKET, option, &one, 4));
refused("TCP_ULP", setsockopt(u, 6, 31, "tls", 3)); refused("transparent", setsockopt(u, 0, 19, &one, 4)); refused("iptables", setsockopt(u, 0, 64, program, 1024)); refused("TCP_REPAIR", setsockopt(u, 6, 19, &one, 4));
ifreq request{}; strcpy(request.ifr_name, "lo"); request.ifr_flags = IFF_UP; refused("SIOCSIFFLAGS", ioctl(u, SIOCSIFFLAGS, &request));
for (int command : {0x8940, 0x8941, 0x8982, 0x8983, 0x89a0, 0x89a1, 0x89a2}) refused("bridges and VLANs", ioctl(u, command, &request));`,
  }),
  probe('urgent data on Unix sockets is refused (CVE-2025-38236)', {
    cpp: raw`
int ends[2]; socketpair(AF_UNIX, SOCK_STREAM, 0, ends); refused("send", send(ends[0], "x", 1, MSG_OOB));
char c = 'x'; iovec part{&c, 1}; msghdr message{}; message.msg_iov = &part; message.msg_iovlen = 1; refused("sendmsg", sendmsg(ends[0], &message, MSG_OOB)); mmsghdr many{message, 0}; refused("sendmmsg", sendmmsg(ends[0], &many, 1, MSG_OOB));`,
    python: raw`
left, right = socket.socketpair()
refused("send", lambda: left.send(b"x", socket.MSG_OOB))`,
  }),
]
