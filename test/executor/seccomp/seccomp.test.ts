// The system call filter: its program against the table, the table against the kernel's headers, and both against the kernel,
// in a box.
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { SandboxError } from '../../../src/executor/contract/outcome.ts'
import { encode, maximumInstructions } from '../../../src/executor/seccomp/bpf.ts'
import { loopbackRows } from '../../../src/executor/seccomp/loopback.ts'
import { filterRows, lastReviewedNumber } from '../../../src/executor/seccomp/policy.ts'
import { errnos } from '../../../src/executor/seccomp/row.ts'
import { assembleFilters } from '../../../src/executor/seccomp/seccomp.ts'
import { callNumbers } from '../../../src/executor/seccomp/syscall-number.ts'
import type { Architecture, CallName } from '../../../src/executor/seccomp/syscall-number.ts'
import { execute, startExecutor } from '../../helper/executor.ts'
import { interpret } from './bpf-interpreter.ts'
import type { CallData } from './bpf-interpreter.ts'
import {
  combine,
  lookUp,
  matchingArguments,
  nearPlaces,
  numberOf,
  rowsOf,
} from './filter-example.ts'

const native: Architecture = process.arch === 'arm64' ? 'aarch64' : 'x86_64'
const machines = { x86_64: 'x64', aarch64: 'arm64' } as const
const architectures = ['x86_64', 'aarch64'] as const
/** What the kernel calls an architecture. */
const tags = { x86_64: 0xc000003e, aarch64: 0xc00000b7 }
const calls: readonly CallName[] = [...new Set(filterRows.flatMap((row) => row.calls))]
const allowed = 0x7fff0000
const refused = 0x00050000
const killed = 0x80000000
const filters = assembleFilters().none
const executor = await startExecutor(t, { slots: 1, languages: ['python'] })

/** Formats a call as a line for the probe program. */
function format(number: number, values: readonly bigint[] = []): string {
  return [number, ...Array.from({ length: 6 }, (_, index) => values[index] ?? 0n)]
    .map((value) => `0x${BigInt.asUintN(64, BigInt(value)).toString(16)}`)
    .join(' ')
}

/** Numbers of no call. */
const absent = [
  [337, 400, 423, 463, 467, 470, 512, 545, 600, 1000, 0x3fffffff],
  // x32: the same calls with other numbers, under the same architecture tag.
  [0, 39, 41, 56, 101, 250, 425, 520].map((number) => 0x40000000 + number),
].flat()

/** Lists a call for each way to meet a row of the table and for each absent number, and its expected answer. */
function listRefusals(): { lines: string[]; names: string[]; expected: string[] } {
  const expected: string[] = []
  const lines: string[] = []
  const names: string[] = []
  for (const row of rowsOf(native))
    for (const call of row.calls) {
      const number = numberOf(call, native)
      if (number === null) continue
      for (const values of matchingArguments(row)) {
        // An earlier row of the same call may answer first.
        expected.push(String(lookUp(native, number, values)))
        lines.push(format(number, values))
        names.push(`${call}(${values.join(', ')})`)
      }
    }
  for (const number of absent) {
    expected.push(String(errnos.ENOSYS))
    lines.push(format(number))
    names.push(`call ${number}`)
  }
  return { lines, names, expected }
}

/** Returns the answer to a call of a box, to which its keeper's filter and its own apply: the kernel takes the stricter one. */
function ask({ filter, keeperFilter }: typeof filters, call: CallData): number {
  return Math.min(interpret(filter, call) | 0, interpret(keeperFilter, call) | 0) >>> 0
}

/** Returns the answer to a call, by name. The high half of every argument is set. */
function answer(
  of: (call: CallData) => number,
  name: string,
  ...values: readonly number[]
): number {
  const known = calls.find((call) => call === name)
  const number = known === undefined ? null : numberOf(known, native)
  if (number === null) throw new Error(`${name} has no number here`)
  return of({
    number,
    architecture: tags[native],
    values: values.map((value) => (0xabcdn << 32n) | BigInt(value)),
  })
}

