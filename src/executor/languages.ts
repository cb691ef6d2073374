// The languages of an executor: those that the host has, of which those are offered whose trial (trial.ts) has passed. A passed
// trial is remembered beside the compiled programs, by all that decides it, so that a worker that starts again offers the language
// at once. One whose files are replaced is looked for and tried anew before it runs another program. No language is named here.
import { createHash } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { describe, SandboxError } from '#contract'
import type { ExecutionRequest, Language, Limits, Outcome } from '#contract'
import { defaultSettings, languages } from '#language'
import type { LanguageSettings } from '#language'
import type { ResidentCompilers } from '#resident'
import {
  describeMissing,
  findToolchains,
  identifyFile,
  ordinaryToolHost,
  ToolError,
} from '#toolchain'
import type { Accelerators, MissingLanguage, Toolchain, ToolHost } from '#toolchain'

/** What an operator, or a test, says of languages. */
export interface LanguageOptions {
  /** What their own variables say; the defaults where nothing is said. */
  readonly settings?: Partial<LanguageSettings>
  /** Of these it offers what the host has; of all unless said. */
  readonly languages?: readonly Language[]
  /** Where their tools are looked for; an ordinary host's places unless said. */
  readonly toolHost?: Partial<ToolHost>
  /** What may be used of what is faster than a fresh process; all of it unless said. */
  readonly accelerators?: readonly (keyof Accelerators)[]
  /** Called for each language that is not there or fails its trial. */
  readonly onMissing?: (missing: MissingLanguage) => void
}

/** A language as this executor runs it. */
export interface Offer {
  readonly toolchain: Toolchain
  /** For both phases. */
  readonly limits: Limits
  /** Compilers that are kept up; null: each source is compiled in a box of its own. */
  readonly residents: ResidentCompilers | null
}

/** Toolchains by their languages, in the catalogue's order. */
export type Toolchains = ReadonlyMap<Language, Toolchain>

/** @throws {SandboxError} step `toolchain.find`, naming what every language lacks, when there is none. */
export async function openToolchains({
  settings = {},
  toolHost = {},
  accelerators,
  languages: wanted = languages,
  onMissing = () => {},
}: LanguageOptions): Promise<Toolchains> {
  const { toolchains, missing } = await findToolchains(
    { ...defaultSettings, ...settings },
    { ...ordinaryToolHost, ...toolHost },
    wanted,
  )
  const pick = (all: Accelerators): Accelerators =>
    accelerators ? Object.fromEntries(accelerators.map((kind) => [kind, all[kind]])) : all
  const found = new Map<Language, Toolchain>()
  for (const language of wanted) {
    const toolchain = toolchains[language]
    if (toolchain === undefined) continue
    found.set(language, { ...toolchain, accelerators: pick(toolchain.accelerators) })
  }
  if (found.size === 0) {
    const words = missing.map((one) => `${one.language} (${one.reason}; ${one.remedy})`)
    throw new SandboxError('toolchain.find', `no language is installed: ${words.join(', ')}`)
  }
  for (const one of missing) onMissing(one)
  return found
}

/** @throws {SandboxError} for a language that is not installed here. */
export function findOffer(offers: ReadonlyMap<Language, Offer>, language: Language): Offer {
  const offer = offers.get(language)
  if (offer === undefined)
    throw new SandboxError('language.missing', `${language} is not installed here`)
  return offer
}

/** A language as it runs here. */
export interface Runtime {
  /** The exact version, such as `GCC 12.2.0`. */
  readonly version: string
  /** The compiler's command line; null for a language without one. */
  readonly compile: readonly string[] | null
  /** The program's command line. */
  readonly run: readonly string[]
}

/** By language. */
export type Runtimes = Readonly<Partial<Record<Language, Runtime>>>

export interface OfferedLanguages {
  /** The same object until something has changed. */
  readonly runtimes: Runtimes
  /** Those whose trial is still to come. */
  readonly awaited: Runtimes
  /**
   * Runs a program of the language, with a look at the language's files before it and after an end that they may have had a part in:
   * one that was replaced, or is gone, is offered no more until it has been tried anew.
   * @throws {SandboxError} step `language.changed` when that is so; what `execute` throws.
   */
  run(request: ExecutionRequest, execute: () => Promise<Outcome>): Promise<Outcome>
  /** Resolves once there is a language. @throws {SandboxError} step `toolchain.find` when none passes its trial. */
  any(): Promise<void>
  /** Resolves when no language waits for its trial. */
  settled(): Promise<void>
}

export interface OfferOptions {
  /** Of every language that was found; renewed when one is looked for anew. */
  readonly offers: Map<Language, Offer>
  /** Whether a language is offered only once its trial has passed. */
  readonly proves: boolean
  /** Of the worker's own, where passed trials are remembered; it is there. */
  readonly directory: string
  /** What else decides how a trial ends, such as the kind of box. */
  readonly circumstances: string
  /** Rejects when the trial fails. */
  readonly tryOut: (language: Language) => Promise<void>
  /** Null when the language is not there any more. */
  readonly findAgain: (language: Language) => Promise<Toolchain | null>
  readonly signal: AbortSignal
  /** What is offered has changed. */
  readonly onChange: () => void
  /** Its trial failed. */
  readonly onMissing: (missing: MissingLanguage) => void
}

