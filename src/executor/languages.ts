// The languages of an executor. A language that the host has is offered once its trial (trial.ts) has passed. Passed trials are
// recorded in the cache directory under a hash of everything that decides their result, so that a restarted worker offers these
// languages at once. When a language's files are replaced, the language is searched for and tried again before its next
// program. This module names no language.
import { hash } from 'node:crypto'
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
import type { Accelerators, MissingLanguage, Toolchain, Toolchains, ToolHost } from '#toolchain'

/** Language options, set by an operator or a test. */
export interface LanguageOptions {
  /** Values of the languages' own variables; a missing one has its default. */
  readonly settings?: Partial<LanguageSettings>
  /** The languages to look for; all by default. */
  readonly languages?: readonly Language[]
  /** The directories to search for tools; those of an ordinary host by default. */
  readonly toolHost?: Partial<ToolHost>
  /** The kinds of accelerators that may be used; all by default. */
  readonly accelerators?: readonly (keyof Accelerators)[]
  /** Called for each language that is not installed or fails its trial. */
  readonly onMissing?: (missing: MissingLanguage) => void
}

/** A language that this host has, as this executor runs it. */
export interface InstalledLanguage {
  readonly toolchain: Toolchain
  readonly limits: Limits
  /** Resident compilers; null when each source is compiled in a box of its own. */
  readonly residents: ResidentCompilers | null
}

/**
 * Finds the toolchains of the wanted languages.
 * @throws {SandboxError} step `toolchain.find` when none is installed; the message says what each language lacks.
 */
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
  if (toolchains.size === 0) {
    const words = missing.map((one) => `${one.language} (${one.reason}; ${one.remedy})`)
    throw new SandboxError('toolchain.find', `no language is installed: ${words.join(', ')}`)
  }
  for (const one of missing) onMissing(one)
  return new Map(
    [...toolchains].map(([language, toolchain]) => [
      language,
      { ...toolchain, accelerators: pick(toolchain.accelerators) },
    ]),
  )
}

/** Returns an installed language. @throws {SandboxError} for a language that is not installed here. */
export function findInstalled(
  installed: ReadonlyMap<Language, InstalledLanguage>,
  language: Language,
): InstalledLanguage {
  const found = installed.get(language)
  if (found === undefined)
    throw new SandboxError('language.missing', `${language} is not installed here`)
  return found
}

/** A language as this host runs it. */
export interface Runtime {
  /** The exact version, such as `GCC 12.2.0`. */
  readonly version: string
  /** The compiler's command line; null for a language without one. */
  readonly compile: readonly string[] | null
  /** The program's command line. */
  readonly run: readonly string[]
}

/** Runtimes by language. */
export type Runtimes = Readonly<Partial<Record<Language, Runtime>>>

export interface OfferedLanguages {
  /** The offered languages; the same object until the set changes. */
  readonly runtimes: Runtimes
  /** The languages that wait for their trial. */
  readonly awaited: Runtimes
  /**
   * Runs a program. Checks the language's files before the run, and after a result that replaced files may have caused. If a
   * file was replaced or removed, the language is withdrawn until it has passed another trial.
   * @throws {SandboxError} step `language.changed` when a file was replaced or removed; what `execute` throws.
   */
  run(request: ExecutionRequest, execute: () => Promise<Outcome>): Promise<Outcome>
  /** Resolves once a language is offered. @throws {SandboxError} step `toolchain.find` when none passes its trial. */
  any(): Promise<void>
  /** Resolves when no language waits for its trial. */
  settled(): Promise<void>
}

export interface OfferOptions {
  /** Every language that was found; an entry is replaced when its language is searched for again. */
  readonly installed: Map<Language, InstalledLanguage>
  /** Whether a language is offered only once its trial has passed. */
  readonly proves: boolean
  /** The worker's directory for the records of passed trials; it exists already. */
  readonly directory: string
  /** What else decides the result of a trial: the cgroup version and the kernel's release. */
  readonly circumstances: string
  /** Runs a language's trial; rejects when it fails. */
  readonly tryOut: (language: Language) => Promise<void>
  /** Called when the files of a language were replaced, before the language is tried again. */
  readonly onReplaced: () => void
  /** Searches for a language again; null when it is not installed any more. */
  readonly findAgain: (language: Language) => Promise<Toolchain | null>
  readonly signal: AbortSignal
  /** Called when the set of offered languages changes. */
  readonly onChange: () => void
  /** Called when a language failed its trial or is not installed any more. */
  readonly onMissing: (missing: MissingLanguage) => void
}