t.test('a keeper may make boxes, and none of what exploits start from', async (t) => {
  const own = interpret.bind(null, filters.keeperFilter)
  for (const call of ['clone3', 'setns', 'fsopen', 'move_mount', 'openat2'])
    t.equal(answer(own, call), allowed, call)
  for (const call of ['bpf', 'io_uring_setup', 'keyctl', 'mount', 'ptrace', 'userfaultfd'])
    t.not(answer(own, call), allowed, call)
  t.not(answer(own, 'socket', 16, 3, 12), allowed, 'netfilter')
})

for (const architecture of architectures)
  t.test(
    `the ${architecture} program answers every number and argument as the table says`,
    async (t) => {
      const programs = assembleFilters(machines[architecture]).none
      const tag = tags[architecture]
      const numbers = [
        ...Array.from({ length: 1024 }, (_, number) => [number, 0x40000000 + number]).flat(),
        0x7fffffff,
        0x80000000,
        0xbfffffff,
        0xfffffffe,
        0xffffffff,
      ]
      const wrong: string[] = []
      let compared = 0
      for (const number of numbers) {
        const rows = rowsOf(architecture).filter(({ calls: named }) =>
          named.some((call) => numberOf(call, architecture) === number),
        )
        const lists = [
          ...combine(nearPlaces(rows)),
          Array.from({ length: 6 }, () => 0xffffffffffffffffn),
        ]
        for (const values of lists) {
          const errno = lookUp(architecture, number, values)
          const expected = errno === null ? allowed : refused | errno
          const answer = ask(programs, { number, architecture: tag, values })
          compared += 1
          if (answer !== expected)
            wrong.push(`${format(number, values)}: ${answer}, not ${expected}`)
        }
      }
      t.strictSame(wrong.slice(0, 10), [])
      t.ok(compared > 5000, `${compared} calls compared`)
      for (const other of [0x40000003, 0x40000028, 0xc00000f3, 0, tag ^ 1])
        for (const number of [0, 1, 39, 288, 0xffffffff])
          t.equal(
            ask(programs, { number, architecture: other, values: [] }),
            killed,
            'another architecture is killed',
          )
    },
  )

t.test('the programs fit the kernel, and a jump that does not fit is never encoded', async (t) => {
  for (const machine of ['x64', 'arm64'])
    for (const program of Object.values(assembleFilters(machine).none))
      t.ok(program.length / 8 < maximumInstructions / 4)
  const instruction = { code: 0x15, operand: 0, ifTrue: 0, ifFalse: 0 }
  t.throws(() => encode([{ ...instruction, ifTrue: 256 }]), RangeError)
  t.throws(
    () => encode(Array.from({ length: maximumInstructions + 1 }, () => instruction)),
    RangeError,
  )
})

t.test('a machine without a reviewed table gets no filter', async (t) => {
  t.throws(() => assembleFilters('riscv64'), SandboxError)
  t.throws(
    () => assembleFilters('ia32'),
    new SandboxError(
      'seccomp.assemble',
      'no system call table for the architecture ia32; x64 and arm64 have one',
    ),
  )
})

