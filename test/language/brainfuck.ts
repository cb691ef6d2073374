// Brainfuck's programs.
import type { Programs } from './program.ts'

/** Returns a program that prints a text, byte by byte from the same cell. */
function says(text: string): string {
  return [...Buffer.from(text)].map((byte) => `${'+'.repeat(byte)}.[-]`).join('\n')
}

/** Reads a number less than 256 from a line into the cell to the right. Three cells from there must be 0. */
const readNumber = `,----------[${'-'.repeat(38)}>[->++++++++++<]>[-<+>]<<[->+<],----------]`
/** Prints a cell's number. The cells to the right must be 0. */
const printNumber =
  '>>++++++++++<<[->+>-[>+>>]>[+[-<+>]>+>>]<<<<<<]>>[-]>>>++++++++++<[->-[>+>>]>[+[-<+>]>+>>]<<<<<]>[-]>>[>++++++[-<++++++++>]<.<<+>+>[-]]<[<[->-<]++++++[->++++++++<]>.[-]]<<++++++[-<++++++++>]<.[-]<<[-<+>]<'

export const brainfuck: Programs = {
  sum: `${readNumber}>[->>+<<]<${readNumber}>>>[-<<+>>]<<${printNumber}`,
  copy: 'Copies its input and is well!\n,[.,]',
  unicode: `${says('Grüße, 世界 🎉\n')},[.,]`,
  exitThree: { cannot: 'has neither an exit status nor a stderr' },
  uncaught: { code: { cannot: 'has no errors' }, says: /^$/ },
  // The interpreter, Beef, names no line.
  broken: { code: '+++\n+++\n[++\n', says: /Unbalanced brackets/ },
  busyLoop: '+[]',
  sleeper: { cannot: 'cannot wait' },
  memoryBomb: { cannot: 'takes so little of its tape in a second that CPU time is over first' },
  outputFlood: `${'+'.repeat(120)}[.]`,
  scratch: { cannot: 'has no files' },
  threads: { cannot: 'has no threads' },
  network: { cannot: 'has no sockets' },
  usual: { cannot: 'has no library' },
  arguments: { cannot: 'has no arguments' },
  variable: { cannot: 'has no environment' },
  secondFile: { cannot: 'has no other files' },
}
