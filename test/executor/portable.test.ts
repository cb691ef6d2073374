// The files whose subject is the box once more, with boxes that bubblewrap makes: the others run with what this host can
// have, which is a keeper nearly everywhere.
import { join } from 'node:path'
import t from 'tap'
import { box, timeFactor } from '../helper/executor.ts'

t.setTimeout(280_000 * timeFactor)

if (box === 'bubblewrap') {
  t.pass('they run so anyway')
  process.exit(0)
}

for (const file of ['box/bubblewrap/bubblewrap', 'box/phase']) {
  const path = join(import.meta.dirname, `${file}.test.ts`)
  await t.spawn(
    process.execPath,
    [path],
    { env: { ...process.env, BOX: 'bubblewrap' } },
    `${file} by bubblewrap`,
  )
}
