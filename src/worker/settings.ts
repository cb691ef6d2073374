// The worker's settings, checked and ready for use. Mistakes end the worker.
import { readFileSync } from 'node:fs'
import { ConfigError, readOrExit, readWorkerConfig } from '#config'
import type { LimitOverride, WorkerConfig } from '#config'
import { describeError } from '#error-text'
import { defaultLimits } from '#language'
import type { Language, Limits } from '#language'
import metadata from '#package' with { type: 'json' }
import { createDeliverySettings, parseRanges, trustAuthorities } from '#webhook'
import type { DeliverySettings } from '#webhook'

export interface WorkerSettings extends Omit<WorkerConfig, 'limits'> {
  readonly limits: Readonly<Record<Language, Limits>>
  readonly delivery: DeliverySettings
}

/** Reads the settings. Exits with 78 when one is invalid. */
export function readSettings(): WorkerSettings {
  return readOrExit(() => parseSettings())
}

/** @throws {ConfigError} with the mistakes. */
export function parseSettings(environment?: NodeJS.ProcessEnv): WorkerSettings {
  const read = readWorkerConfig(environment)
  const { ranges, issues } = parseRanges(read.WEBHOOK_ALLOWED_RANGES)
  if (issues.length > 0) throw new ConfigError(`  WEBHOOK_ALLOWED_RANGES: ${issues.join('; ')}`)
  return {
    ...read,
    limits: applyOverrides(read.limits),
    delivery: createDeliverySettings({
      version: metadata.version,
      allowedRanges: ranges,
      allowedPorts: read.WEBHOOK_ALLOWED_PORTS,
      trust: readTrust(read.WEBHOOK_CA),
      totalSeconds: read.WEBHOOK_TIMEOUT_SECONDS,
      connectSeconds: read.WEBHOOK_CONNECT_SECONDS,
    }),
  }
}

function applyOverrides(overrides: readonly LimitOverride[]): Record<Language, Limits> {
  const result = structuredClone(defaultLimits) as Record<Language, Limits>
  for (const { language, phase, limit, value } of overrides) {
    const before = result[language][phase]
    if (before !== null)
      result[language] = { ...result[language], [phase]: { ...before, [limit]: value } }
  }
  return result
}

function readTrust(path: string | undefined): DeliverySettings['trust'] {
  try {
    return trustAuthorities(path === undefined ? '' : readFileSync(path, 'utf8'))
  } catch (error) {
    throw new ConfigError(`  WEBHOOK_CA: ${describeError(error)}`)
  }
}
