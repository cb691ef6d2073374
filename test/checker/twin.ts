// The checkers again, slow and simple: they split, trim and search strings in which each character is a byte.
import type { BuiltInChecker, Judgement } from '#checker'

interface Place {
  readonly line: number
  readonly text: string
}
interface Token extends Place {
  readonly token: string
}

const blanks = ' \\t\\v\\f\\r'
const decimal = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i
const infinite = /^[+-]?inf(inity)?$/i
const nan = /^[+-]?nan$/i

export function checkSlowly(checker: BuiltInChecker, output: string, expected: string): Judgement {
  switch (checker.type) {
    case 'exact':
      return inOrder(splitLines(expected), splitLines(output), (a, b) => a.text === b.text)
    case 'lines':
      return inOrder(trimLines(expected), trimLines(output), (a, b) => a.text === b.text)
    case 'unordered_lines':
      return inAnyOrder(trimLines(expected), trimLines(output))
    case 'tokens':
      return inOrder(splitTokens(expected), splitTokens(output), (a, b) => a.token === b.token)
    case 'floats': {
      const { absolute = 0, relative = 0 } = checker
      return inOrder(splitTokens(expected), splitTokens(output), (a, b) =>
        areNear(a.token, b.token, absolute, relative),
      )
    }
  }
}

function inOrder<T extends Place>(
  expected: readonly T[],
  got: readonly T[],
  matches: (expected: T, got: T) => boolean,
): Judgement {
  for (let index = 0; index < Math.max(expected.length, got.length); index += 1) {
    const [wanted, written] = [expected[index], got[index]]
    if (!wanted || !written || !matches(wanted, written)) return differ(wanted, written)
  }
  return { same: true }
}

function inAnyOrder(expected: readonly Place[], got: readonly Place[]): Judgement {
  const left = [...got]
  for (const wanted of expected) {
    const index = left.findIndex(({ text }) => text === wanted.text)
    if (index === -1) return differ(wanted, undefined)
    left.splice(index, 1)
  }
  return left[0] === undefined ? { same: true } : differ(undefined, left[0])
}

function differ(expected: Place | undefined, got: Place | undefined): Judgement {
  return {
    same: false,
    difference: {
      line: (expected ?? got)?.line ?? 0,
      expected: expected ? cut(expected.text) : null,
      got: got ? cut(got.text) : null,
    },
  }
}

function cut(text: string): string {
  const decoded = new TextDecoder('utf-8', { ignoreBOM: true }).decode(Buffer.from(text, 'latin1'))
  return Array.from(decoded).slice(0, 200).join('')
}

function splitLines(text: string): Place[] {
  return text.split('\n').map((line, index) => ({ line: index + 1, text: line }))
}

function trimLines(text: string): Place[] {
  const lines = splitLines(text).map(({ line, text }) => ({ line, text: trimEnd(text) }))
  while (lines.at(-1)?.text === '') lines.pop()
  return lines
}

function splitTokens(text: string): Token[] {
  return splitLines(text).flatMap(({ line, text }) =>
    text
      .split(new RegExp(`[${blanks}]`))
      .filter((token) => token !== '')
      .map((token) => ({ line, text: trimEnd(text), token })),
  )
}

function trimEnd(text: string): string {
  return text.replace(new RegExp(`[${blanks}]*$`), '')
}

function areNear(expected: string, got: string, absolute: number, relative: number): boolean {
  const [a, b] = [read(expected), read(got)]
  if (expected === got) return true
  if (a === null || b === null) return false
  if (!Number.isFinite(a) || !Number.isFinite(b)) return Object.is(a, b)
  return Math.abs(a - b) <= absolute || Math.abs(a - b) <= relative * Math.abs(a)
}

function read(token: string): number | null {
  if (nan.test(token)) return NaN
  if (infinite.test(token)) return token.startsWith('-') ? -Infinity : Infinity
  const value = decimal.test(token) ? parseFloat(token) : NaN
  return Number.isFinite(value) ? value : null
}
