// What an executor offers at the moment: of the languages that were found those that are proven (proven.ts), by the toolchain that
// is there now. A language whose files are replaced is looked at and tried anew before it runs another program.
import { SandboxError } from '#contract'
import type { Language, Outcome } from '#contract'
import { describeMissing, ToolError } from '#toolchain'
import type { Toolchain } from '#toolchain'
import { openToolchains } from './offer.ts'
import type { LanguageOptions } from './offer.ts'
import type { Offer } from './offer.ts'
import { proveLanguages } from './proven.ts'
import type { ProofOptions } from './proven.ts'

/** A language as it runs here. */
export interface Runtime {
  /** The exact version, such as `GCC 12.2.0`. */
  readonly version: string
  /** The compiler's command line; null for a language without one. */
  readonly compile: readonly string[] | null
  /** The program's command line. */
  readonly run: readonly string[]
}

/** By language; the same object until something has changed. */
export type Runtimes = Readonly<Partial<Record<Language, Runtime>>>

export interface Offering {
  readonly runtimes: Runtimes
  /** Those whose trial is still to come. */
  readonly awaited: Runtimes
  /**
   * Before a run, by a look at the language's files: what is recorded of it is what was tried.
   * @throws {SandboxError} step `language.changed` when one is another now; the language is tried anew.
   */
  examineBefore(language: Language): void
  /** @throws {SandboxError} step `language.changed` when a file of the language is another one now, and the end may be due to it. */
  examine(language: Language, outcome: Outcome): void
  /** After a failure of ours: a language of which a file is another one now, or gone, is offered no more until it has been tried anew. */
  examineFailure(language: Language): void
  /** Resolves once there is a language. @throws {SandboxError} step `toolchain.find` when none passes its trial. */
  any(): Promise<void>
  /** Resolves when no language waits for its trial. */
  settled(): Promise<void>
}

export interface OfferingOptions extends Pick<
  ProofOptions,
  'directory' | 'circumstances' | 'tryOut' | 'signal' | 'onChange'
> {
  /** Of every language that was found; renewed when one is looked at anew. */
  readonly offers: Map<Language, Offer>
  /** Whether a language has to be proven. */
  readonly proves: boolean
  readonly search: LanguageOptions
}

export function openOffering(options: OfferingOptions): Offering {
  const { offers, search, onChange } = options
  const refused: string[] = []
  const proven = options.proves
    ? proveLanguages({
        ...options,
        toolchains: new Map([...offers].map(([language, offer]) => [language, offer.toolchain])),
        lookAgain,
        onChange() {
          runtimes = describe((language) => proven?.has(language) === true)
          onChange()
        },
        onRefused(language, reason) {
          refused.push(`${language} (${reason})`)
          search.onMissing?.(describeMissing(language, new ToolError(reason, true)))
        },
      })
    : null
  const describe = (isMeant: (language: Language) => boolean): Runtimes =>
    Object.fromEntries(
      [...offers]
        .filter(([language]) => isMeant(language))
        .map(([language, { toolchain }]) => [language, describeRuntime(toolchain)]),
    )
  let runtimes = describe((language) => proven?.has(language) ?? true)

  async function lookAgain(language: Language): Promise<Toolchain | null> {
    const found = await openToolchains({ ...search, languages: [language] }).catch(() => null)
    const toolchain = found?.get(language) ?? null
    const offer = offers.get(language)
    if (toolchain === null || offer === undefined) return null
    // What was kept up or prepared was so by the files that are gone.
    const plain = { ...toolchain, accelerators: [] }
    offers.set(language, { ...offer, toolchain: plain, residents: null })
    return plain
  }

  return {
    get runtimes() {
      return runtimes
    },
    get awaited() {
      return describe((language) => proven?.awaits(language) ?? false)
    },
    examineBefore(language) {
      if (proven === null || proven.isUnchanged(language)) return
      proven.doubt(language)
      throw new SandboxError('language.changed', `${language} was replaced since its trial`)
    },
    examine(language, outcome) {
      if (proven === null || endedWell(outcome) || proven.isUnchanged(language)) return
      // An upgrade may have been under way: whose fault this is nobody knows.
      proven.doubt(language)
      throw new SandboxError('language.changed', `${language} was replaced while it ran a program`)
    },
    examineFailure(language) {
      if (proven !== null && !proven.isUnchanged(language)) proven.doubt(language)
    },
    async any() {
      if ((await proven?.any) === false)
        throw new SandboxError(
          'toolchain.find',
          `no language can be offered: ${refused.join(', ')}`,
        )
    },
    settled: async () => proven?.settled,
  }
}

/** Neither phase gives reason to ask whether its tools were whole. */
function endedWell({ compile, run }: Outcome): boolean {
  return compile?.exitCode !== 127 && (run === null ? compile?.exitCode === 1 : run.exitCode === 0)
}

function describeRuntime({ version, compiler, commandLine }: Toolchain): Runtime {
  return { version, compile: compiler?.commandLine ?? null, run: commandLine }
}
