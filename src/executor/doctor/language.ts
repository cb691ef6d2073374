// Examines the languages: looks for them as the worker does, with the same settings, so that both say the same.
import { findToolchains } from '#toolchain'
import type { Finding } from './finding.ts'
import { reportMissing, reportOk, reportWarning } from './finding.ts'
import type { Host } from './host.ts'

/** One row a language. A worker starts with those that it finds: one that is missing is a fault only when all are. */
export async function examineLanguages(host: Host): Promise<Finding[]> {
  const { toolchains, missing } = await findToolchains(host.settings, host)
  const isNone = Object.keys(toolchains).length === 0
  const report = isNone ? reportMissing : reportWarning
  return [
    ...Object.entries(toolchains).map(([language, { version, location }]) =>
      reportOk(language, `${version} (${location})`),
    ),
    ...missing.map(({ language, reason, remedy }) =>
      report(language, isNone ? reason : `${reason}: it is not offered`, remedy),
    ),
  ]
}
