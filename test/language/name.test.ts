// A language is named where it is defined and found, and in examples; everything else in src and the client serves whatever the catalogue has.
import { readFileSync, readdirSync } from 'node:fs'
import t from 'tap'
import { catalogue, languages } from '#language'

const root = `${import.meta.dirname}/../../src`
const client = '../clients/typescript/src'

/** Where languages are named: their definitions, how they are found and coloured, and the C that lives in one's interpreter. */
const homes =
  /^(?:language\/|executor\/toolchain\/(?:toolchain\.ts$|(?:python|cpp|java|node)\/|recipe\.ts$)|executor\/box\/keeper\/(?:python\.c|build\.ts)$|console\/page\/mode\.ts$)/
/** Files with an example in them: of a call, of a program, or of who makes a system call; what browsers call scripts; benchmarks; a path. */
const examples = [
  'cli/evaluate/format.ts',
  'cli/language-commands.ts',
  'cli/service-commands.ts',
  'console/build.ts',
  'console/page/draft.ts',
  'dev/dev.ts',
  'executor/seccomp/policy.ts',
  'http/door/jobe.ts',
  'http/openapi-operation.ts',
]

/** Names that are of other things, too: letters, and what the keeper is made with. */
const plain = new Set(['c', 'd', 'r', 'go', 'node', 'gcc', 'ld'])
const names = new Set(
  languages
    .flatMap((language) => [language, ...catalogue[language].tools.map(({ program }) => program)])
    .filter((name) => !plain.has(name)),
)

/** The text of a file's strings and code; what comments say is prose. */
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
