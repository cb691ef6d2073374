// check.sh runs this in web's container. It runs a program in every language that the workers offer, and checks that they offer
// all languages of the bundle, which are its arguments. The key comes on standard input. It prints the result in one line.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from '#client'
import type { Language } from '#client'
import { describeError } from '#error-text'
import { findLanguage } from '#language'

// A worker offers a language only after a trial program has run correctly.
const patienceSeconds = 300

const client = createClient({
  url: 'http://127.0.0.1:3000',
  apiKey: readFileSync(0, 'utf8').trim(),
  // The header that the router in front of web sets.
  fetch: (url, options) => {
    const headers = new Headers(options?.headers)
    headers.set('X-Forwarded-Proto', 'https')
    return fetch(url, { ...options, headers })
  },
})

const wanted = process.argv.slice(2).map((word) => findLanguage(word) ?? word)
const offered = await waitForLanguages()
const names = offered.map(({ name }) => name)
const missing = wanted.filter((name) => !names.includes(name))
const complaints = missing.map((name) => `${name} is not offered`)
for (const language of offered) {
  const complaint = await examine(language)
  if (complaint !== null) complaints.push(complaint)
}
if (offered.length === 0) complaints.push('no worker offers a language')
const good = `a program in each language is AC: ${names.join(', ')}`
process.stdout.write(`${complaints.length === 0 ? good : complaints.join('; ')}\n`)
process.exitCode = complaints.length === 0 ? 0 : 1

/** Resolves with the offered languages when none is missing, or after the time that starting may take. */
async function waitForLanguages(): Promise<readonly Language[]> {
  const end = performance.now() + patienceSeconds * 1000
  for (;;) {
    const found = await client.languages().catch(() => [])
    const isAll = wanted.every((name) => found.some((language) => language.name === name))
    if ((isAll && found.length > 0) || performance.now() > end) return found
    await sleep(1000)
  }
}

/** Runs a language's example. @returns the fault, or null. */
async function examine({ name, example }: Language): Promise<string | null> {
  if (example === null) return null
  try {
    const { verdict, stdout } = await client.run({ language: name, code: example })
    if (verdict !== 'AC') return `${name}: ${verdict}`
    return stdout?.trim() === 'Hello, world!' ? null : `${name} printed ${JSON.stringify(stdout)}`
  } catch (error) {
    return `${name}: ${describeError(error)}`
  }
}
