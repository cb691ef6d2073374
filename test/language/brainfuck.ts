// Brainfuck's programs.
import type { Programs } from './program.ts'

/** Prints a text, a byte after the other in the same cell. */
function says(text: string): string {
  return [...Buffer.from(text)].map((byte) => `${'+'.repeat(byte)}.[-]`).join('\n')
}

/** Reads a line's number, less than 256, into the cell at the right; three cells from there have to be 0. */
const readNumber = `,----------[${'-'.repeat(38)}>[->++++++++++<]>[-<+>]<<[->+<],----------]`
/** Prints a cell's number; the cells at the right have to be 0. */
const printNumber =
  '>>++++++++++<<[->+>-[>+>>]>[+[-<+>]>+>>]<<<<<<]>>[-]>>>++++++++++<[->-[>+>>]>[+[-<+>]>+>>]<<<<<]>[-]>>[>++++++[-<++++++++>]<.<<+>+>[-]]<[<[->-<]++++++[->++++++++<]>.[-]]<<++++++[-<++++++++>]<.[-]<<[-<+>]<'

export const brainfuck: Programs = {
  sum: `${readNumber}>[->>+<<]<${readNumber}>>>[-<<+>>]<<${printNumber}`,
  copy: 'Copies its input and is well!\n,[.,]',
  unicode: `${says('Grüße, 世界 🎉\n')},[.,]`,
  exitThree: { cannot: 'has neither an exit status nor a stderr' },
  uncaught: { code: { cannot: 'has no errors' }, says: /^$/ },
  // Beef names no line.
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
