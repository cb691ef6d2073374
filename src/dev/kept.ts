// The files that `make run` keeps under .data/. The command line reads some of them when a variable is not set.
import { hash } from 'node:crypto'

/** The folder of the kept files, relative to the checkout. */
export const keptFolder = '.data'

/** The file with the address of the PostgreSQL that `make run` starts. */
export const keptUrlFile = `${keptFolder}/database-url`

/** Names the file with the account's key. @param url of another database; each such database has a file of its own. */
export function nameKeyFile(url: string | undefined): string {
  if (url === undefined) return `${keptFolder}/key`
  return `${keptFolder}/key-${hash('sha256', url, 'hex').slice(0, 8)}`
}

/** The file with an operator's key for the PostgreSQL that `make run` starts. */
export const keptOperatorKeyFile = `${keptFolder}/operator-key`

/** The file with the key that signs receipts. */
export const keptReceiptKeyFile = `${keptFolder}/receipt-key.pem`
