// What an executor offers: the languages that the host has, and their accelerators. No language is named here. An
// accelerator that cannot be had costs time only.
import { isDeepStrictEqual } from 'node:util'
import { describe, SandboxError } from '#contract'
import type { AheadRuntime, ForkServer, Language, Limits } from '#contract'
import type { BoxResources } from '#keeper'
import { defaultSettings, languages } from '#language'
import type { LanguageSettings } from '#language'
import { keepCompilers } from '#resident'
import type { ResidentCompilers } from '#resident'
import { findToolchains, ordinaryToolHost, pickAccelerator } from '#toolchain'
import type { Accelerator, MissingLanguage, Toolchain, ToolHost, Workshop } from '#toolchain'

/** What an operator, or a test, says of languages. */
export interface LanguageOptions {
  /** What their own variables say; the defaults where nothing is said. */
  readonly settings?: Partial<LanguageSettings>
  /** Of these it offers what the host has; of all unless said. */
  readonly languages?: readonly Language[]
  /** Where their tools are looked for; an ordinary host's places unless said. */
  readonly toolHost?: Partial<ToolHost>
  /** What may be used of what is faster than a fresh process; all of it unless said. */
  readonly accelerators?: readonly Accelerator['kind'][]
  /** Told of each language that is not there, and why. */
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
  const found = new Map<Language, Toolchain>()
  for (const language of wanted) {
    const toolchain = toolchains[language]
    if (toolchain === undefined) continue
    found.set(language, keepAllowed(toolchain, accelerators))
  }
  if (found.size === 0) {
    const words = missing.map((one) => `${one.language} (${one.reason}; ${one.remedy})`)
    throw new SandboxError('toolchain.find', `no language is installed: ${words.join(', ')}`)
  }
  for (const one of missing) onMissing(one)
  return found
}

function keepAllowed(toolchain: Toolchain, allowed: LanguageOptions['accelerators']): Toolchain {
  if (allowed === undefined) return toolchain
  const accelerators = toolchain.accelerators.filter(({ kind }) => allowed.includes(kind))
  return { ...toolchain, accelerators }
}

/** Begins to prepare what languages can prepare. One that cannot goes on without. */
export async function beginPreparations(
  toolchains: Toolchains,
  workshop: Workshop,
  accelerators: LanguageOptions['accelerators'],
  onFallback: (reason: string) => void,
): Promise<Toolchains> {
  const begin = async (language: Language, toolchain: Toolchain): Promise<Toolchain> => {
    try {
      const prepared = await pickAccelerator(toolchain, 'preparation')?.begin(workshop)
      return prepared === undefined ? toolchain : keepAllowed(prepared, accelerators)
    } catch (error) {
      onFallback(`nothing is prepared for ${language}: ${describe(error)}`)
      return toolchain
    }
  }
  const begun = [...toolchains].map(
    async ([language, toolchain]) => [language, await begin(language, toolchain)] as const,
  )
  return new Map(await Promise.all(begun))
}

/** Interpreters that may be kept up. */
export function listForkServers(toolchains: Toolchains): ForkServer[] {
  return [...toolchains.values()].flatMap(
    (toolchain) => pickAccelerator(toolchain, 'fork-server') ?? [],
  )
}

/** Runtimes that may be up before their programs, for runs with these limits; one that languages share once. */
export function listAheadRuntimes(
  toolchains: Toolchains,
  limits: Readonly<Record<Language, Limits>>,
): AheadRuntime[] {
  const runtimes = [...toolchains].flatMap(([language, toolchain]) => {
    const start = pickAccelerator(toolchain, 'ahead-start')
    return start === null ? [] : [start.runtime(limits[language].run.memoryBytes)]
  })
  return runtimes.filter(
    (one, index) => runtimes.findIndex((other) => isDeepStrictEqual(one, other)) === index,
  )
}

/** Starts the resident compilers, in the background. */
export function openOffers(
  toolchains: Toolchains,
  resources: BoxResources,
  limits: Readonly<Record<Language, Limits>>,
  place: { readonly slots: number; readonly firstUid: number | null },
  onFallback: (reason: string) => void,
): Map<Language, Offer> {
  let { firstUid } = place
  const keep = (language: Language, toolchain: Toolchain): ResidentCompilers | null => {
    const compiler = pickAccelerator(toolchain, 'resident-compiler')
    const compileLimits = limits[language].compile
    if (compiler === null || compileLimits === null) return null
    const kept = keepCompilers(resources, {
      name: `resident-${language}`,
      compiler,
      limits: compileLimits,
      slots: place.slots,
      firstUid,
      onFallback,
    })
    if (firstUid !== null) firstUid += kept.count
    return kept
  }
  return new Map(
    [...toolchains].map(([language, toolchain]) => {
      const residents = keep(language, toolchain)
      return [language, { toolchain, limits: limits[language], residents }]
    }),
  )
}

/** @throws {SandboxError} for a language that is not installed here. */
export function findOffer(offers: ReadonlyMap<Language, Offer>, language: Language): Offer {
  const offer = offers.get(language)
  if (offer === undefined)
    throw new SandboxError('language.missing', `${language} is not installed here`)
  return offer
}
