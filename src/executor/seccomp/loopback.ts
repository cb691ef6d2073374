// The filter of boxes with their own network, which has only the loopback interface. It allows TCP and UDP beside Unix sockets.
// Everything else is refused as in policy.ts.
import { listRows } from './policy.ts'
import { hasAnyBit, isNoneOf, isOneOf, refuse } from './row.ts'
import type { Condition, FilterRow } from './row.ts'

const [unix, inet, inet6] = [1, 2, 10]
const [stream, datagram] = [1, 2]
const isKind = (kind: number): Condition => ({ ...isOneOf(1, kind), mask: 0xf })

const level = { ip: 0, socket: 1, tcp: 6, ipv6: 41 } as const

const familyRows: readonly FilterRow[] = [
  // Only UNIX, INET and INET6: loopback needs no other family, and NETLINK holds memory that no cgroup is charged for.
  refuse('EAFNOSUPPORT', 'socket', isNoneOf(0, unix, inet, inet6)),
  // Only UNIX has pairs.
  refuse('EAFNOSUPPORT', 'socketpair', isNoneOf(0, unix)),
]

const optionRows: readonly FilterRow[] = [
  // SEQPACKET means SCTP here, for which the kernel would load a module; RAW sends packets of any form.
  refuse('ESOCKTNOSUPPORT', 'socket', isOneOf(0, inet, inet6), {
    ...isNoneOf(1, stream, datagram),
    mask: 0xf,
  }),
  // Only TCP: MPTCP, SCTP and SMC are much kernel code; Go falls back.
  refuse('EPROTONOSUPPORT', 'socket', isOneOf(0, inet, inet6), isKind(stream), isNoneOf(2, 0, 6)),
  // Only UDP: no ICMP, UDPLITE, L2TP.
  refuse(
    'EPROTONOSUPPORT',
    'socket',
    isOneOf(0, inet, inet6),
    isKind(datagram),
    isNoneOf(2, 0, 17),
  ),
  // SNDBUF, RCVBUF: succeed without effect, because the memory of a connection before it is accepted is charged to no cgroup.
  refuse('done', 'setsockopt', isOneOf(1, level.socket), isOneOf(2, 7, 8)),
  // Of the level SOCKET the options as without a network, except RCVLOWAT, which raises RCVBUF; and also PRIORITY, which Erlang
  // sets.
  refuse(
    'ENOPROTOOPT',
    'setsockopt',
    isOneOf(1, level.socket),
    isNoneOf(2, 2, 6, 9, 12, 13, 16, 20, 21, 66, 67),
  ),
  // Of TCP only NODELAY, CORK, KEEPIDLE, KEEPINTVL, KEEPCNT, QUICKACK, USER_TIMEOUT: MAXSEG and WINDOW_CLAMP make memory grow,
  // ULP (TLS), CONGESTION, MD5SIG, REPAIR, FASTOPEN are kernel surface.
  refuse('ENOPROTOOPT', 'setsockopt', isOneOf(1, level.tcp), isNoneOf(2, 1, 3, 4, 5, 6, 12, 18)),
  // Of IPV6 only V6ONLY and TCLASS: no flow labels, which the host counts; no error queues, no multicast.
  refuse('ENOPROTOOPT', 'setsockopt', isOneOf(1, level.ipv6), isNoneOf(2, 26, 67)),
  // Of IP only TOS, which Node sets: no RECVERR, no OPTIONS, no multicast.
  refuse('ENOPROTOOPT', 'setsockopt', isOneOf(1, level.ip), isNoneOf(2, 1)),
  // No other level, so that UDP has no CORK and no encapsulation.
  refuse('ENOPROTOOPT', 'setsockopt', isNoneOf(1, level.ip, level.socket, level.tcp, level.ipv6)),
  // TCP_ZEROCOPY_RECEIVE maps the received pages.
  refuse('ENOPROTOOPT', 'getsockopt', isOneOf(1, level.tcp), isOneOf(2, 35)),
  // MSG_MORE holds a datagram that no cgroup is charged for; FASTOPEN sends before there is a connection; ZEROCOPY pins pages.
  refuse('EOPNOTSUPP', 'sendto', hasAnyBit(3, 0x8000 | 0x20000000 | 0x4000000)),
  // Passes pages of files to sockets, where the primitive of Dirty Pipe was found several times; every caller falls back to
  // copying.
  refuse('EINVAL', 'sendfile'),
]

export const loopbackRows = listRows(familyRows, optionRows)
