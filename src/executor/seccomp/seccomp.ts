// Compiles policy.ts into seccomp filters: a binary search over call numbers, then the tests of the call. For calls that are
// always allowed only the number is tested, so Linux ≥ 5.11 answers them from a bitmap. Measured cost per call (Linux 6.18): 30
// ns, 50 ns where arguments are tested. A keeper loads a filter that its boxes inherit, and each box adds a short one, because
// the kernel compiles that one again for each box.
import { SandboxError } from '#contract'
import { encode, filterReturn, load, returnValue, seccompData, test } from './bpf.ts'
import type { Place, Program } from './bpf.ts'
import { loopbackRows } from './loopback.ts'
import { filterRows, isUnknown, lastReviewedNumber, splitRows } from './policy.ts'
import { errnos } from './row.ts'
import type { Condition, FilterRow } from './row.ts'
import { callNumbers } from './syscall-number.ts'
import type { Architecture } from './syscall-number.ts'

/** AUDIT_ARCH_* of linux/audit.h. */
const auditArchitectures: Readonly<Record<Architecture, number>> = {
  x86_64: 0xc000003e,
  aarch64: 0xc00000b7,
}

function refuse(program: Program, errno: keyof typeof errnos): Place {
  return returnValue(program, filterReturn.errno | errnos[errno])
}

/** Continues at `yes` when the condition holds, else at `no`. */
function compileCondition(program: Program, condition: Condition, yes: Place, no: Place): Place {
  const { argument, word, mask } = condition
  const low = seccompData.args + argument * seccompData.argumentBytes
  const offset = word === 'high' ? low + 4 : low
  if (condition.test === 'any_bit')
    return load(program, offset, test(program, 'jumpAnyBit', condition.bits, yes, no), mask)
  const [found, missing] = condition.test === 'one_of' ? [yes, no] : [no, yes]
  const first = condition.values.reduceRight(
    (next, value) => test(program, 'jumpEqual', value, found, next),
    missing,
  )
  return load(program, offset, first, mask)
}

/** The rows of one call: the first one whose conditions hold refuses it; otherwise the call is allowed. */
type Rows = readonly Pick<FilterRow, 'errno' | 'conditions'>[]

function compileCall(program: Program, rows: Rows): Place {
  return rows.reduceRight(
    (next, row) =>
      row.conditions.reduceRight(
        (yes, condition) => compileCondition(program, condition, yes, next),
        refuse(program, row.errno),
      ),
    returnValue(program, filterReturn.allow),
  )
}

interface Interval {
  /** The first call number; the rows apply to every number up to the next interval. */
  readonly first: number
  readonly rows: Rows
}

/** Returns the answer of rows that do not look at the arguments; null for others. */
function findAnswer([row]: Rows): string | null {
  if (row === undefined) return 'allowed'
  return row.conditions.length === 0 ? row.errno : null
}

function listIntervals(architecture: Architecture, rows: readonly FilterRow[]): Interval[] {
  const rowsByNumber = new Map<number, FilterRow[]>()
  for (const row of rows.filter((one) => (one.architecture ?? architecture) === architecture))
    for (const name of row.calls) {
      const number = callNumbers[name][architecture === 'x86_64' ? 0 : 1]
      if (number === null) continue
      rowsByNumber.set(number, [...(rowsByNumber.get(number) ?? []), row])
    }
  const unknown = [{ errno: 'ENOSYS', conditions: [] }] as const
  const intervals: Interval[] = []
  for (let number = 0; number <= lastReviewedNumber + 1; number++) {
    const its = isUnknown(architecture, number) ? unknown : (rowsByNumber.get(number) ?? [])
    const answer = findAnswer(its)
    const previous = intervals.at(-1)
    if (answer === null || !previous || findAnswer(previous.rows) !== answer)
      intervals.push({ first: number, rows: its })
  }
  return intervals
}

/** Compiles the intervals into a balanced search tree, some eight tests deep. */
function compileSearch(program: Program, intervals: readonly Interval[]): Place {
  const half = Math.floor(intervals.length / 2)
  const middle = intervals[half]
  if (middle === undefined) throw new RangeError('no interval to search')
  if (intervals.length === 1) return compileCall(program, middle.rows)
  const atLeast = compileSearch(program, intervals.slice(half))
  const below = compileSearch(program, intervals.slice(0, half))
  return test(program, 'jumpAtLeast', middle.first, atLeast, below)
}

function compileFilter(architecture: Architecture, rows: readonly FilterRow[]): Program {
  const program: Program = []
  const search = compileSearch(program, listIntervals(architecture, rows))
  const searched = load(program, seccompData.nr, search)
  // Calls of other architectures (`int 0x80` on x86_64) have other numbers, and their `socketcall` hides its arguments:
  // code-golf PR 2729 reached keyctl as i386 call 288, which is accept4 on x86_64. No honest program does this, so the process
  // is killed.
  const killed = returnValue(program, filterReturn.killProcess)
  const own = auditArchitectures[architecture]
  load(program, seccompData.arch, test(program, 'jumpEqual', own, searched, killed))
  return program
}

/** The two filters that a keeper loads, each as a raw `struct sock_filter[]`. */
interface Filters {
  /** The filter of its boxes, besides the keeper's. */
  readonly filter: Buffer
  readonly keeperFilter: Buffer
}

/**
 * Assembles a keeper's filters for each network that boxes can have.
 * @param machine Node's name of the architecture; by default this machine's.
 * @throws {SandboxError} step `seccomp.assemble` when the architecture has no reviewed table.
 */
export function assembleFilters(
  machine: string = process.arch,
): Record<'none' | 'loopback', Filters> {
  const architecture = machine === 'x64' ? 'x86_64' : machine === 'arm64' ? 'aarch64' : null
  if (architecture === null) {
    const words = `no system call table for the architecture ${machine}; x64 and arm64 have one`
    throw new SandboxError('seccomp.assemble', words)
  }
  const assemble = (rows: readonly FilterRow[]): Filters => {
    const { keeper, box } = splitRows(rows)
    return {
      filter: encode(compileFilter(architecture, box)),
      keeperFilter: encode(compileFilter(architecture, keeper)),
    }
  }
  return { none: assemble(filterRows), loopback: assemble(loopbackRows) }
}
