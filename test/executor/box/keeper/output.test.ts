// What a program's output costs the worker: one message for bytes that have gathered, not one for each byte written alone.
import { once } from 'node:events'
import { Socket } from 'node:net'
import t from 'tap'
import { spawnKeeper } from '../../../../src/executor/box/keeper/launch.ts'
import { takeMessage } from '../../../../src/executor/box/keeper/message.ts'
import { encodeHello, encodeRequest } from '../../../../src/executor/box/keeper/request.ts'
import { openLaunches, request } from './lone-keeper.ts'

t.test('output that is written byte by byte comes in few messages, and whole', async (t) => {
  const launch = await (await openLaunches(t, []))('messages')
  t.teardown(() => launch.group.remove())
  const child = spawnKeeper(launch)
  launch.group.closeDescriptors()
  const socket = child.stdio[3]
  if (!(socket instanceof Socket)) throw new Error('no socket')
  const bytes = 100_000
  const program = `import os\nfor n in range(${bytes}): os.write(1 + n % 2, b"x")`
  const asked = encodeRequest(request(['/usr/bin/python3', '-c', program]))
  const messages: [kind: string, length: number][] = []
  let said: Buffer = Buffer.alloc(0)
  socket
    .on('error', () => {})
    .on('data', (chunk: Buffer) => {
      said = Buffer.concat([said, chunk])
      for (let message = takeMessage(said); message; message = takeMessage(said)) {
        messages.push([message.kind, message.body.length])
        said = message.rest
        if (message.kind === 'result') socket.end()
      }
    })
  const began = performance.now()
  socket.write(Buffer.concat([encodeHello(launch), ...asked]))
  await once(child, 'close')
  // One message in 20 ms at most, and some at the end: more than a thousand only where the program takes long.
  const most = Math.max(1000, 10 + (performance.now() - began) / 20)
  for (const output of ['stdout', 'stderr']) {
    const lengths = messages.filter(([kind]) => kind === output).map(([, length]) => length)
    t.equal(
      lengths.reduce((sum, length) => sum + length, 0),
      bytes / 2,
    )
    t.ok(lengths.length < most, `${lengths.length} messages`)
  }
  t.equal(messages.at(-1)?.[0], 'result')
})