/** Lists calls with their errno, null for a call that is allowed, and arguments that have it. */
function listPolicy(): [CallName, keyof typeof errnos | null, (readonly number[])[]][] {
  const below = (most: number, ...except: number[]): number[] =>
    Array.from({ length: most }, (_, number) => number).filter((n) => !except.includes(n))
  const families = below(64, 1).map((family) => [family, 1, 0])
  const typed = (types: readonly number[]): number[][] =>
    types.flatMap((type) => [0, 0x800, 0x80000].map((flags) => [1, type | flags, 0]))
  const options = [2, 6, 7, 8, 9, 13, 16, 18, 20, 21, 66, 67]
  const kinds = [0, 0x2000, 0x4000, 0x6000, 0x8000, 0xa000, 0xc000].map((kind) => kind | 0o644)
  const [direct, directoryOnly] = native === 'x86_64' ? [0x4000, 0x10000] : [0x10000, 0x4000]
  return [
    ['socket', 'EAFNOSUPPORT', families],
    ['socketpair', 'EAFNOSUPPORT', families],
    ['socketpair', null, [[1, 1, 0]]],
    ['socket', 'ESOCKTNOSUPPORT', typed(below(16, 1, 2, 5))],
    ['socket', null, typed([1, 2, 5])],
    [
      'socketpair',
      'EPROTONOSUPPORT',
      [2, 6, 17, 33, 50, 115, 132, 136, 255, 256, 262].map((protocol) => [1, 1, protocol]),
    ],
    // The high half of the flags is set.
    ['clone', 'EPERM', below(32).map((bit) => [2 ** bit])],
    ['setsockopt', 'ENOPROTOOPT', below(128, ...options).map((option) => [0, 1, option])],
    ['setsockopt', null, options.map((option) => [0, 1, option])],
    ['setsockopt', 'ENOPROTOOPT', [0, 6, 17, 41, 132, 136, 270, 282].map((level) => [0, level, 7])],
    // Cookies.
    ['getsockopt', 'ENOPROTOOPT', [57, 71, 77].map((option) => [0, 1, option])],
    // Numbers of mounts and of their namespaces.
    ['statx', 'EINVAL', [[0, 0, 0, 0x4000]]],
    ['statx', null, [[0, 0, 0, 0x1fff]]],
    ['ioctl', 'EINVAL', [0x8008b705, 0x8008b70d, 0x8010b70a, 0x8018b70a, 0x8010b70b, 0x8010b70c].map((asked) => [0, asked])],
    // A pipe of packets.
    ['pipe2', 'EINVAL', [[0, direct | 0x80000]]],
    ['openat', 'EINVAL', [[0, 0, direct]]],
    ['openat', null, [[0, 0, directoryOnly]]],
    // A pipe that is made one of packets, and O_NONBLOCK.
    ['fcntl', 'EINVAL', [[1, 4, direct | 1]]],
    ['fcntl', null, [[1, 4, 0x800]]],
    ['prctl', 'EINVAL', [[22], [62], [67], [68]]],
    // Of the first process, and of its own.
    ['sched_setscheduler', 'EPERM', [[1]]],
    ['sched_setscheduler', null, [[0, 5]]],
    ['sched_setparam', 'EPERM', [[1]]],
    ['sched_setparam', null, [[0, 5]]],
    ['sched_setattr', 'EPERM', [[1]]],
    ['sched_setattr', null, [[0, 5]]],
    ['sched_setaffinity', 'EPERM', [[1]]],
    ['sched_setaffinity', null, [[0, 5]]],
    // SCHED_OTHER is said to be so, and is not.
    ['sched_setscheduler', 'done', [[0, 0]]],
    // Of a set of processes or of the first process, and of its own.
    ['setpriority', 'EPERM', [[1, 0], [2, 0], [3, 0], [0, 1]]],
    ['setpriority', null, [[0, 0]]],
    ['ioprio_set', 'EPERM', [[0, 0], [2, 0], [3, 0], [1, 1], [2, 1], [3, 1]]],
    ['ioprio_set', null, [[1, 0]]],
    [
      'ioctl',
      'EPERM',
      [0x5412, 0x541c, 0x5423, 0x8940, 0x8941, 0x8982, 0x8983, 0x89a0, 0x89a3].map((command) => [0, command]),
    ],
    [
      'ioctl',
      'EOPNOTSUPP',
      [0xc020660b, 1, 0xc020662a, 0x6612, 0x80111500, 0x80811501, 0x81009431].map((command) => [0, command]),
    ],
    // These ask whether it is a terminal and how much there is to read, and set non-blocking mode.
    ['ioctl', null, [[0, 0x5401], [0, 0x541b], [0, 0x5421]]],
    ['prlimit64', 'EPERM', [[1], [2 ** 32 + 1]]],
    ['prlimit64', null, [[0]]],
    ['fcntl', 'EPERM', [[1, 1024], [1, 1026]]],
    // Locks.
    ['fcntl', null, [[1, 6], [1, 7], [1, 37], [1, 38]]],
    ['mknod', 'EPERM', kinds.map((kind) => [0, kind, 0])],
    ['mknodat', 'EPERM', kinds.map((kind) => [0, 0, kind])],
    ['mknod', null, [[0, 0x1000 | 0o644, 0]]],
    ['mknodat', null, [[0, 0, 0x1000 | 0o644]]],
    // Urgent data.
    ['sendto', 'EOPNOTSUPP', [[0, 0, 0, 1]]],
    ['personality', 'EPERM', [[1], [8], [0x0040000], [0x0400000], [0xfffffffe]]],
    // What ordinary programs do.
    ['getsockopt', null, [[0, 1, 4]]],
    ['sendto', null, [[0, 0, 0, 0x4000]]],
    ['fcntl', null, [1, 2, 3, 4, 5, 1031, 1033].map((command) => [1, command])],
    ['personality', null, [[0], [0xffffffff]]],
    ['openat', null, [[0, 0, 0x80000]]],
    ['pipe2', null, [[0, 0x80800]]],
    ['prctl', null, [[3], [16], [21], [38], [39]]],
    ['mmap', null, [[0, 4096, 3, 0x22]]],
    ['memfd_create', null, [[0, 1]]],
    ['shmget', null, [[0, 4096, 0o1600]]],
    ['madvise', null, [[0, 0, 4]]],
    ['msync', null, [[0, 1, 1]]],
    ['preadv2', null, [[0, 0, 0, 0, 0, 0]]],
  ] // prettier-ignore
}

