// message.h's structures as tables of fields; test/executor/box/keeper/structure.test.ts compares them with the
// compiled header.

/** Little-endian, unsigned. */
export type FieldType = 'uint32_t' | 'uint64_t'

/** By name in C, in C's order. */
type Fields = Readonly<Record<string, FieldType>>

/** Whole numbers below 2^53. */
type Values<F extends Fields> = Readonly<Record<keyof F, number>>

export interface Structure<F extends Fields> {
  /** Its name in C. */
  readonly name: string
  readonly sizeBytes: number
  /** Each with its offset in bytes. */
  readonly fields: readonly {
    readonly name: keyof F & string
    readonly type: FieldType
    readonly offset: number
  }[]
  encode(values: Values<F>): Buffer
  /** @throws {RangeError} unless there are `sizeBytes` bytes. */
  decode(bytes: Buffer): Values<F>
}

const fieldBytes: Readonly<Record<FieldType, number>> = { uint32_t: 4, uint64_t: 8 }

function defineStructure<const F extends Fields>(name: string, types: F): Structure<F> {
  let sizeBytes = 0
  const fields = Object.entries(types).map(([field, type]) => {
    const offset = align(sizeBytes, fieldBytes[type])
    sizeBytes = offset + fieldBytes[type]
    return { name: field, type, offset }
  })
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
      return Object.fromEntries(values) as Values<F>
    },
  }
}

function align(offset: number, bytes: number): number {
  return Math.ceil(offset / bytes) * bytes
}

export const hello = defineStructure('hello', {
  kind: 'uint32_t',
  cgroup_version: 'uint32_t',
  flags: 'uint32_t',
  filter_bytes: 'uint32_t',
  keeper_filter_bytes: 'uint32_t',
  layout_bytes: 'uint32_t',
  runtime_bytes: 'uint32_t',
  runtime_arguments: 'uint32_t',
  runtime_variables: 'uint32_t',
})

export const request = defineStructure('request', {
  kind: 'uint32_t',
  argument_bytes: 'uint32_t',
  arguments: 'uint32_t',
  variables: 'uint32_t',
  files: 'uint32_t',
  processes: 'uint32_t',
  unlimited_stack: 'uint32_t',
  unused: 'uint32_t',
  output_files: 'uint32_t',
  tells: 'uint32_t',
  stdin_bytes: 'uint64_t',
  memory_bytes: 'uint64_t',
  cpu_nanoseconds: 'uint64_t',
  wall_nanoseconds: 'uint64_t',
  stdout_bytes: 'uint64_t',
  stderr_bytes: 'uint64_t',
  box_bytes: 'uint64_t',
  scratch_bytes: 'uint64_t',
  file_size_limit: 'uint64_t',
  output_files_bytes: 'uint64_t',
  cores_per_mille: 'uint64_t',
})

export const fileHead = defineStructure('file_head', {
  name_bytes: 'uint32_t',
  executable: 'uint32_t',
  size: 'uint64_t',
})

export const outputFile = defineStructure('output_file', {
  index: 'uint32_t',
  unused: 'uint32_t',
  size: 'uint64_t',
})

export const frame = defineStructure('frame', { kind: 'uint32_t', length: 'uint32_t' })

export const result = defineStructure('result', {
  end_code: 'uint32_t',
  end_status: 'uint32_t',
  reason: 'uint32_t',
  delay_milliseconds: 'uint32_t',
  unsettled: 'uint32_t',
  unused: 'uint32_t',
  wall_nanoseconds: 'uint64_t',
  cpu_nanoseconds: 'uint64_t',
  memory_peak_bytes: 'uint64_t',
  memory_kills: 'uint64_t',
  stdout_bytes: 'uint64_t',
  stderr_bytes: 'uint64_t',
})

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
