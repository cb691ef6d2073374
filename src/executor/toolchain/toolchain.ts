// Finds the languages of this host and reads their files once. The first reader is charged for page cache, so the worker is
// charged for these files and not the first run.
import { closeSync, openSync, readSync, readdirSync, statSync } from 'node:fs'
import { describe } from '#contract'
import type { Language } from '#contract'
import { catalogue, defaultSettings, languages, mapLanguages } from '#language'
import type { LanguageSettings } from '#language'
import { findCpp } from './cpp/cpp.ts'
import type { FindToolchain, Toolchain } from './definition.ts'
import { findJava } from './java/java.ts'
import { findJavaScript, findTypeScript } from './node/node.ts'
import { findPython } from './python/python.ts'
import { findByRecipe } from './recipe.ts'
import { ordinaryToolHost, ToolError } from './tool.ts'
import type { ToolHost } from './tool.ts'

export type {
  Accelerators,
  Artefact,
  Compiler,
  ResidentCompiler,
  Toolchain,
  Workshop,
} from './definition.ts'
export { ordinaryToolHost, ToolError } from './tool.ts'
export type { ToolHost } from './tool.ts'
export { identifyFile, loadVersions, saveVersions } from './version.ts'

/** Languages without a recipe. The executor names languages only here. */
const special: Readonly<Partial<Record<Language, FindToolchain>>> = {
  python: findPython,
  cpp: findCpp,
  java: findJava,
  javascript: findJavaScript,
  typescript: findTypeScript,
}

const finders: Readonly<Record<Language, FindToolchain>> = mapLanguages((definition) => {
  const { name, recipe } = definition
  const find = special[name] ?? (recipe && findByRecipe(definition, recipe))
  if (find === undefined) throw new Error(`${name} has neither recipe nor folder`)
  return find
})

export interface MissingLanguage {
  readonly language: Language
  /** Says what is missing or unusable. */
  readonly reason: string
  /** Says what an operator can do. */
  readonly remedy: string
  /** True when the language is installed but unusable. */
  readonly isBroken: boolean
}

/** Toolchains by their languages, in the order in which they were wanted. */
export type Toolchains = ReadonlyMap<Language, Toolchain>

/** Finds the wanted languages; by default the whole catalogue. Never rejects: failures are in `missing`. */
export async function findToolchains(
  settings: LanguageSettings = defaultSettings,
  host: ToolHost = ordinaryToolHost,
  wanted: readonly Language[] = languages,
): Promise<{ readonly toolchains: Toolchains; readonly missing: readonly MissingLanguage[] }> {
  const toolchains = new Map<Language, Toolchain>()
  const missing: MissingLanguage[] = []
  const searches = await Promise.allSettled(
    wanted.map((language) => finders[language](host, settings)),
  )
  for (const [index, language] of wanted.entries()) {
    const search = searches[index]
    if (search?.status === 'fulfilled') toolchains.set(language, search.value)
    else missing.push(describeMissing(language, search?.reason))
  }
  return { toolchains, missing }
}

/** Describes why a language is not offered, and the remedy. */
export function describeMissing(language: Language, error: unknown): MissingLanguage {
  const { isBroken, advice } =
    error instanceof ToolError ? error : { isBroken: false, advice: 'look at what it says' }
  const { packages } = catalogue[language]
  const install = ['apt-get', 'install', ...(isBroken ? ['--reinstall'] : []), ...packages]
  return {
    language,
    reason: describe(error),
    remedy: [advice, packages.length === 0 ? null : install.join(' ')].filter(Boolean).join('; '),
    isBroken: isBroken || advice !== null,
  }
}

/** Ordinary runs do not read larger files, such as an LTO compiler or a JDK's source archive. */
const largestBytes = 160 * 1024 * 1024

/** Reads files, and the files directly in directories; skips missing ones. */
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
      // On some hosts the programs have other paths.
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
