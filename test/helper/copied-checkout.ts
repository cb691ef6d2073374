// A checkout of its own for a test that asks what stands beside the code: `.data/` of `make run`, what is installed.
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Test } from 'tap'

const root = resolve(import.meta.dirname, '../..')

/**
 * Copies the code to a folder that is removed with the test, and links what is large or not ours.
 * @param linked what stands there as links.
 */
export function copyCheckout(
  t: Test,
  linked: readonly string[] = ['node_modules', 'sql', 'Procfile'],
): string {
  const folder = mkdtempSync(join(tmpdir(), 'runledger-checkout-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  for (const name of ['src', 'clients/typescript', 'package.json', 'runledger'])
    cpSync(join(root, name), join(folder, name), { recursive: true })
  for (const name of linked) symlinkSync(join(root, name), join(folder, name))
  return folder
}
