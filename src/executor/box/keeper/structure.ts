// message.h's structures as tables of fields; test/executor/box/keeper/structure.test.ts compares them with the
// compiled header.
import { splitNames } from '#contract'
import type { Names } from '#contract'

/** Little-endian, unsigned. */
export type FieldType = 'uint32_t' | 'uint64_t'

/** Whole numbers below 2^53. */
type Values<Name extends string> = Readonly<Record<Name, number>>

export interface Structure<Name extends string> {
  /** Its name in C. */
  readonly name: string
  readonly sizeBytes: number
  /** Each with its offset in bytes. */
  readonly fields: readonly {
    readonly name: Name
    readonly type: FieldType
    readonly offset: number
  }[]
  encode(values: Values<Name>): Buffer
  /** @throws {RangeError} unless there are `sizeBytes` bytes. */
  decode(bytes: Buffer): Values<Name>
}

const fieldBytes: Readonly<Record<FieldType, number>> = { uint32_t: 4, uint64_t: 8 }

/** Names in C's order, with a blank between two; wide fields follow the others. */
function defineStructure<const Small extends string, const Wide extends string = never>(
  name: string,
  small: Small,
  wide?: Wide,
): Structure<Names<Small> | Names<Wide>> {
  type Name = Names<Small> | Names<Wide>
  let sizeBytes = 0
  const place = (field: Name, type: FieldType): Structure<Name>['fields'][number] => {
    const offset = align(sizeBytes, fieldBytes[type])
    sizeBytes = offset + fieldBytes[type]
    return { name: field, type, offset }
  }
  const fields = [
    ...splitNames(small).map((field) => place(field, 'uint32_t')),
    ...(wide === undefined ? [] : splitNames(wide)).map((field) => place(field, 'uint64_t')),
  ]
  sizeBytes = align(sizeBytes, Math.max(...fields.map(({ type }) => fieldBytes[type])))
  return {
    name,
    sizeBytes,
    fields,
    encode(values) {
      const bytes = Buffer.alloc(sizeBytes)
      for (const { name: field, type, offset } of fields) {
        const value = values[field] ?? 0
        if (type === 'uint32_t') bytes.writeUInt32LE(value, offset)
        else bytes.writeBigUInt64LE(BigInt(value), offset)
      }
      return bytes
    },
    decode(bytes) {
      if (bytes.length !== sizeBytes)
        throw new RangeError(`a ${name} of ${bytes.length} bytes, not ${sizeBytes}`)
      const values = fields.map(({ name: field, type, offset }) => {
        const value =
          type === 'uint32_t' ? bytes.readUInt32LE(offset) : Number(bytes.readBigUInt64LE(offset))
        return [field, value] as const
      })
      return Object.fromEntries(values) as Values<Name>
    },
  }
}

function align(offset: number, bytes: number): number {
  return Math.ceil(offset / bytes) * bytes
}

export const hello = defineStructure(
  'hello',
  'kind cgroup_version flags filter_bytes keeper_filter_bytes layout_bytes runtime_bytes runtime_arguments runtime_variables',
)

export const request = defineStructure(
  'request',
  'kind argument_bytes arguments variables files processes unlimited_stack merges_stderr output_files',
  'stdin_bytes memory_bytes cpu_nanoseconds wall_nanoseconds stdout_bytes stderr_bytes box_bytes scratch_bytes file_size_limit output_files_bytes cores_per_mille',
)

export const fileHead = defineStructure('file_head', 'name_bytes executable', 'size')

export const outputFile = defineStructure('output_file', 'index unused', 'size')

export const frame = defineStructure('frame', 'kind length')

export const result = defineStructure(
  'result',
  'end_code end_status reason delay_milliseconds unsettled unused',
  'wall_nanoseconds cpu_nanoseconds memory_peak_bytes memory_kills stdout_bytes stderr_bytes',
)

/** `enum reason`, in order. */
export const reasons = [
  'no_reason',
  'cpu_limit',
  'wall_limit',
  'output_limit',
  'memory_limit',
  'aborted',
  'starved',
] as const

/** `enum hello_flag`. */
export const helloFlag = {
  hello_counts_swap: 1,
  hello_shares_cpu: 2,
  hello_unlimited_stack: 4,
  hello_own_streams: 8,
  hello_loopback: 16,
} as const

/** How a process ended, from siginfo_t. */
export const endCode = { CLD_EXITED: 1, CLD_KILLED: 2, CLD_DUMPED: 3 } as const
