// The structures of message.h as lists of fields. test/executor/box/keeper/structure.test.ts compares them with the compiled
// header.
import { splitNames } from '#contract'
import type { Names } from '#contract'

/** Whole numbers below 2^53. */
type Values<Name extends string> = Readonly<Record<Name, number>>

/** Numbers are little-endian, as on every architecture that has a filter (seccomp.ts). */
const numberBytes = BigUint64Array.BYTES_PER_ELEMENT

export function encodeNumbers(values: readonly number[]): Buffer {
  return Buffer.from(BigUint64Array.from(values, BigInt).buffer)
}

/** @param name of the structure in C. @param names of its fields in C's order, separated by blanks. */
function defineStructure<const Text extends string>(name: string, names: Text) {
  const fields = splitNames(names)
  const sizeBytes = fields.length * numberBytes
  return {
    name,
    fields,
    sizeBytes,
    encode: (values: Values<Names<Text>>) => encodeNumbers(fields.map((field) => values[field])),
    /** @throws {RangeError} unless there are `sizeBytes` bytes. */
    decode(bytes: Buffer): Values<Names<Text>> {
      if (bytes.length !== sizeBytes)
        throw new RangeError(`a ${name} of ${bytes.length} bytes, not ${sizeBytes}`)
      const read = (at: number): number => Number(bytes.readBigUInt64LE(at * numberBytes))
      return Object.fromEntries(fields.map((field, at) => [field, read(at)])) as Values<Names<Text>>
    },
  }
}

export const hello = defineStructure(
  'hello',
  'kind cgroup_version counts_swap shares_cpu own_streams loopback filter_bytes keeper_filter_bytes layout_bytes runtime_bytes runtime_arguments runtime_unlimited_stack',
)

export const request = defineStructure(
  'request',
  'kind argument_bytes arguments variables files processes unlimited_stack merges_stderr output_files stdin_bytes memory_bytes cpu_nanoseconds wall_nanoseconds stdout_bytes stderr_bytes box_bytes scratch_bytes output_files_bytes cores_per_mille',
)

export const fileHead = defineStructure('file_head', 'name_bytes executable size')

export const outputFile = defineStructure('output_file', 'index size')

export const frame = defineStructure('frame', 'kind length')

export const result = defineStructure(
  'result',
  'end_code end_status reason delay_milliseconds unsettled wall_nanoseconds cpu_nanoseconds memory_peak_bytes memory_kills stdout_bytes stderr_bytes',
)

/** The values of `enum reason`, in C's order. */
export const reasons = [
  'no_reason',
  'cpu_limit',
  'wall_limit',
  'output_limit',
  'memory_limit',
  'aborted',
  'starved',
  'squeezed',
] as const

/** How a process ended, from siginfo_t. */
export const endCode = { CLD_EXITED: 1, CLD_KILLED: 2, CLD_DUMPED: 3 } as const
