// A language is offered once a program in it has run correctly, and only as long as its files stay the same.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import type { Outcome } from '#executor'
import { defaultLimits } from '#language'
import type { Language } from '#language'
import { offerLanguages } from '../../src/executor/languages.ts'
import type { OfferOptions } from '../../src/executor/languages.ts'
import type { Toolchain } from '../../src/executor/toolchain/toolchain.ts'
import { makeDirectory } from '../helper/directory.ts'
import { failsAt } from '../helper/executor.ts'

const nothing: Outcome = { compile: null, compileCached: false, run: null }

/** The offered languages, in the terms of the tests. */
interface Proven {
  readonly has: (language: Language) => boolean
  readonly awaits: (language: Language) => boolean
  readonly settled: Promise<void>
  readonly any: Promise<boolean>
  /** Runs a program in the language. */
  readonly run: (language: Language, execute?: () => Promise<Outcome>) => Promise<Outcome>
}

interface Bench {
  readonly directory: string
  readonly toolchain: (name: string, version?: string) => Toolchain
  readonly tried: string[]
  readonly refused: string[]
  prove(languages: Partial<Record<Language, Toolchain>>, options?: Partial<OfferOptions>): Proven
}

function open(t: Test): Bench {
  const directory = makeDirectory(t)
  mkdirSync(join(directory, 'trial'))
  const tried: string[] = []
  const refused: string[] = []
  const toolchain = (name: string, version = '1'): Toolchain => {
    const file = join(directory, name)
    if (!existsSync(file)) writeFileSync(file, '')
    return {
      version,
      location: file,
      compiler: null,
      commandLine: [name],
      paths: [],
      files: [file],
      warmPaths: [],
      run: () => ({ argv: [name], files: [], unlimitedStack: false }),
      ranOutOfMemory: () => false,
      accelerators: {},
    }
  }
  return {
    directory,
    toolchain,
    tried,
    refused,
    prove(languages, options = {}) {
      const offered = offerLanguages({
        installed: new Map(
          Object.entries(languages).map(([language, one]) => [
            language as Language,
            { toolchain: one, limits: defaultLimits.lua, residents: null },
          ]),
        ),
        proves: true,
        directory: join(directory, 'trial'),
        circumstances: 'here',
        tryOut: async (language) => void tried.push(language),
        onReplaced() {},
        findAgain: async () => null,
        signal: new AbortController().signal,
        onChange: () => {},
        onMissing: ({ language, reason }) => refused.push(`${language}: ${reason}`),
        ...options,
      })
      return {
        has: (language) => language in offered.runtimes,
        awaits: (language) => language in offered.awaited,
        get settled() {
          return offered.settled()
        },
        get any() {
          return offered.any().then(
            () => true,
            () => false,
          )
        },
        run: (language, execute = async () => nothing) =>
          offered.run(
            { language, code: new Uint8Array(), stdin: new Uint8Array(), cacheScope: '' },
            execute,
          ),
      }
    },
  }
}

t.test('a language whose trial ends badly is not offered, and the reason is told', async (t) => {
  const { prove, toolchain, refused } = open(t)
  const proven = prove(
    { lua: toolchain('lua'), go: toolchain('go') },
    {
      tryOut: async (language) => {
        if (language === 'go') throw new Error('it prints nonsense')
      },
    },
  )
  t.notOk(proven.has('lua'), 'nothing is offered before its trial')
  t.ok(proven.awaits('lua') && proven.awaits('go'))
  await proven.settled
  t.notOk(proven.awaits('lua') || proven.awaits('go'))
  t.ok(proven.has('lua'))
  t.notOk(proven.has('go'))
  t.strictSame(refused, ['go: it prints nonsense'])
  t.ok(await proven.any)
})

t.test('a language whose record cannot be written is offered all the same', async (t) => {
  const { prove, toolchain, directory, refused } = open(t)
  const proven = prove({ lua: toolchain('lua') }, { directory: join(directory, 'nowhere') })
  await proven.settled
  t.ok(proven.has('lua'))
  t.strictSame(refused, [])
})

t.test('a worker of which no language passes is told so', async (t) => {
  const { prove, toolchain } = open(t)
  const proven = prove({ lua: toolchain('lua') }, { tryOut: () => Promise.reject(new Error('no')) })
  t.notOk(await proven.any)
})

t.test(
  'what has passed is offered at once by the next worker, unless something is another',
  async (t) => {
    const { prove, toolchain, tried, directory } = open(t)
    await prove({ lua: toolchain('lua') }).settled
    t.ok(prove({ lua: toolchain('lua') }).has('lua'))
    t.strictSame(tried, ['lua'])
    t.equal(readdirSync(join(directory, 'trial')).length, 1)
    t.notOk(prove({ lua: toolchain('lua', '2') }).has('lua'), 'another version')
    t.notOk(prove({ lua: toolchain('lua') }, { circumstances: 'there' }).has('lua'), 'another box')
    writeFileSync(join(directory, 'lua'), 'other')
    t.notOk(prove({ lua: toolchain('lua') }).has('lua'), 'another file')
  },
)

t.test('one that is replaced during its trial is not offered', async (t) => {
  const { prove, toolchain, directory, refused } = open(t)
  const proven = prove(
    { lua: toolchain('lua') },
    { tryOut: async () => writeFileSync(join(directory, 'lua'), 'other') },
  )
  await proven.settled
  t.notOk(proven.has('lua'))
  t.match(refused, [/replaced/])
})

t.test(
  'one that is replaced while it ran a program is tried anew where the end may be due to it',
  async (t) => {
    const { prove, toolchain, directory } = open(t)
    const proven = prove(
      { lua: toolchain('lua') },
      { findAgain: async () => toolchain('lua', '2') },
    )
    await proven.settled
    const replace = async (): Promise<Outcome> => {
      writeFileSync(join(directory, 'lua'), 'other')
      return nothing
    }
    await t.rejects(proven.run('lua', replace), failsAt('language.changed', /while it ran/))
    await proven.settled
    t.ok(proven.has('lua'))
  },
)
