// What `make run` keeps under .data/; the command line reads it without DATABASE_URL.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const checkout = resolve(import.meta.dirname, '../..')

/** Relative to the checkout. */
export const keptFolder = '.data'

/** The address of its own PostgreSQL. */
export const keptUrlFile = `${keptFolder}/database-url`

/** @param url of a database that is not its own; each has its own file. */
export function nameKeyFile(url: string | undefined): string {
  if (url === undefined) return `${keptFolder}/key`
  return `${keptFolder}/key-${createHash('sha256').update(url).digest('hex').slice(0, 8)}`
}

/** An operator's key for its own PostgreSQL. */
export const keptOperatorKeyFile = `${keptFolder}/operator-key`

/** What signs receipts. */
export const keptReceiptKeyFile = `${keptFolder}/receipt-key.pem`

/** @param file such as `keptUrlFile`. @returns null when there is none. @throws when it may not be read. */
export function readKept(file: string): string | null {
  try {
    return readFileSync(join(checkout, file), 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
