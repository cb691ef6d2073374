// Splits a Python source into code and the rest, in one pass.
import { endOfLiteral } from '../literal.ts'

export interface PythonSource {
  /** Without comments. */
  readonly text: string
  /** Also without strings' content; expressions in an f-string's braces stay. */
  readonly code: string
}

/** Begins a comment or a string; the letters make an f-string or a t-string. */
const opening = /(?:\b[rR]?[fFtT][rR]?)?["']|#/g

/** @param source with `\n` line ends. */
export function splitPython(source: string): PythonSource {
  let text = ''
  let code = ''
  let end = 0
  opening.lastIndex = 0
  for (let found = opening.exec(source); found !== null; found = opening.exec(source)) {
    const before = source.slice(end, found.index)
    const [prefix] = found
    if (prefix === '#') {
      end = endOfLine(source, found.index)
      text += before
      code += before
    } else {
      end = endOfLiteral(source, opening.lastIndex - 1)
      const literal = source.slice(found.index, end)
      text += before + literal
      code += `${before}""${prefix.length > 1 ? bracesOf(literal) : ''}`
    }
    opening.lastIndex = end
  }
  return { text: text + source.slice(end), code: code + source.slice(end) }
}

function endOfLine(source: string, start: number): number {
  const end = source.indexOf('\n', start)
  return end === -1 ? source.length : end
}

function bracesOf(literal: string): string {
  const start = literal.indexOf('{')
  return start === -1 ? '' : literal.slice(start, literal.lastIndexOf('}') + 1)
}
