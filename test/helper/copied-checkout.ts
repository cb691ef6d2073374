// Copies the checkout for a test of the files beside the code, such as `.data/` of `make run` or installed packages.
import { cpSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Test } from 'tap'
import { makeDirectory } from './directory.ts'

const root = resolve(import.meta.dirname, '../..')

/**
 * Copies the code to a folder that is removed with the test, and links the large and the installed files.
 * @param linked the names that are linked and not copied.
 */
export function copyCheckout(
  t: Test,
  linked: readonly string[] = ['node_modules', 'sql', 'Procfile'],
): string {
  const folder = makeDirectory(t)
  for (const name of ['src', 'clients/typescript', 'package.json', 'runledger'])
    cpSync(join(root, name), join(folder, name), { recursive: true })
  for (const name of linked) symlinkSync(join(root, name), join(folder, name))
  return folder
}
