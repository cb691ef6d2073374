// The worker's settings, checked and ready for use. Mistakes end the worker.
import { readFileSync } from 'node:fs'
import { ConfigError, readWorkerConfig } from '#config'
import type { WorkerConfig } from '#config'
import { describeError } from '#error-text'
import metadata from '#package' with { type: 'json' }
import { createDeliverySettings, parseRanges, trustAuthorities } from '#webhook'
import type { DeliverySettings } from '#webhook'

export interface WorkerSettings extends WorkerConfig {
  readonly delivery: DeliverySettings
}

/** Reads the settings. @throws {ConfigError} with the mistakes. */
export function parseSettings(environment?: NodeJS.ProcessEnv): WorkerSettings {
  const read = readWorkerConfig(environment)
  const { ranges, issues } = parseRanges(read.WEBHOOK_ALLOWED_RANGES)
  if (issues.length > 0) throw new ConfigError(`  WEBHOOK_ALLOWED_RANGES: ${issues.join('; ')}`)
  return {
    ...read,
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

function readTrust(path: string | undefined): DeliverySettings['trust'] {
  try {
    return trustAuthorities(path === undefined ? '' : readFileSync(path, 'utf8'))
  } catch (error) {
    throw new ConfigError(`  WEBHOOK_CA: ${describeError(error)}`)
  }
}
