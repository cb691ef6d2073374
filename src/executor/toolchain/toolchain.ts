// Finds the languages on this host and reads their files once.
// Page cache is charged to the group that first touches it: read from here, it is the worker's and not the first run's.
import { closeSync, openSync, readSync, readdirSync, statSync } from 'node:fs'
import { describe } from '#contract'
import type { Language } from '#contract'
import { catalogue, defaultSettings, languages } from '#language'
import type { LanguageSettings } from '#language'
import type { Accelerator, Toolchain } from './definition.ts'
import { finders } from './table.ts'
import { ordinaryToolHost, ToolError } from './tool.ts'
import type { ToolHost } from './tool.ts'

export type {
  Accelerator,
  Artefact,
  Compiler,
  ResidentCompiler,
  Toolchain,
  Workshop,
} from './definition.ts'
export { findProgram, ordinaryToolHost } from './tool.ts'
export type { ToolHost } from './tool.ts'
export { askProgram, readVersion } from './version.ts'

/** A language that this host does not have. */
export interface MissingLanguage {
  readonly language: Language
  /** What was looked for and not found, or will not do. */
  readonly reason: string
  /** What an operator can do. */
  readonly remedy: string
}

/** What a host has of the catalogue. */
export interface FoundLanguages {
  readonly toolchains: Readonly<Partial<Record<Language, Toolchain>>>
  readonly missing: readonly MissingLanguage[]
}

/** Looks for every language of the catalogue. Never rejects: what is not there is told. */
export async function findToolchains(
  settings: LanguageSettings = defaultSettings,
  host: ToolHost = ordinaryToolHost,
): Promise<FoundLanguages> {
  const toolchains: Partial<Record<Language, Toolchain>> = {}
  const missing: MissingLanguage[] = []
  const searches = await Promise.allSettled(
    languages.map((language) => finders[language](host, settings)),
  )
  for (const [index, language] of languages.entries()) {
    const search = searches[index]
    if (search?.status === 'fulfilled') toolchains[language] = search.value
    else missing.push(describeMissing(language, search?.reason))
  }
  return { toolchains, missing }
}

function describeMissing(language: Language, error: unknown): MissingLanguage {
  const again = error instanceof ToolError && error.isBroken ? '--reinstall ' : ''
  const advice = error instanceof ToolError && error.advice !== null ? `${error.advice}; ` : ''
  const remedy = `${advice}apt-get install ${again}${catalogue[language].packages.join(' ')}`
  return { language, reason: describe(error), remedy }
}

/** A toolchain's accelerator of this kind; null when it has none. */
export function pickAccelerator<Kind extends Accelerator['kind']>(
  { accelerators }: Toolchain,
  kind: Kind,
): Extract<Accelerator, { kind: Kind }> | null {
  const isWanted = (one: Accelerator): one is Extract<Accelerator, { kind: Kind }> =>
    one.kind === kind
  return accelerators.find(isWanted) ?? null
}

/** Larger files (an LTO compiler, a JDK's source archive) are no part of an ordinary run. */
const largestBytes = 160 * 1024 * 1024

/** Reads files, and the files directly in directories; what is missing is skipped. */
export function warm(paths: readonly string[]): void {
  const buffer = Buffer.allocUnsafe(1024 * 1024)
  for (const path of paths) {
    try {
      if (!statSync(path).isDirectory()) {
        readThrough(path, buffer)
        continue
      }
      for (const entry of readdirSync(path, { withFileTypes: true })) {
        if (entry.isFile()) readThrough(`${path}/${entry.name}`, buffer)
      }
    } catch {
      // A host without this path runs its programs from elsewhere.
    }
  }
}

function readThrough(path: string, buffer: Buffer): void {
  const descriptor = openSync(path, 'r')
  try {
    if (statSync(path).size > largestBytes) return
    while (readSync(descriptor, buffer, 0, buffer.length, null) > 0);
  } finally {
    closeSync(descriptor)
  }
}
