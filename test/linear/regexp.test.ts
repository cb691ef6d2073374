// No regular expression in src takes more than linear time on any text; recheck judges each of them. Strangers choose most
// of the matched text, and a match blocks the event loop of a worker or web process.
import { readFileSync, readdirSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { parse } from 'acorn'
import { checkSync } from 'recheck'
import t from 'tap'

/**
 * Expressions that are not linear, and why nobody can exploit them. Listed in full, so that a changed expression is judged
 * anew.
 */
const excused: Readonly<Record<string, string>> = {
  'webhook/settings.ts /-----BEGIN CERTIFICATE-----[\\s\\S]*?-----END CERTIFICATE-----/g':
    "a file of the operator's",
}

/**
 * Expressions that are made at run time, in the order of their file. An expression with a list of words is given with a few
 * of the words. Null: matched only against what our own box reports about itself, or as the comment says.
 */
const madeAtRunTime: Readonly<Record<string, readonly (string | null)[]>> = {
  // Made from the file's table of remedies; it reads the message of one failed start.
  'doctor/sandbox.ts': [null],
  'executor/box/keeper/prove.ts': [null],
  // Made from the pattern in a language's definition that finds its version. This test judges that pattern where it is defined.
  'executor/toolchain/tool.ts': [null],
}

// The native checkers are other programs and exist for some platforms only.
process.env['RECHECK_SYNC_BACKEND'] = 'pure'

/**
 * Shortens the literal text at a pattern's start to its last letter. The rest is then judged in a third of the time, and no
 * less strictly: a match starts at more positions, not at fewer.
 */
function shortenPrefix(pattern: string): string {
  return pattern.replace(
    /^(\^?)(?:[\w #,:-]|\\[()])+(?=(?:[\w #,:-]|\\[()])[^+*?{|])(?![^(]*\|)/,
    '$1',
  )
}

const judged = new Map<string, string>()

/** Returns `safe`, or what is wrong. */
function judge(pattern: string, flags: string): string {
  // Without a repetition, a match from any position takes no more steps than the pattern has ways.
  if (!/[*+{]/.test(pattern)) return 'safe'
  // Many patterns for the versions of languages are the same without their prefix.
  const shortened = shortenPrefix(pattern)
  const known = judged.get(`${flags} ${shortened}`)
  if (known !== undefined) return known
  // No time limits, because with them the result would depend on the machine: a search that is cut short calls linear
  // expressions polynomial, too.
  const limits = { timeout: null, seedingTimeout: null, incubationTimeout: null }
  const answer = checkSync(shortened, flags, limits)
  const judgement = answer.status === 'vulnerable' ? answer.complexity.summary : answer.status
  judged.set(`${flags} ${shortened}`, judgement)
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
    // The type in acorn leaves the value out.
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
