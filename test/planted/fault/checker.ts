// Faults in how a program's output is held against the expected one.
import type { Fault } from '../fault.ts'

export const checkerFaults: readonly Fault[] = [
  {
    name: 'checker: empty lines at the end count',
    text: 'while (limit > 0 && (isBlank(bytes[limit - 1]) || bytes[limit - 1] === newline)) limit -= 1',
    instead: 'while (limit > 0 && isBlank(bytes[limit - 1])) limit -= 1',
    tests: ['checker/lines', 'job/verdict'],
  },
  {
    name: 'checker: white space at line ends counts',
    text: 'if (cursor.trims) while (end > next && isBlank(bytes[end - 1])) end -= 1',
    instead: '',
    tests: ['checker/lines', 'job/verdict'],
  },
  {
    name: 'checker: an output that goes on after the expected one is the same',
    text: 'if (!isExpected || !isGot || !matches(wanted, got)) {',
    instead: 'if (!isExpected) return same\n    if (!isGot || !matches(wanted, got)) {',
    tests: ['checker/tokens', 'checker/floats'],
  },
  {
    name: 'checker: how often a line is there does not count',
    text: 'entries[entry + countWord] = count - 1',
    instead: '',
    tests: ['checker/unordered-lines'],
  },
  {
    name: 'checker: an infinite number is near to all',
    text: 'if (!Number.isFinite(expected) || !Number.isFinite(got)) return expected === got',
    instead: '',
    tests: ['checker/floats'],
  },
  {
    name: 'checker: the relative tolerance is of what was got',
    text: 'return distance <= relative * Math.abs(expected)',
    instead: 'return distance <= relative * Math.abs(got)',
    tests: ['checker/floats'],
  },
  {
    name: 'checker: a character is cut in two where a line is',
    text: "return Array.from(text).slice(0, excerptLength).join('')",
    instead: 'return text.slice(0, excerptLength)',
    tests: ['checker/difference'],
  },
  {
    name: 'checker: when its thread fails the output is right',
    text: "throw new SandboxError('checker.thread', describeError(cause), cause)",
    instead: 'return { same: true }',
    tests: ['job/verdict'],
  },
]
