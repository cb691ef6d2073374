// A command that could not be passed to a box is refused before a box is used. Only its request fails; no keeper, slot or
// other request is affected.
import t from 'tap'
import { requireStartable, wordsBytesMost, wordsMost } from '#contract'
import { environment } from '../../src/executor/box/keeper/host-root.ts'
import { execute, failsAt, run, startExecutor } from '../helper/executor.ts'
import { request, startLoneKeeper } from './box/keeper/lone-keeper.ts'

const executor = await startExecutor(t, { slots: 1, languages: ['python'] })
const count = 'import sys\nprint(len(sys.argv))'

t.test('words that a kernel or a keeper would refuse are the request’s own failure', async (t) => {
  const refused: Readonly<Record<string, readonly string[]>> = {
    'a word with NUL': ['a\0b'],
    'words larger than a keeper has room for': ['x'.repeat(wordsBytesMost)],
    'more words than it has room for': Array.from({ length: wordsMost }, () => 'x'),
  }
  for (const [name, words] of Object.entries(refused)) {
    const asked = execute(executor, 'python', count, '', { arguments: words })
    await t.rejects(asked, failsAt('request.words'), name)
    t.match(await run(executor, 'python', count), { stdout: '1\n' }, 'and the next one runs')
  }
})

t.test('as much as there is room for is no failure', async (t) => {
  const base = ['/usr/bin/printf', '%s', '']
  const pairs = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
  const taken = Buffer.byteLength([...base, ...pairs].join('\0')) + 1
  const ofBytes = (bytes: number) => request([...base.slice(0, -1), 'x'.repeat(bytes - taken)])
  const ofWords = (words: number) =>
    request([...base, ...Array.from({ length: words - base.length - pairs.length }, () => 'x')])
  for (const beyond of [ofBytes(wordsBytesMost + 1), ofWords(wordsMost + 1)])
    t.throws(() => requireStartable(beyond, environment), failsAt('request.words'))
  const { keeper } = await startLoneKeeper(t)
  for (const full of [ofBytes(wordsBytesMost), ofWords(wordsMost)])
    t.match(await keeper.run(full), { exit: { code: 0 } })
  await t.rejects(keeper.run(ofWords(wordsMost + 1)), failsAt('request.words'))
  t.ok(keeper.alive)
})

t.test('names that no box can hold', (t) => {
  const named = (path: string) => {
    const { command, ...rest } = request(['/bin/true'])
    const files = [{ path, content: Buffer.alloc(0), executable: false }]
    return { ...rest, command: { ...command, files } }
  }
  for (const name of ['', '/', '../a', 'a//b', 'a/./b', 'a\0b', 'ä'.repeat(128), '/etc/passwd'])
    t.throws(() => requireStartable(named(`/box/${name}`), {}), failsAt('request.name'), name)
  for (const name of ['a', 'a/b/...c', 'ä'.repeat(127)]) requireStartable(named(`/box/${name}`), {})
  const asked = { ...request(['/bin/true']), outputFiles: ['../out'] }
  t.throws(() => requireStartable(asked, {}), failsAt('request.name'))
  t.throws(() => requireStartable(request([]), {}), failsAt('request.words'), 'no program')
  t.end()
})