/** Offers what has passed before, and tries the others one after the other, in the background. */
export function offerLanguages(options: OfferOptions): OfferedLanguages {
  const { offers, proves, directory, circumstances, tryOut, findAgain, signal } = options
  type State = 'offered' | 'awaited' | 'refused'
  const states = new Map<Language, State>()
  /** At its trial (markOf). */
  const marks = new Map<Language, string>()
  const refusals: string[] = []
  const first = Promise.withResolvers<boolean>()
  let runtimes: Runtimes = {}

  const list = (state: State): Runtimes =>
    Object.fromEntries(
      [...offers]
        .filter(([language]) => states.get(language) === state)
        .map(([language, { toolchain }]) => [language, describeRuntime(toolchain)]),
    )
  const pathOf = (mark: string): string =>
    `${directory}/${createHash('sha256').update(`${circumstances}\n${mark}`).digest('hex')}`
  const isUnchanged = (language: Language): boolean => {
    const offer = offers.get(language)
    return !proves || (offer !== undefined && marks.get(language) === markOf(offer.toolchain))
  }

  function change(language: Language, state: State): void {
    states.set(language, state)
    runtimes = list('offered')
    if (state === 'offered') first.resolve(true)
    options.onChange()
  }

  function refuse(language: Language, reason: string): void {
    if (signal.aborted) return
    refusals.push(`${language} (${reason})`)
    options.onMissing(describeMissing(language, new ToolError(reason, true)))
    change(language, 'refused')
  }

  async function tryOne(language: Language, toolchain: Toolchain): Promise<void> {
    if (signal.aborted) return
    const mark = markOf(toolchain)
    try {
      await tryOut(language)
      // One that was replaced meanwhile was tried in part as it was, in part as it is.
      if (markOf(toolchain) !== mark) throw new Error('it was replaced during its trial')
      marks.set(language, mark)
      writeFileSync(pathOf(mark), '')
      change(language, 'offered')
    } catch (error) {
      refuse(language, describe(error))
    }
  }

  async function tryAgain(language: Language): Promise<void> {
    const toolchain = await findAgain(language)
    const offer = offers.get(language)
    if (toolchain === null || offer === undefined) {
      refuse(language, 'it is not there any more')
      return
    }
    // What was kept up or prepared was so by the files that are gone.
    const plain = { ...toolchain, accelerators: {} }
    offers.set(language, { ...offer, toolchain: plain, residents: null })
    await tryOne(language, plain)
  }

  function withdraw(language: Language): void {
    if (states.get(language) !== 'offered') return
    change(language, 'awaited')
    settled = settled.then(() => tryAgain(language))
  }

  let settled = Promise.resolve()
  for (const [language, { toolchain }] of offers) {
    const mark = markOf(toolchain)
    marks.set(language, mark)
    const isKnown = !proves || existsSync(pathOf(mark))
    states.set(language, isKnown ? 'offered' : 'awaited')
    if (!isKnown) settled = settled.then(() => tryOne(language, toolchain))
  }
  runtimes = list('offered')
  if (Object.keys(runtimes).length > 0) first.resolve(true)
  void settled.then(() => first.resolve(false))

  return {
    get runtimes() {
      return runtimes
    },
    get awaited() {
      return list('awaited')
    },
    async run({ language, stop }, execute) {
      const refuseChanged = (when: string): never => {
        withdraw(language)
        throw new SandboxError('language.changed', `${language} was replaced ${when}`)
      }
      if (!isUnchanged(language)) refuseChanged('since its trial')
      const outcome = await execute().catch((error: unknown) => {
        // What is gone cannot be started, and says nothing of the boxes.
        if (error instanceof SandboxError && !isUnchanged(language)) withdraw(language)
        throw error
      })
      // An upgrade may have been under way: whose fault this is nobody knows.
      const isCertain = stop?.aborted === true || endedWell(outcome) || isUnchanged(language)
      return isCertain ? outcome : refuseChanged('while it ran a program')
    },
    async any() {
      if (await first.promise) return
      const words = `no language can be offered: ${refusals.join(', ')}`
      throw new SandboxError('toolchain.find', words)
    },
    settled: () => settled,
  }
}

/** What decides how a language's programs end: its version, command lines and files. */
function markOf({ version, compiler, commandLine, files }: Toolchain): string {
  const found = files.map((path) => identifyFile(path) ?? `${path} is gone`)
  return [version, compiler?.identity ?? '', ...commandLine, ...found].join('\n')
}

/** Neither phase gives reason to ask whether its tools were whole. */
function endedWell({ compile, run }: Outcome): boolean {
  return compile?.exitCode !== 127 && (run === null ? compile?.exitCode === 1 : run.exitCode === 0)
}

function describeRuntime({ version, compiler, commandLine }: Toolchain): Runtime {
  return { version, compile: compiler?.commandLine ?? null, run: commandLine }
}
