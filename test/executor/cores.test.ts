// A box uses its slot's share of the cores, or as many as its request says, and never more than there are.
import { availableParallelism } from 'node:os'
import t from 'tap'
import { readCores } from '../helper/control-group.ts'
import { startExecutor } from '../helper/executor.ts'

const all = availableParallelism()
const executor = await startExecutor(t, { slots: all, languages: ['python', 'cpp'] })
const sleepers = {
  python: 'import time\nprint(flush=True)\ntime.sleep(600)',
  cpp: '#include <cstdio>\n#include <unistd.h>\nint main() { puts(""); fflush(stdout); sleep(600); }',
} as const

/** Returns the most cores that any box may use while this many programs run. */
async function mostDuring(
  language: keyof typeof sleepers,
  cores: number | undefined,
  programs: number,
): Promise<number> {
  const stop = new AbortController()
  const running = new Set<number>()
  let most = 0
  const run = (n: number): Promise<unknown> =>
    executor.execute({
      language,
      code: Buffer.from(sleepers[language]),
      stdin: new Uint8Array(),
      cacheScope: 'cores test',
      cores,
      stop: stop.signal,
      live: {
        compiled() {},
        tap: {
          open() {},
          note() {
            if (running.add(n).size < programs) return
            most = Math.max(...readCores(process.pid))
            stop.abort()
          },
          close() {},
        },
      },
    })
  await Promise.all(Array.from({ length: programs }, (_, n) => run(n)))
  return most
}

if (all === 1 || readCores(process.pid).length === 0) {
  t.pass('one core, or a host that does not limit them')
  process.exit(0)
}

t.equal(executor.cores, 1, 'a slot a core')

for (const language of ['python', 'cpp'] as const)
  t.test(`a program in ${language} has what its request says`, async (t) => {
    t.equal(await mostDuring(language, undefined, 1), 1)
    t.equal(await mostDuring(language, all, 1), all)
    t.equal(await mostDuring(language, 1000, 1), all, 'there are no more')
    t.equal(await mostDuring(language, undefined, all), 1, 'the next ones have their own')
  })
