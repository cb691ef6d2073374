// Brainfuck: Beef. Cells are bytes and unlimited to the right, `,` stores 0 at the end of the input, and `.` prints nothing for
// a cell of 0.
import type { LanguageDefinition } from './definition.ts'

export const brainfuck = {
  title: 'Brainfuck',
  aliases: ['bf'],
  extensions: ['.bf', '.b'],
  // A comment is a loop that is not entered. It works after a program that ends on a cell of 0.
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
  // A counter of decimal digits. Each digit has four cells: a carry, ten minus the digit, and two for temporary values.
  trial:
    ',[[-]>>>>+[->>+<[>-]>[-<++++++++++>>]<<->+<[>-]>[-<++++++++++>>>+<]>]<<<[<<<<]<,]>>>>>[>>>>]<<<<[>>++++++++[<+++++++>-]<++<[->-<]>.[-]<<<<<]',
  recipe: {
    source: 'main.bf',
    // Removes all other characters, because Beef ends a program at its first `!`, which people write in comments, and reads the
    // rest as input.
    run: ['sh', '-c', "tr -cd '][+<>.,-' <main.bf >/tmp/main.bf; exec beef /tmp/main.bf"],
    typed: { run: ['beef', 'main.bf'] },
    environment: {
      // Otherwise Beef reports an error for each byte that is not ASCII.
      CHARSET: 'UTF-8',
      // Keeps GLib from loading modules of the host that ask a desktop for its settings.
      GIO_MODULE_DIR: '/nonexistent',
    },
  },
} as const satisfies LanguageDefinition
