// Reads the web process's settings, ready for use. Mistakes are printed together and end the process.
import { readFileSync } from 'node:fs'
import { createSecureContext } from 'node:tls'
import { ConfigError, readOrExit, readWebConfig } from '#config'
import type { WebConfig } from '#config'
import { describeError } from '#error-text'
import { doorNames } from '#http'
import type { DoorName, HttpDependencies, TransportOptions } from '#http'
import { readSigningKey } from '#receipt'
import type { SigningKey } from '#receipt'
import { parseRanges } from '#webhook-address'

type ServerSettings = WebConfig &
  Pick<HttpDependencies, 'doors' | 'receiptKey' | 'webhookRules'> &
  Pick<TransportOptions, 'tls'>

export function readSettings(): ServerSettings {
  return readOrExit(() => {
    const read = readWebConfig()
    const { ranges, issues } = parseRanges(read.WEBHOOK_ALLOWED_RANGES)
    if (issues.length > 0) throw new ConfigError(`  WEBHOOK_ALLOWED_RANGES: ${issues.join('; ')}`)
    return {
      ...read,
      doors: readDoors(read.DOORS),
      webhookRules: { ranges, ports: read.WEBHOOK_ALLOWED_PORTS },
      tls: readTls(read.TLS_CERT, read.TLS_KEY),
      receiptKey: readReceiptKey(read.RECEIPT_KEY),
    }
  })
}

function readDoors(text: string | undefined): readonly DoorName[] {
  if (text === undefined) return doorNames
  if (text === 'none') return []
  const given = text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
  const unknown = given.filter((name) => !doorNames.some((known) => known === name))
  if (unknown.length > 0)
    throw new ConfigError(
      `  DOORS: ${unknown.join(', ')}: must be some of ${doorNames.join(', ')}, or none`,
    )
  return doorNames.filter((name) => given.includes(name))
}

/**
 * Reads certificate and key; null when one of the files is not set.
 * @throws {ConfigError} when the files cannot be read or do not belong together.
 */
export function readTls(cert: string | undefined, key: string | undefined): ServerSettings['tls'] {
  if (cert === undefined || key === undefined) return null
  try {
    const pair = { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') }
    createSecureContext(pair) // throws unless they are PEM and belong together
    return pair
  } catch (error) {
    throw new ConfigError(`  TLS_CERT, TLS_KEY: ${describeError(error)}`)
  }
}

function readReceiptKey(text: string | undefined): SigningKey | null {
  try {
    return text === undefined ? null : readSigningKey(text)
  } catch (error) {
    throw new ConfigError(`  RECEIPT_KEY: ${describeError(error)}`)
  }
}
