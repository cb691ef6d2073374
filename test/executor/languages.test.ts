// A language is offered once a program in it has run correctly, and only as long as its files stay the same.
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import type { Outcome } from '#executor'
import { defaultLimits } from '#language'
import type { Language } from '#language'
import { offerLanguages } from '../../src/executor/languages.ts'
import type { OfferedLanguages, OfferOptions } from '../../src/executor/languages.ts'
import type { Toolchain } from '../../src/executor/toolchain/toolchain.ts'
import { makeDirectory } from '../helper/directory.ts'
import { failsAt } from '../helper/executor.ts'

const nothing: Outcome = { compile: null, compileCached: false, run: null }
const bytes = new Uint8Array()
const request = { language: 'lua', code: bytes, stdin: bytes, cacheScope: '' } as const

interface Bench {
  readonly directory: string
  readonly toolchain: (name: string, version?: string) => Toolchain
  readonly tried: string[]
  readonly refused: string[]
  prove(
    languages: Partial<Record<Language, Toolchain>>,
    options?: Partial<OfferOptions>,
  ): OfferedLanguages
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
    prove: (languages, options = {}) =>
      offerLanguages({
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
      }),
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
  t.notOk('lua' in proven.runtimes, 'nothing is offered before its trial')
  t.ok('lua' in proven.awaited && 'go' in proven.awaited)
  await proven.settled()
  t.strictSame(proven.awaited, {})
  t.ok('lua' in proven.runtimes)
  t.notOk('go' in proven.runtimes)
  t.strictSame(refused, ['go: it prints nonsense'])
  await proven.any()
})

t.test('a language whose record cannot be written is offered all the same', async (t) => {
  const { prove, toolchain, directory, refused } = open(t)
  const proven = prove({ lua: toolchain('lua') }, { directory: join(directory, 'nowhere') })
  await proven.settled()
  t.ok('lua' in proven.runtimes)
  t.strictSame(refused, [])
})

t.test('a worker of which no language passes is told so', async (t) => {
  const { prove, toolchain } = open(t)
  const proven = prove({ lua: toolchain('lua') }, { tryOut: () => Promise.reject(new Error('no')) })
  await t.rejects(proven.any(), failsAt('toolchain.find', /lua \(no\)/))
})

t.test(
  'what has passed is offered at once by the next worker, unless something is another',
  async (t) => {
    const { prove, toolchain, tried, directory } = open(t)
    await prove({ lua: toolchain('lua') }).settled()
    t.ok('lua' in prove({ lua: toolchain('lua') }).runtimes)
    t.strictSame(tried, ['lua'])
    t.equal(readdirSync(join(directory, 'trial')).length, 1)
    t.notOk('lua' in prove({ lua: toolchain('lua', '2') }).runtimes, 'another version')
    t.notOk(
      'lua' in prove({ lua: toolchain('lua') }, { circumstances: 'there' }).runtimes,
      'another box',
    )
    writeFileSync(join(directory, 'lua'), 'other')
    t.notOk('lua' in prove({ lua: toolchain('lua') }).runtimes, 'another file')
  },
)

t.test('one that is replaced during its trial is not offered', async (t) => {
  const { prove, toolchain, directory, refused } = open(t)
  const proven = prove(
    { lua: toolchain('lua') },
    { tryOut: async () => writeFileSync(join(directory, 'lua'), 'other') },
  )
  await proven.settled()
  t.notOk('lua' in proven.runtimes)
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
    await proven.settled()
    const replace = async (): Promise<Outcome> => {
      writeFileSync(join(directory, 'lua'), 'other')
      return nothing
    }
    await t.rejects(proven.run(request, replace), failsAt('language.changed', /while it ran/))
    await proven.settled()
    t.ok('lua' in proven.runtimes)
  },
)
