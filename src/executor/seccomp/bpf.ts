// Classic BPF for seccomp(2): instructions, and the building blocks of the filter. Each block returns or falls through, so
// blocks are concatenated without labels. Formats: https://docs.kernel.org/networking/filter.html, linux/seccomp.h.

/** One `struct sock_filter`. */
export interface Instruction {
  readonly code: number
  /** Instructions skipped when a test holds; 0–255. */
  readonly ifTrue: number
  /** Instructions skipped when a test does not hold; 0–255. */
  readonly ifFalse: number
  readonly operand: number
}

/** Opcodes of linux/bpf_common.h. */
const opcode = {
  loadWord: 0x20,
  andConstant: 0x54,
  jumpAlways: 0x05,
  jumpEqual: 0x15,
  jumpAtLeast: 0x35,
  jumpAnyBit: 0x45,
  returnConstant: 0x06,
} as const

/** Offsets in `struct seccomp_data`, and the size of one element of `args`. */
export const seccompData = { nr: 0, arch: 4, args: 16, argumentBytes: 8 } as const

/** Offsets of the words to load; every supported architecture is little-endian. */
export const dataOffset = {
  number: seccompData.nr,
  architecture: seccompData.arch,
  /** The low 32 bits of argument 0–5. */
  argumentLow: (index: number): number => seccompData.args + index * seccompData.argumentBytes,
  /** The high 32 bits of argument 0–5. */
  argumentHigh: (index: number): number => dataOffset.argumentLow(index) + 4,
} as const

/** Offsets in `struct sock_filter`, and its size. */
export const sockFilter = { code: 0, jt: 2, jf: 3, k: 4, sizeBytes: 8 } as const

/** Return values of a filter (linux/seccomp.h); the errno's number is or-ed into `errno`. */
export const filterReturn = {
  killProcess: 0x80000000,
  errno: 0x00050000,
  allow: 0x7fff0000,
} as const

/** The kernel's limit BPF_MAXINSNS. */
export const maximumInstructions = 4096

const longestJump = 255

function instruct(code: number, operand: number, ifTrue = 0, ifFalse = 0): Instruction {
  // A longer jump would be stored modulo 256 and lead elsewhere.
  if (ifTrue > longestJump || ifFalse > longestJump)
    throw new RangeError('jump over more than 255 instructions')
  return { code, operand, ifTrue, ifFalse }
}

/** Loads a 32-bit word of `struct seccomp_data`. */
export function loadWord(offset: number): Instruction {
  return instruct(opcode.loadWord, offset)
}

export function keepBits(mask: number): Instruction {
  return instruct(opcode.andConstant, mask)
}

export function returnValue(value: number): Instruction {
  return instruct(opcode.returnConstant, value)
}

function isConditional(code: number): boolean {
  return code === opcode.jumpEqual || code === opcode.jumpAtLeast || code === opcode.jumpAnyBit
}

/** Runs `then` if the loaded word is one of `values`, else skips it. */
export function ifOneOf(values: readonly number[], then: readonly Instruction[]): Instruction[] {
  const tests = values.map((value, index) => {
    const testsLeft = values.length - 1 - index
    return instruct(opcode.jumpEqual, value, testsLeft, testsLeft === 0 ? then.length : 0)
  })
  return [...tests, ...then]
}

/** Runs `then` if the loaded word is none of `values`, else skips it. */
export function ifNoneOf(values: readonly number[], then: readonly Instruction[]): Instruction[] {
  const tests = values.map((value, index) =>
    instruct(opcode.jumpEqual, value, values.length - 1 - index + then.length, 0),
  )
  return [...tests, ...then]
}

/** Runs `then` if the loaded word has any of `bits`, else skips it. */
export function ifAnyBit(bits: number, then: readonly Instruction[]): Instruction[] {
  return [instruct(opcode.jumpAnyBit, bits, 0, then.length), ...then]
}

/** Runs `below` if the loaded word is less than `boundary` (unsigned), else `atLeast`. Both must end in a return. */
export function split(
  boundary: number,
  below: readonly Instruction[],
  atLeast: readonly Instruction[],
): Instruction[] {
  if (below.length <= 255)
    return [instruct(opcode.jumpAtLeast, boundary, below.length), ...below, ...atLeast]
  // A conditional jump skips at most 255 instructions.
  return [
    instruct(opcode.jumpAtLeast, boundary, 0, 1),
    instruct(opcode.jumpAlways, below.length),
    ...below,
    ...atLeast,
  ]
}

/**
 * Returns an equivalent, shorter program: tests with the same result jump to one shared return. The kernel compiles a filter
 * again for each process that loads it.
 */
export function shareReturns(program: readonly Instruction[]): Instruction[] {
  const places = new Map<number, number[]>()
  program.forEach(({ code, operand }, place) => {
    if (code !== opcode.returnConstant) return
    places.set(operand, [...(places.get(operand) ?? []), place])
  })
  const targets = program.map((instruction, place) =>
    listTargets(instruction, place).map((target) => {
      const { code, operand } = program[target] ?? instruction
      const isLeaf = code === opcode.returnConstant && isConditional(instruction.code)
      const reachable = isLeaf ? places.get(operand) : undefined
      return reachable?.findLast((one) => one <= place + 1 + longestJump) ?? target
    }),
  )
  const reached = new Set([0])
  targets.forEach((ones, place) => {
    if (reached.has(place)) for (const one of ones) reached.add(one)
  })
  const kept = [...program.entries()].filter(([place]) => reached.has(place))
  const newPlaces = new Map(kept.map(([place], index) => [place, index]))
  return kept.map(([place, { code, operand }], index) => {
    const [first = 0, second = 0] = (targets[place] ?? []).map(
      (target) => (newPlaces.get(target) ?? 0) - index - 1,
    )
    if (code === opcode.jumpAlways) return instruct(code, first)
    return isConditional(code) ? instruct(code, operand, first, second) : instruct(code, operand)
  })
}

/** Returns the positions at which the program may continue after the instruction at `place`. */
function listTargets({ code, operand, ifTrue, ifFalse }: Instruction, place: number): number[] {
  if (code === opcode.returnConstant) return []
  if (code === opcode.jumpAlways) return [place + 1 + operand]
  const next = place + 1
  return isConditional(code) ? [next + ifTrue, next + ifFalse] : [next]
}

/**
 * Encodes a program as an array of `struct sock_filter`.
 * @throws {RangeError} when it exceeds the kernel's limit.
 */
export function encode(program: readonly Instruction[]): Buffer {
  if (program.length > maximumInstructions)
    throw new RangeError(`${program.length} instructions, the kernel takes ${maximumInstructions}`)
  const bytes = Buffer.alloc(program.length * sockFilter.sizeBytes)
  program.forEach(({ code, ifTrue, ifFalse, operand }, index) => {
    const start = index * sockFilter.sizeBytes
    bytes.writeUInt16LE(code, start + sockFilter.code)
    bytes.writeUInt8(ifTrue, start + sockFilter.jt)
    bytes.writeUInt8(ifFalse, start + sockFilter.jf)
    bytes.writeUInt32LE(operand >>> 0, start + sockFilter.k)
  })
  return bytes
}
