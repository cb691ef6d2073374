// Starts the accelerators of the languages that the host has: prepared files, resident compilers, fork servers, prestarted
// runtimes. A missing accelerator costs only time.
import { describe } from '#contract'
import type { PrestartedRuntime, ForkServer, Language, Limits } from '#contract'
import type { BoxResources } from '#keeper'
import { keepCompilers } from '#resident'
import type { ResidentCompilers } from '#resident'
import type { Toolchain, Toolchains, Workshop } from '#toolchain'
import type { InstalledLanguage } from './languages.ts'

/** Starts the languages' preparations. A language whose preparation cannot start runs without it. */
export function beginPreparations(
  toolchains: Toolchains,
  workshop: Workshop,
  onFallback: (reason: string) => void,
): Toolchains {
  const begin = (language: Language, toolchain: Toolchain): Toolchain => {
    try {
      return toolchain.accelerators.preparation?.(workshop) ?? toolchain
    } catch (error) {
      onFallback(`nothing is prepared for ${language}: ${describe(error)}`)
      return toolchain
    }
  }
  return new Map([...toolchains].map(([language, one]) => [language, begin(language, one)]))
}

/** Lists the toolchains' fork servers. */
export function listForkServers(toolchains: Toolchains): ForkServer[] {
  return [...toolchains.values()].flatMap(({ accelerators }) => accelerators['fork-server'] ?? [])
}

/** Lists the runtimes to prestart for runs with these limits; a runtime that several languages share appears once. */
export function listPrestartedRuntimes(
  toolchains: Toolchains,
  limits: Readonly<Record<Language, Limits>>,
): PrestartedRuntime[] {
  const runtimes = [...toolchains].flatMap(
    ([language, { accelerators }]) =>
      accelerators.prestart?.(limits[language].run.memoryBytes) ?? [],
  )
  return [...new Set(runtimes)]
}

/** Lists the installed languages, and starts their resident compilers in the background. */
export function openLanguages(
  toolchains: Toolchains,
  resources: BoxResources,
  limits: Readonly<Record<Language, Limits>>,
  { slots, firstUid: first }: { readonly slots: number; readonly firstUid: number | null },
  onFallback: (reason: string) => void,
): Map<Language, InstalledLanguage> {
  let firstUid = first
  const keep = (language: Language, toolchain: Toolchain): ResidentCompilers | null => {
    const compiler = toolchain.accelerators['resident-compiler']
    const compileLimits = limits[language].compile
    if (compiler === undefined || compileLimits === null) return null
    const kept = keepCompilers(resources, {
      name: `resident-${language}`,
      compiler,
      limits: compileLimits,
      slots,
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
