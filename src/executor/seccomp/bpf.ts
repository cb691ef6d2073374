// Classic BPF for seccomp(2). A program is written from its last instruction to its first one, so each instruction names the
// places where the program continues. Formats: https://docs.kernel.org/networking/filter.html, linux/seccomp.h.

/** One `struct sock_filter`. */
interface Instruction {
  readonly code: number
  /** Instructions skipped when a test holds; 0–255. */
  readonly ifTrue: number
  /** Instructions skipped when a test does not hold; 0–255. */
  readonly ifFalse: number
  readonly operand: number
}

/** The instructions in reverse order: the last one of the program comes first. */
export type Program = Instruction[]

/** The index of an instruction in a `Program`. */
export type Place = number

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

/** Offsets in `struct seccomp_data`, and the size of one element of `args`. Every supported architecture is little-endian. */
export const seccompData = { nr: 0, arch: 4, args: 16, argumentBytes: 8 } as const

/** Offsets in `struct sock_filter`, and its size. */
const sockFilter = { code: 0, jt: 2, jf: 3, k: 4, sizeBytes: 8 } as const

/** Return values of a filter (linux/seccomp.h); the errno's number is or-ed into `errno`. */
export const filterReturn = {
  killProcess: 0x80000000,
  errno: 0x00050000,
  allow: 0x7fff0000,
} as const

/** The kernel's limit BPF_MAXINSNS. */
export const maximumInstructions = 4096

const longestJump = 255

function add(program: Program, code: number, operand: number, ifTrue = 0, ifFalse = 0): Place {
  return program.push({ code, operand, ifTrue, ifFalse }) - 1
}

/** True when a jump reaches the place from the next instruction that is added, and from the one after it. */
function isNear(program: Program, place: Place): boolean {
  return program.length - place <= longestJump
}

export function returnValue(program: Program, value: number): Place {
  return add(program, opcode.returnConstant, value)
}

/** Adds a jump, without the limit of those of tests. */
function jump(program: Program, to: Place): Place {
  return add(program, opcode.jumpAlways, program.length - 1 - to)
}

/** Returns a near place that does the same. */
function bringNear(program: Program, place: Place): Place {
  if (isNear(program, place)) return place
  const far = program[place]
  return far?.code === opcode.returnConstant
    ? returnValue(program, far.operand)
    : jump(program, place)
}

/** Compares the loaded word, as an unsigned number. */
export function test(
  program: Program,
  comparison: 'jumpEqual' | 'jumpAtLeast' | 'jumpAnyBit',
  operand: number,
  yes: Place,
  no: Place,
): Place {
  const nearYes = bringNear(program, yes)
  const nearNo = bringNear(program, no)
  const last = program.length - 1
  return add(program, opcode[comparison], operand, last - nearYes, last - nearNo)
}

/** Loads a 32-bit word of `struct seccomp_data`, or the bits of it that the mask has. */
export function load(program: Program, offset: number, next: Place, mask?: number): Place {
  if (next !== program.length - 1) jump(program, next)
  if (mask !== undefined) add(program, opcode.andConstant, mask)
  return add(program, opcode.loadWord, offset)
}

/**
 * Encodes a program as an array of `struct sock_filter`.
 * @throws {RangeError} when it exceeds the kernel's limit, or a jump its longest one.
 */
export function encode(program: Program): Buffer {
  if (program.length > maximumInstructions)
    throw new RangeError(`${program.length} instructions, the kernel takes ${maximumInstructions}`)
  const bytes = Buffer.alloc(program.length * sockFilter.sizeBytes)
  program.toReversed().forEach(({ code, ifTrue, ifFalse, operand }, index) => {
    const start = index * sockFilter.sizeBytes
    bytes.writeUInt16LE(code, start + sockFilter.code)
    bytes.writeUInt8(ifTrue, start + sockFilter.jt)
    bytes.writeUInt8(ifFalse, start + sockFilter.jf)
    bytes.writeUInt32LE(operand >>> 0, start + sockFilter.k)
  })
  return bytes
}
