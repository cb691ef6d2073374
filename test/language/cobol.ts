// COBOL's programs.
import type { Programs } from './program.ts'

/** A program with this data and these statements. */
function program(data: string, statements: string, files: readonly [string, string] = ['', '']) {
  const [select, section] = files
  return `identification division.
program-id. program-1.
${select}data division.
${section}working-storage section.
${data}
procedure division.
${statements}
    stop run.
`
}

const input: [string, string] = [
  `environment division.
input-output section.
file-control.
    select input-file assign to keyboard
        organization is line sequential.
`,
  `file section.
fd input-file.
01 input-line pic x(80).
`,
]

export const cobol: Programs = {
  sum: program(
    '01 a pic s9(9).\n01 b pic s9(9).\n01 c pic s9(9).\n01 shown pic -(9)9.',
    '    accept a\n    accept b\n    add a to b giving c\n    move c to shown\n    display function trim(shown).',
  ),
  copy: program(
    '01 filler pic 9 value 0.\n    88 done value 1.',
    `    open input input-file
    perform until done
        read input-file
            at end set done to true
            not at end display function trim(input-line trailing)
        end-read
    end-perform
    close input-file.`,
    input,
  ),
  unicode: program(
    '01 a-line pic x(80).',
    '    display "Grüße, 世界 🎉"\n    accept a-line\n    display function trim(a-line).',
  ),
  exitThree: program(
    '',
    '    display "out"\n    display "err" upon stderr\n    move 3 to return-code.',
  ),
  uncaught: {
    code: program('', '    call "no-such-thing".'),
    says: /libcob: .*module 'no-such-thing' not found/,
  },
  broken: {
    code: 'identification division.\nprogram-id. program-1.\nprocedure divisio.\n    stop run.\n',
    says: /main\.cob:3: error: syntax error/,
  },
  busyLoop: program(
    '01 n pic 9(9) comp-5 value 0.',
    '    perform forever\n        add 1 to n\n    end-perform.',
  ),
  sleeper: program('', '    call "C$SLEEP" using 60.'),
  memoryBomb: program(
    '01 p usage pointer.',
    '    perform forever\n        allocate 1048576 characters initialized returning p\n    end-perform.',
  ),
  outputFlood: program(
    '',
    '    perform forever\n        display "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"\n    end-perform.',
  ),
  scratch: program(
    '',
    `    open output scratch
    move "kept" to scratch-line
    write scratch-line
    close scratch
    open input scratch
    read scratch
    display function trim(scratch-line)
    close scratch.`,
    [
      `environment division.
input-output section.
file-control.
    select scratch assign to "/tmp/file"
        organization is line sequential.
`,
      'file section.\nfd scratch.\n01 scratch-line pic x(80).\n',
    ],
  ),
  // COBOL has no threads, but it can call C's fork. Each process leaves its sum in a file.
  threads: program(
    `01 part pic 9 comp-5.
01 n pic 9(9) comp-5.
01 pid pic s9(9) comp-5.
01 a-sum pic 9(9) value 0.
01 total pic 9(9) value 0.
01 shown pic z(8)9.
01 file-name pic x(20).`,
    `    perform varying part from 0 by 1 until part > 3
        call "fork" returning pid
        if pid = 0
            perform add-up
        end-if
    end-perform
    perform varying part from 0 by 1 until part > 3
        call "wait" using by value 0
    end-perform
    perform varying part from 0 by 1 until part > 3
        perform name-file
        open input scratch
        read scratch into a-sum
        close scratch
        add a-sum to total
    end-perform
    move total to shown
    display function trim(shown)
    move 0 to return-code
    stop run.
name-file.
    string "/tmp/sum-" function trim(part) delimited by size into file-name.
add-up.
    perform varying n from 1 by 1 until n > 250
        compute a-sum = a-sum + part * 250 + n
    end-perform
    perform name-file
    open output scratch
    move a-sum to scratch-line
    write scratch-line
    close scratch
    stop run.
finish.`,
    [
      `environment division.
input-output section.
file-control.
    select scratch assign to file-name
        organization is line sequential.
`,
      'file section.\nfd scratch.\n01 scratch-line pic 9(9).\n',
    ],
  ),
  network: program(
    '01 s pic s9(9) comp-5.',
    `    call "socket" using by value 2 by value 1 by value 0 returning s
    if s < 0
        display "closed"
    end-if
    move 0 to return-code.`,
  ),
  usual: program(
    `01 filler pic 9 value 0.
    88 done value 1.
01 n pic 99 value 0.
01 i pic 99.
01 amount pic x(10).
01 shown pic -(9)9.
01 total pic s9(9) value 0.
01 mean pic -(6)9.99.
01 rows.
    03 a-row occurs 1 to 50 times depending on n.
        05 a-name pic x(20).
        05 a-number pic s9(9).`,
    `    open input input-file
    perform until done
        read input-file
            at end set done to true
            not at end perform keep
        end-read
    end-perform
    close input-file
    sort a-row on ascending key a-number a-name
    perform varying i from 1 by 1 until i > n
        move a-number(i) to shown
        display function trim(a-name(i)) ": " function trim(shown)
    end-perform
    compute mean rounded = total / n
    display "mean: " function trim(mean)
    stop run.
keep.
    add 1 to n
    unstring input-line delimited by all space into a-name(n) amount
    compute a-number(n) = function numval(amount)
    add a-number(n) to total.
finish.`,
    input,
  ),
  arguments: program(
    '01 n pic 9(4).\n01 last-one pic 9(4).\n01 word pic x(80).',
    `    accept last-one from argument-number
    perform varying n from 1 by 1 until n > last-one
        accept word from argument-value
        if word = spaces
            display x"0a" with no advancing
        else
            display function trim(word trailing)
        end-if
    end-perform`,
  ),
  variable: program(
    '01 word pic x(80).',
    `    accept word from environment "GREETING"
    display function trim(word)`,
  ),
  secondFile: {
    code: program('01 n pic 99.', '    call "answer" using n\n    display n'),
    file: {
      name: 'answer.cob',
      content: `identification division.
program-id. answer.
data division.
linkage section.
01 n pic 99.
procedure division using n.
    move 42 to n
    goback.
`,
    },
  },
  compileArguments: {
    words: ['-D', 'N=42'],
    code: program(
      '01 n pic 99 value 0.',
      '>>if N is defined\n    move 42 to n\n>>end-if\n    display n',
    ),
  },
}
