// Examines the languages: looks for them as the worker does, with the same settings, so that both say the same.
import { findToolchains } from '#toolchain'
import type { Finding } from './finding.ts'
import { reportMissing, reportOk, reportWarning } from './finding.ts'
import type { Host } from './host.ts'

/**
 * One row a language that is there, whole or broken, and one for all that are not. A worker starts with those that it finds: one
 * that is missing is a fault only when all are.
 */
export async function examineLanguages(host: Host): Promise<Finding[]> {
  const { toolchains, missing } = await findToolchains(host.settings, host, host.languages)
  if (Object.keys(toolchains).length === 0)
    return missing.map(({ language, reason, remedy }) => reportMissing(language, reason, remedy))
  const absent = missing.filter(({ isBroken }) => !isBroken).map(({ language }) => language)
  return [
    ...Object.entries(toolchains).map(([language, { version, location }]) =>
      reportOk(language, `${version} (${location})`),
    ),
    ...missing
      .filter(({ isBroken }) => isBroken)
      .map(({ language, reason, remedy }) =>
        reportWarning(language, `${reason}: it is not offered`, remedy),
      ),
    ...(absent.length === 0
      ? []
      : [reportOk('languages', `not installed: ${absent.join(', ')} (make languages)`)]),
  ]
}