t.test('what the policy must refuse is refused, whatever the table says today', async (t) => {
  const must = {
    ENOSYS: `clone3 io_uring_setup io_uring_enter io_uring_register keyctl add_key request_key userfaultfd bpf
      perf_event_open memfd_secret kexec_load kexec_file_load modify_ldt seccomp open_tree move_mount fsopen fsconfig fsmount
      fspick mount_setattr listmount statmount quotactl_fd set_mempolicy_home_node inotify_init inotify_init1
      fanotify_init cachestat pidfd_getfd process_madvise splice tee vmsplice io_setup openat2`,
    EPERM: `mount umount2 pivot_root chroot unshare setns ptrace process_vm_readv process_vm_writev kcmp
      name_to_handle_at open_by_handle_at mknod mknodat syslog acct quotactl swapon swapoff reboot init_module finit_module
      delete_module iopl ioperm settimeofday clock_settime clock_adjtime adjtimex sethostname setdomainname vhangup
      move_pages migrate_pages mbind set_mempolicy get_mempolicy sendmsg sendmmsg`,
    EOPNOTSUPP: 'setxattr lsetxattr fsetxattr',
  }
  for (const errno of ['ENOSYS', 'EPERM', 'EOPNOTSUPP'] as const)
    for (const call of must[errno].trim().split(/\s+/u)) {
      const known = calls.find((name) => name === call)
      if (known !== undefined && numberOf(known, native) === null) continue
      t.equal(answer(ask.bind(null, filters), call), refused | errnos[errno], call)
    }
  for (const [call, errno, lists] of listPolicy())
    for (const values of lists)
      t.equal(
        answer(ask.bind(null, filters), call, ...values),
        errno === null ? allowed : refused | errnos[errno],
        `${call}(${values.join(', ')})`,
      )
  // Of each new namespace and of none, the high half of the flags not set.
  t.equal(lookUp(native, numberOf('clone', native)!, [17n]), null)
  for (const bit of [17n, 25n, 26n, 27n, 28n, 29n, 30n])
    t.equal(lookUp(native, numberOf('clone', native)!, [2n ** bit]), errnos.EPERM, `bit ${bit}`)
  const mincore = (length: bigint): number | null =>
    lookUp(native, numberOf('mincore', native)!, [0n, length])
  t.equal(mincore(2n ** 32n - 1n), null)
  for (const exponent of [32n, 45n]) t.equal(mincore(2n ** exponent), errnos.ENOMEM)
  t.equal(lastReviewedNumber, 462, 'a new number comes in only with a review, and then here too')
})

