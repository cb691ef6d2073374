// The filter of boxes with their own network, which has only the loopback interface. It allows TCP and UDP beside Unix sockets.
// Everything else is refused as in policy.ts.
import { listRows } from './policy.ts'
import { hasAnyBit, isNoneOf, isOneOf, refuse } from './row.ts'
import type { Condition, FilterRow } from './row.ts'

const [unix, inet, inet6] = [1, 2, 10]
const [stream, datagram] = [1, 2]
const kind = { argument: 1, mask: 0xf } as const
const isKind = (value: number): Condition => ({ ...kind, test: 'one_of', values: [value] })
const isNoKind = (...values: readonly number[]): Condition => ({ ...kind, test: 'none_of', values })

const level = { ip: 0, socket: 1, tcp: 6, ipv6: 41 } as const

const familyRows: readonly FilterRow[] = [
  refuse(
    'EAFNOSUPPORT',
    'socket',
    'only UNIX, INET and INET6: loopback needs no other family, and NETLINK holds memory that no cgroup is charged for',
    isNoneOf(0, unix, inet, inet6),
  ),
  refuse('EAFNOSUPPORT', 'socketpair', 'only UNIX has pairs', isNoneOf(0, unix)),
]

const optionRows: readonly FilterRow[] = [
  refuse(
    'ESOCKTNOSUPPORT',
    'socket',
    'SEQPACKET means SCTP here, for which the kernel would load a module; RAW sends packets of any form',
    isOneOf(0, inet, inet6),
    isNoKind(stream, datagram),
  ),
  refuse(
    'EPROTONOSUPPORT',
    'socket',
    'only TCP: MPTCP, SCTP and SMC are much kernel code; Go falls back',
    isOneOf(0, inet, inet6),
    isKind(stream),
    isNoneOf(2, 0, 6),
  ),
  refuse(
    'EPROTONOSUPPORT',
    'socket',
    'only UDP: no ICMP, UDPLITE, L2TP',
    isOneOf(0, inet, inet6),
    isKind(datagram),
    isNoneOf(2, 0, 17),
  ),
  refuse(
    'done',
    'setsockopt',
    'SNDBUF, RCVBUF: succeed without effect, because the memory of a connection before it is accepted is charged to no cgroup',
    isOneOf(1, level.socket),
    isOneOf(2, 7, 8),
  ),
  refuse(
    'ENOPROTOOPT',
    'setsockopt',
    'of the level SOCKET the options as without a network, except RCVLOWAT, which raises RCVBUF; and also PRIORITY, which Erlang sets',
    isOneOf(1, level.socket),
    isNoneOf(2, 2, 6, 9, 12, 13, 16, 20, 21, 66, 67),
  ),
  refuse(
    'ENOPROTOOPT',
    'setsockopt',
    'of TCP only NODELAY, CORK, KEEPIDLE, KEEPINTVL, KEEPCNT, QUICKACK, USER_TIMEOUT: MAXSEG and WINDOW_CLAMP make memory grow, ULP (TLS), CONGESTION, MD5SIG, REPAIR, FASTOPEN are kernel surface',
    isOneOf(1, level.tcp),
    isNoneOf(2, 1, 3, 4, 5, 6, 12, 18),
  ),
  refuse(
    'ENOPROTOOPT',
    'setsockopt',
    'of IPV6 only V6ONLY and TCLASS: no flow labels, which the host counts; no error queues, no multicast',
    isOneOf(1, level.ipv6),
    isNoneOf(2, 26, 67),
  ),
  refuse(
    'ENOPROTOOPT',
    'setsockopt',
    'of IP only TOS, which Node sets: no RECVERR, no OPTIONS, no multicast',
    isOneOf(1, level.ip),
    isNoneOf(2, 1),
  ),
  refuse(
    'ENOPROTOOPT',
    'setsockopt',
    'no other level, so that UDP has no CORK and no encapsulation',
    isNoneOf(1, level.ip, level.socket, level.tcp, level.ipv6),
  ),
  refuse(
    'ENOPROTOOPT',
    'getsockopt',
    'TCP_ZEROCOPY_RECEIVE maps the received pages',
    isOneOf(1, level.tcp),
    isOneOf(2, 35),
  ),
  refuse(
    'EOPNOTSUPP',
    'sendto',
    'MSG_MORE holds a datagram that no cgroup is charged for; FASTOPEN sends before there is a connection; ZEROCOPY pins pages',
    hasAnyBit(3, 0x8000 | 0x20000000 | 0x4000000),
  ),
  refuse(
    'EINVAL',
    'sendfile',
    'passes pages of files to sockets, where the primitive of Dirty Pipe was found several times; every caller falls back to copying',
  ),
]

export const loopbackRows = listRows(familyRows, optionRows)
