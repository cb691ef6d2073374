// Runs a classic BPF program as the kernel would, from its bytes (linux/filter.h), so that a filter can be tested
// without a kernel. Knows only the instructions a seccomp filter may hold; anything else throws.

/** The data that a filter sees of a system call. */
export interface CallData {
  readonly number: number
  readonly architecture: number
  /** Six 64-bit arguments. */
  readonly values: readonly bigint[]
}

/** Returns the value that the program returns. @throws {Error} on an instruction or offset that the kernel would refuse. */
export function interpret(program: Buffer, call: CallData): number {
  const data = Buffer.alloc(64)
  data.writeUInt32LE(call.number >>> 0, 0)
  data.writeUInt32LE(call.architecture >>> 0, 4)
  call.values.forEach((value, index) => {
    data.writeBigUInt64LE(BigInt.asUintN(64, value), 16 + index * 8)
  })
  let accumulator = 0
  for (let at = 0; at < program.length; at += 8) {
    const code = program.readUInt16LE(at)
    const ifTrue = program.readUInt8(at + 2)
    const ifFalse = program.readUInt8(at + 3)
    const operand = program.readUInt32LE(at + 4)
    const jump = (holds: boolean): void => {
      at += (holds ? ifTrue : ifFalse) * 8
    }
    if (code === 0x20) {
      if (operand % 4 !== 0 || operand > 60) throw new Error(`load at ${operand}`)
      accumulator = data.readUInt32LE(operand)
    } else if (code === 0x54) accumulator = (accumulator & operand) >>> 0
    else if (code === 0x05) at += operand * 8
    else if (code === 0x15) jump(accumulator === operand)
    else if (code === 0x35) jump(accumulator >= operand)
    else if (code === 0x45) jump((accumulator & operand) !== 0)
    else if (code === 0x06) return operand
    else throw new Error(`instruction ${code.toString(16)}`)
  }
  throw new Error('ran past the end')
}