/** Offers the languages with a recorded trial, and tries the others one after the other in the background. */
export function offerLanguages(options: OfferOptions): OfferedLanguages {
  const { installed, proves, directory, circumstances, tryOut, findAgain, signal } = options
  type State = 'offered' | 'awaited' | 'refused'
  const states = new Map<Language, State>()
  /** The mark (markOf) that each language had at its trial. */
  const marks = new Map<Language, string>()
  const refusals: string[] = []
  const first = Promise.withResolvers<boolean>()
  let runtimes: Runtimes = {}

  const list = (state: State): Runtimes =>
    Object.fromEntries(
      [...installed]
        .filter(([language]) => states.get(language) === state)
        .map(([language, { toolchain }]) => {
          const { version, compiler, commandLine: run } = toolchain
          return [language, { version, compile: compiler?.commandLine ?? null, run }]
        }),
    )
  const pathOf = (mark: string): string =>
    `${directory}/${hash('sha256', `${circumstances}\n${mark}`)}`
  const isUnchanged = (language: Language): boolean => {
    const entry = installed.get(language)
    return !proves || (entry !== undefined && marks.get(language) === markOf(entry.toolchain))
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
      // If files were replaced during the trial, the trial tested a mixture of old and new files.
      if (markOf(toolchain) !== mark) throw new Error('it was replaced during its trial')
      marks.set(language, mark)
    } catch (error) {
      refuse(language, describe(error))
      return
    }
    try {
      writeFileSync(pathOf(mark), '')
    } catch {
      // On a full disk there is no record, so the next start tries the language again.
    }
    change(language, 'offered')
  }

  async function tryAgain(language: Language): Promise<void> {
    const entry = installed.get(language)
    options.onReplaced()
    const toolchain = await findAgain(language)
    if (toolchain === null || entry === undefined) {
      refuse(language, 'it is not there any more')
      return
    }
    // Residents and prepared files were made from the toolchain's old files, so they are dropped.
    await entry.residents?.close()
    const plain = { ...toolchain, accelerators: {} }
    installed.set(language, { ...entry, toolchain: plain, residents: null })
    await tryOne(language, plain)
  }

  function withdraw(language: Language): void {
    if (states.get(language) !== 'offered') return
    change(language, 'awaited')
    settled = settled.then(() => tryAgain(language))
  }

  let settled = Promise.resolve()
  for (const [language, { toolchain }] of installed) {
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
        if (!isUnchanged(language)) withdraw(language)
        throw new SandboxError('language.changed', `${language} was replaced ${when}`)
      }
      if (!isUnchanged(language)) refuseChanged('since its trial')
      const mark = marks.get(language)
      const outcome = await execute().catch((error: unknown) => {
        // A removed program cannot start, which says nothing about the boxes.
        if (error instanceof SandboxError && !isUnchanged(language)) withdraw(language)
        throw error
      })
      // During an upgrade the failure may be the program's or the toolchain's, so the result does not count.
      const isSame = (): boolean => marks.get(language) === mark && isUnchanged(language)
      const isCertain = stop?.aborted === true || endedWell(outcome) || isSame()
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

/** Identifies a toolchain by everything that decides its programs' results: version, command lines and files. */
function markOf({ version, compiler, commandLine, files }: Toolchain): string {
  const found = files.map((path) => identifyFile(path) ?? `${path} is gone`)
  return [version, compiler?.identity ?? '', ...commandLine, ...found].join('\n')
}

/** True when neither phase looks as if a file of its toolchain was missing or broken. */
function endedWell({ compile, run }: Outcome): boolean {
  return compile?.exitCode !== 127 && (run === null ? compile?.exitCode === 1 : run.exitCode === 0)
}
