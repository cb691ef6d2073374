// Finds a Java source's top-level types: javac wants the file named after the public one, and class files do not tell
// their order. Time is linear in the source.
import { endOfLiteral } from '../literal.ts'

export interface DeclaredType {
  readonly name: string
  readonly isPublic: boolean
}

const declaration =
  /(?:^|[\s)>])(?:class|interface|enum|record|@\s*interface)\s+([\p{L}_$][\p{L}\p{N}_$]*)/u

/** In the source's order; if it does not compile, what looks like types. */
export function findTypes(source: string): DeclaredType[] {
  const code = removeBodies(removeWords(decodeUnicodeEscapes(source)))
  return code.split(';').flatMap((statement) => {
    const match = declaration.exec(statement)
    const name = match?.[1]
    if (match === null || name === undefined) return []
    return [{ name, isPublic: /(?:^|[\s)])public\s/.test(statement.slice(0, match.index + 1)) }]
  })
}

/** The longest name of a file on Linux, in bytes. */
const longestName = 255

/** The public type's name, else `Main.java`; also for a name too long for a file, which javac then reports. */
export function nameSource(types: readonly DeclaredType[]): string {
  const name = `${types.find(({ isPublic }) => isPublic)?.name ?? 'Main'}.java`
  return Buffer.byteLength(name) > longestName ? 'Main.java' : name
}

/** `\u0041` is a letter anywhere, even within a keyword (Java Language Specification, 3.3). */
function decodeUnicodeEscapes(source: string): string {
  return source.replace(/(\\\\)|\\u+([0-9a-fA-F]{4})/g, (whole, backslashes, digits: string) =>
    backslashes === undefined ? String.fromCharCode(Number.parseInt(digits, 16)) : whole,
  )
}

/** What begins a comment, a text block, a string or a character. */
const opening = /\/[/*]|["']/g
const lineEnd = /[\n\r]/g

/** Blanks out comments, text blocks, strings and characters, whose words mean nothing. */
function removeWords(source: string): string {
  let code = ''
  let end = 0
  opening.lastIndex = 0
  for (let found = opening.exec(source); found !== null; found = opening.exec(source)) {
    code += `${source.slice(end, found.index)} `
    end = found[0].startsWith('/')
      ? endOfComment(source, found.index)
      : endOfLiteral(source, found.index)
    opening.lastIndex = end
  }
  return code + source.slice(end)
}

function endOfComment(source: string, start: number): number {
  if (source[start + 1] === '*') {
    const close = source.indexOf('*/', start + 2)
    return close === -1 ? source.length : close + 2
  }
  lineEnd.lastIndex = start
  return lineEnd.exec(source)?.index ?? source.length
}

/** Replaces what is inside braces by `;`, as nested types are not the file's. */
function removeBodies(code: string): string {
  let depth = 0
  let kept = ''
  for (const character of code) {
    if (character === '{') {
      depth += 1
    } else if (character === '}') {
      depth = Math.max(0, depth - 1)
      if (depth === 0) kept += ';'
    } else if (depth === 0) {
      kept += character
    }
  }
  return kept
}
