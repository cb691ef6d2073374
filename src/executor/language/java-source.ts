// Finds the name a Java source file must have: that of its public top-level type.
// javac refuses any other name, so it is needed before there is a class file to ask.

/** Comments, text blocks, strings and characters: whatever could hold a word that is not one. */
const notCode =
  /\/\*[\s\S]*?(?:\*\/|$)|\/\/[^\n\r]*|"""(?:\\[\s\S]|[\s\S])*?(?:"""|$)|"(?:\\.|[^"\\\n\r])*"|'(?:\\.|[^'\\\n\r])*'/g

const declaration =
  /(?:^|[;{}\s)])public\s+(?:(?:abstract|final|sealed|non-sealed|strictfp|static)\s+|@[\w.]+(?:\s*\([^)]*\))?\s+)*(?:class|interface|enum|record|@\s*interface)\s+([\p{L}_$][\p{L}\p{N}_$]*)/u

/** Name of the public top-level type; `Main` when there is none. */
export function findPublicType(source: string): string {
  const code = removeBodies(decodeUnicodeEscapes(source).replace(notCode, ' '))
  return declaration.exec(code)?.[1] ?? 'Main'
}

/** `\u0041` is a letter anywhere in Java, even in the middle of a keyword (Java Language Specification, 3.3). */
function decodeUnicodeEscapes(source: string): string {
  return source.replace(/(\\\\)|\\u+([0-9a-fA-F]{4})/g, (whole, backslashes, digits: string) =>
    backslashes === undefined ? String.fromCharCode(Number.parseInt(digits, 16)) : whole,
  )
}

/** Keeps what stands outside all braces, so that a nested public class is not taken for the file's. */
function removeBodies(code: string): string {
  let depth = 0
  let kept = ''
  for (const character of code) {
    if (character === '{') depth += 1
    else if (character === '}') depth = Math.max(0, depth - 1)
    else if (depth === 0) {
      kept += character
      continue
    }
    kept += ' '
  }
  return kept
}
