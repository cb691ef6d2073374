// Outputs are compared as judges do it, in a time that no program's output can stretch.
import t from 'tap'
import type { Outcome, Phase } from '#executor'
import { describeOutcome } from '../../../src/job/execute/verdict.ts'

function judge(actual: string, expected: string): string {
  const run: Phase = {
    ending: 'exited',
    exitCode: 0,
    signal: null,
    stdout: Buffer.from(actual, 'latin1'),
    stderr: Buffer.alloc(0),
    stdoutTruncated: false,
    stderrTruncated: false,
    usage: { cpuSeconds: 0, wallSeconds: 0, memoryPeakBytes: 0 },
  }
  const outcome: Outcome = { compile: null, compileCached: false, run }
  return describeOutcome(outcome, Buffer.from(expected, 'latin1')).data.verdict
}

t.test('white space at line ends and empty lines at the end do not count', async (t) => {
  for (const [actual, expected] of [
    ['1\n', '1'],
    ['1', '1\n\n\n'],
    ['1 \t\r\f\v\n2', '1\n2\r\n'],
    ['', '\n \n\t'],
    ['a\n\nb\n', 'a\n \nb'],
    ['\xff\n', '\xff'],
  ] as const) {
    t.equal(judge(actual, expected), 'AC', JSON.stringify([actual, expected]))
    t.equal(judge(expected, actual), 'AC', JSON.stringify([expected, actual]))
  }
})

t.test('everything else does', async (t) => {
  for (const [actual, expected] of [
    ['1', '2'],
    [' 1', '1'],
    ['1  2', '1 2'],
    ['\n1', '1'],
    ['1\n\n2', '1\n2'],
    ['a', 'A'],
    ['\xff', '\xef\xbf\xbd'],
    ['1\0', '1'],
    ['', '1'],
  ] as const) {
    t.equal(judge(actual, expected), 'WA', JSON.stringify([actual, expected]))
    t.equal(judge(expected, actual), 'WA', JSON.stringify([expected, actual]))
  }
})

t.test('a mebibyte of blanks is judged in no more than a moment', async (t) => {
  for (const blank of [' ', '\n', '\r', ' \n', '\t ']) {
    const output = `${blank.repeat(2 ** 20 / blank.length)}x`
    // What goes back over them takes minutes, and all that the worker does stands still meanwhile.
    t.equal(judge(output, 'x'), 'WA')
    t.equal(judge(output, output), 'AC')
  }
})
