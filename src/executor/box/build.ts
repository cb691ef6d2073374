// Compiles the keeper ahead, so that workers need no compiler: for `make keeper` and the image.
import { chmodSync } from 'node:fs'
import { buildKeeper, builtDirectory } from '#keeper'

await buildKeeper(builtDirectory)
// Workers of other users run it, too.
chmodSync(builtDirectory, 0o755)
