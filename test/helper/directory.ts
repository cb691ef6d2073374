// Makes directories for tests.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Test } from 'tap'

/** Makes an empty directory that is removed when the test ends. @param mode by default, only its owner may enter it. */
export function makeDirectory(t: Test, mode = 0o700): string {
  const directory = mkdtempSync(join(tmpdir(), 'runledger-test-'))
  chmodSync(directory, mode)
  t.teardown(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}
