// No regular expression of src takes more than linear time on any text: each one is judged by recheck. Strangers choose
// most of what is matched, and a worker's or a web process's event loop stands still for as long as one match takes.
import { readFileSync, readdirSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { parse } from 'acorn'
import { checkSync } from 'recheck'
import t from 'tap'

t.setTimeout(600_000)

/** Those that are not linear, and why nobody can make use of it. Named in full: one that is changed is judged anew. */
const excused: Readonly<Record<string, string>> = {
  'webhook/settings.ts /-----BEGIN CERTIFICATE-----[\\s\\S]*?-----END CERTIFICATE-----/g':
    "a file of the operator's",
}

/**
 * Those that are made at run time, a file's in their order: where one holds a list of words, the same with a few of them.
 * Null: matched against what our own box says of itself.
 */
const madeAtRunTime: Readonly<Record<string, readonly (string | null)[]>> = {
  // Of its own table of remedies: it reads the words of one failed start.
  'doctor/sandbox.ts': [null],
  'executor/box/keeper/prove.ts': [null],
  // Of a language's own pattern, which stands there: where its version begins.
  'executor/toolchain/tool.ts': [null],
}

// The native checkers would be other programs, for some platforms only.
process.env['RECHECK_SYNC_BACKEND'] = 'pure'

/**
 * Of the literal text with which a pattern begins, its last letter is enough to judge what comes after it, in a third of the
 * time: a match then begins at more places, not at fewer.
 */
function shortenPrefix(pattern: string): string {
  return pattern.replace(
    /^(\^?)(?:[\w #,:-]|\\[()])+(?=(?:[\w #,:-]|\\[()])[^+*?{|])(?![^(]*\|)/,
    '$1',
  )
}

const judged = new Map<string, string>()

/** `safe`, or what is wrong. */
function judge(pattern: string, flags: string): string {
  const known = judged.get(`${flags} ${pattern}`)
  if (known !== undefined) return known
  // Without limits of time, which would make the answer depend on the machine: a search that is cut short calls linear
  // ones polynomial, too.
  const limits = { timeout: null, seedingTimeout: null, incubationTimeout: null }
  const answer = checkSync(shortenPrefix(pattern), flags, limits)
  const judgement = answer.status === 'vulnerable' ? answer.complexity.summary : answer.status
  judged.set(`${flags} ${pattern}`, judgement)
  return judgement
}

const root = `${import.meta.dirname}/../../src`
const client = '../clients/typescript/src'
const files = [
  ...readdirSync(root, { recursive: true, encoding: 'utf8' }),
  ...readdirSync(`${root}/${client}`).map((name) => `${client}/${name}`),
]
  .filter((name) => name.endsWith('.ts'))
  .map((name) => {
    // acorn's own type leaves the value out.
    const tokens: { readonly type: { readonly label: string }; readonly value?: unknown }[] = []
    const script = stripTypeScriptTypes(readFileSync(`${root}/${name}`, 'utf8'))
    parse(script, {
      ecmaVersion: 'latest',
      sourceType: 'module',
      onToken: (token) => void tokens.push(token),
    })
    return { name, tokens }
  })

t.test('every regular expression is linear, or nobody chooses what it reads', (t) => {
  const seen = new Set<string>()
  for (const { name, tokens } of files) {
    for (const { type, value } of tokens) {
      if (type.label !== 'regexp') continue
      const { pattern, flags } = value as { pattern: string; flags: string }
      const place = `${name} /${pattern}/${flags}`
      if (!seen.has(place) && excused[place] === undefined) {
        t.equal(judge(pattern, flags), 'safe', place)
      }
      seen.add(place)
    }
  }
  t.ok(seen.size > 80, `${seen.size} were found`)
  for (const place of Object.keys(excused)) t.ok(seen.has(place), `${place} still stands there`)
  t.end()
})

t.test('so are those that are made at run time', (t) => {
  for (const { name, tokens } of files) {
    const made = tokens.filter(({ type, value }) => type.label === 'name' && value === 'RegExp')
    const listed = madeAtRunTime[name] ?? []
    t.equal(made.length, listed.length, `as many in ${name} as are listed`)
    for (const pattern of listed) if (pattern !== null) t.equal(judge(pattern, ''), 'safe', pattern)
  }
  t.end()
})

t.test('one that is not linear is told', (t) => {
  for (const pattern of [
    '"(?:\\\\.|[^"\\\\])*"',
    '(?:^|;)[ ]*import[ ]+[\\w ]+[ ]*(?=;|$)',
    '\\s+$',
  ])
    t.match(judge(pattern, ''), /polynomial/, pattern)
  t.end()
})
