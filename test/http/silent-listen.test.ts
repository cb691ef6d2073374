// A web process that gets SIGTERM exits with status 0, whatever state its database connections are in.
import { once } from 'node:events'
import t from 'tap'
import { startFaultProxy } from '../faults/proxy.ts'
import { createTestDatabase } from '../helper/database.ts'
import { startWebProcess } from '../helper/web.ts'

const { url } = await createTestDatabase()

t.test('when nobody answers where it listens', async (t) => {
  const proxy = await startFaultProxy(url)
  t.teardown(() => proxy.close())
  const { child } = await startWebProcess(t, proxy.url)
  proxy.silence(/./, { listening: true })
  child.kill('SIGTERM')
  t.strictSame(await once(child, 'exit'), [0, null])
})
