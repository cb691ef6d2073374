// Shows the checkout to a process that is not root, because the checkout may be below a directory that only root may enter,
// such as /root.
import { mkdtempSync, rmdirSync, chmodSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')

/** The checkout at a path that everybody may enter. */
export interface ShownCheckout {
  /** Goes before a command, which then runs, still as root, in a mount namespace in which the path exists. */
  readonly launcher: readonly string[]
  /** Returns the path, in that mount namespace, of a path in the checkout. */
  rename(path: string): string
}

let shown: ShownCheckout | undefined

/** Makes the mount point once. It is removed when the process ends. */
export function showCheckout(): ShownCheckout {
  shown ??= makePlace()
  return shown
}

function makePlace(): ShownCheckout {
  const place = mkdtempSync(join(tmpdir(), 'runledger-checkout-'))
  chmodSync(place, 0o755)
  process.once('exit', () => rmdirSync(place))
  return {
    launcher: [
      ['unshare', '--mount', '--propagation=private', '--', '/bin/sh', '-ec'],
      ['mount --bind "$1" "$2"; shift 2; exec "$@"', 'sh', root, place],
    ].flat(),
    rename: (path) => (path.startsWith(`${root}/`) ? place + path.slice(root.length) : path),
  }
}
