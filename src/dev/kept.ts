// What `make run` keeps under .data/ in the checkout, and who else reads it: the command line, which needs no DATABASE_URL
// beside a service that was started so.
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const checkout = resolve(import.meta.dirname, '../..')

/** Its folder, as people see it from the checkout. */
export const keptFolder = '.data'

/** Where the address of its own PostgreSQL stands. */
export const keptUrlFile = `${keptFolder}/database-url`

/**
 * Where the key of its account stands.
 * @param url of a database that is not its own; such a one has a file of its own too.
 */
export function nameKeyFile(url: string | undefined): string {
  if (url === undefined) return `${keptFolder}/key`
  return `${keptFolder}/key-${createHash('sha256').update(url).digest('hex').slice(0, 8)}`
}

/** The address of the PostgreSQL that `make run` keeps; null when it has made none. @throws when it may not be read. */
export function readKeptUrl(): string | null {
  try {
    return readFileSync(join(checkout, keptUrlFile), 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}
