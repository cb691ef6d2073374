// Shows the checkout to a process that is not root: it may lie below a directory that only root may enter, as /root is.
import { mkdtempSync, rmdirSync, chmodSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '../..')

/** The checkout at a path that everybody may enter. */
export interface ShownCheckout {
  /** To be put before a command: it then runs, as root still, in a mount namespace in which the path exists. */
  readonly launcher: readonly string[]
  /** What a path in the checkout is called there. */
  rename(path: string): string
}

let shown: ShownCheckout | undefined

/** Makes the mount point, once; it is removed when the process ends. */
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