/** Reads the kernel's headers of an architecture. */
function preprocess(architecture: Architecture, words: readonly string[], input = ''): string {
  const generic =
    '-D__ARCH_WANT_NEW_STAT -D__ARCH_WANT_RENAMEAT -D__ARCH_WANT_MEMFD_SECRET -D__ARCH_WANT_SYS_CLONE3 -D__ARCH_WANT_SET_GET_RLIMIT -D__BITS_PER_LONG=64 -include asm-generic/bitsperlong.h -include asm-generic/unistd.h'
  const headers = architecture === 'x86_64' ? '-include asm/unistd_64.h' : generic
  return execFileSync('g++', ['-E', '-P', '-x', 'c', ...words, ...headers.split(' '), '-'], {
    input,
    encoding: 'utf8',
  })
}

/** The architectures whose headers every host has: its own, and aarch64, whose headers are the generic ones. */
const readable = native === 'x86_64' ? (['x86_64', 'aarch64'] as const) : (['aarch64'] as const)

t.test("the table's numbers are those of the kernel headers", async (t) => {
  for (const architecture of readable) {
    const text = preprocess(
      architecture,
      [],
      calls.map((call) => `@${call} __NR_${call}`).join('\n'),
    )
    let known = 0
    for (const call of calls) {
      const value = new RegExp(`^@${call} (\\S+)`, 'mu').exec(text)?.[1]
      const expected = numberOf(call, architecture)
      if (value?.startsWith('__NR_')) {
        // Headers of a kernel older than the table lack its newest calls. From 424 on, the numbers are the same everywhere.
        t.ok(expected === null || expected > 450, `${call} on ${architecture} is missing`)
        continue
      }
      known += 1
      t.equal(Number(value), expected, `${call} on ${architecture}`)
    }
    t.ok(known > 80, `${known} numbers compared on ${architecture}`)
  }
})

t.test('numbers that the kernel headers name no call for are closed', async (t) => {
  for (const architecture of readable) {
    const programs = assembleFilters(machines[architecture]).none
    const text = preprocess(architecture, ['-dM'])
    const named = [...text.matchAll(/^#define __NR(?:3264)?_(\w+) (\d+)$/gmu)]
      .filter(([, name]) => name !== 'arch_specific_syscall')
      .map(([, , number]) => Number(number))
    t.ok(named.length > 300, `${named.length} calls of ${architecture}`)
    const open = Array.from({ length: Math.max(...named) }, (_, number) => number)
      .filter((number) => !named.includes(number))
      .filter(
        (number) =>
          ask(programs, { number, architecture: tags[architecture], values: [] }) === allowed,
      )
    t.strictSame(open, [], architecture)
  }
})

t.test('every known call has a row, and no row is out of reach', async (t) => {
  const named = new Set([...calls, ...loopbackRows.flatMap((row) => row.calls)])
  t.strictSame(Object.keys(callNumbers).toSorted(), [...named].toSorted())
  for (const call of calls) {
    const rows = filterRows.filter((row) => row.calls.includes(call))
    t.ok(
      rows.slice(0, -1).every((row) => row.conditions.length > 0),
      `${call}: nothing after an answer`,
    )
    for (const architecture of architectures)
      t.ok((numberOf(call, architecture) ?? 0) <= lastReviewedNumber, `${call} was reviewed`)
  }
})

t.test('every row of the filter holds in a submission', async (t) => {
  const { lines, names, expected } = listRefusals()
  const code = readFileSync(join(import.meta.dirname, 'call-probe.py'))
  const { run } = await execute(executor, 'python', code, `${lines.join('\n')}\n`)
  t.match(run, { ending: 'exited', exitCode: 0 })
  const answers = run?.stdout.trim().split('\n') ?? []
  const wrong = names
    .map((name, index) => `${name}: ${answers[index]}, not ${expected[index]}`)
    .filter((_, index) => answers[index] !== expected[index])
  t.strictSame(wrong, [])
  t.ok(lines.length > 300, `${lines.length} calls made`)
})
