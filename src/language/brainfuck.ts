// Brainfuck: Beef. Cells are bytes, there is no end to them at the right, `,` is 0 at the end of the input, and
// `.` of a cell of 0 prints nothing.
import type { LanguageDefinition } from './definition.ts'

export const brainfuck = {
  name: 'brainfuck',
  title: 'Brainfuck',
  aliases: ['bf'],
  extensions: ['.bf', '.b'],
  // A loop that is not gone into: a program that ends on a cell of 0 can be followed by one.
  comment: ['[', ']'],
  packages: ['beef'],
  tools: [
    {
      program: 'beef',
      title: 'Beef',
      ask: ['--help'],
      pattern: /Flexible Brainfuck interpreter()/u,
      oldest: [0, 0],
    },
  ],
  least: { processes: 2 },
  example:
    '++++++++++[>+++++++>++++++++++>+++>+<<<<-]>++.>+.+++++++..+++.>++++++++++++++.------------.<++++++++.--------.+++.------.--------.>+.>.',
  // A counter of decimal digits, each in four cells: a carry, ten less the digit, and two for what becomes of it.
  trial:
    ',[[-]>>>>+[->>+<[>-]>[-<++++++++++>>]<<->+<[>-]>[-<++++++++++>>>+<]>]<<<[<<<<]<,]>>>>>[>>>>]<<<<[>>++++++++[<+++++++>-]<++<[->-<]>.[-]<<<<<]',
  recipe: {
    source: 'main.bf',
    compile: null,
    // Beef ends a program at its first `!` and takes the rest for the input, though people write it in comments.
    run: ['sh', '-c', "tr -cd '][+<>.,-' <main.bf >/tmp/main.bf; exec beef /tmp/main.bf"],
    typed: { run: ['beef', 'main.bf'] },
    environment: {
      // Otherwise each byte that is not ASCII becomes a complaint.
      CHARSET: 'UTF-8',
      // No modules of the host's that ask a desktop for its settings.
      GIO_MODULE_DIR: '/nonexistent',
    },
  },
} as const satisfies LanguageDefinition
