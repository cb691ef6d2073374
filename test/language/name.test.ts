// Only a language's definition, its toolchain and examples name the language. Everything else in src and the client serves
// whatever languages the catalogue has.
import { readFileSync, readdirSync } from 'node:fs'
import t from 'tap'
import { catalogue, languages } from '#language'

const root = `${import.meta.dirname}/../../src`
const client = '../clients/typescript/src'

/**
 * Files that name languages: their definitions, how they are found and coloured, and the C code in a language's
 * interpreter.
 */
const homes =
  /^(?:language\/|executor\/toolchain\/(?:toolchain\.ts$|(?:python|cpp|java|node)\/|recipe\.ts$)|executor\/box\/keeper\/(?:python\.c|build\.ts)$|console\/page\/mode\.ts$)/
/**
 * Files with an example (a call, a program, a program that makes a system call), the browsers' name for scripts, benchmarks
 * or a path.
 */
const examples = [
  'cli/evaluate/format.ts',
  'cli/language-commands.ts',
  'cli/submit.ts',
  'console/build.ts',
  'console/page/draft.ts',
  'dev/dev.ts',
  'executor/seccomp/policy.ts',
  'http/door/jobe.ts',
  'http/openapi-operation.ts',
]

/** Names that also mean other things: letters, and the tools that build the keeper. */
const plain = new Set(['c', 'd', 'r', 'go', 'node', 'gcc', 'ld'])
const names = new Set(
  languages
    .flatMap((language) => [language, ...catalogue[language].tools.map(({ program }) => program)])
    .filter((name) => !plain.has(name)),
)

/** Reads a file's code and strings. Comments are left out because they may name languages. */
function readCode(name: string): string {
  return readFileSync(`${root}/${name}`, 'utf8')
    .replaceAll(/\/\*[^]*?\*\//g, '')
    .replaceAll(/(?:^|\s)\/\/.*$/gm, '')
}

t.test('no source names a language but those that are there for it', async (t) => {
  const files = [
    ...readdirSync(root, { recursive: true, encoding: 'utf8' }),
    ...readdirSync(`${root}/${client}`).map((name) => `${client}/${name}`),
  ].filter((name) => name.endsWith('.ts') && !homes.test(name) && !examples.includes(name))
  t.ok(files.length > 100, `${files.length} files are looked at`)
  for (const name of files) {
    const words = new Set(readCode(name).split(/[^\w+]+/))
    const named = [...names].filter((one) => words.has(one) || words.has(one.toUpperCase()))
    t.strictSame(named, [], name)
  }
})
