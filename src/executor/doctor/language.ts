// Examines the languages with the worker's own search and settings, so that both agree.
import { findToolchains } from '#toolchain'
import { reportMissing, reportOk, reportWarning } from './finding.ts'
import type { Finding } from './finding.ts'
import type { Host } from './host.ts'

/**
 * One row for each language that is there, whole or broken, and one for the rest. A missing language is a fault only
 * when all are missing.
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
