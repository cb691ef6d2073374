// A renewed certificate is read on SIGHUP, without a restart of the process.
import { once } from 'node:events'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'node:tls'
import t from 'tap'
import { createTestDatabase } from '../helper/database.ts'
import { startWebProcess } from '../helper/web.ts'
import { createAuthority } from '../webhook/certificate.ts'

const { url, drop } = await createTestDatabase()
t.teardown(drop)
const authority = createAuthority()
const folder = t.testdir()
const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')]

function write(pair: { readonly cert: string; readonly key: string }): void {
  for (const [file, text] of [
    [cert, pair.cert],
    [key, pair.key],
  ] as const) {
    writeFileSync(`${file}.new`, text)
    renameSync(`${file}.new`, file)
  }
}

t.test('on SIGHUP it is read again; what is wrong leaves the present one', async (t) => {
  write(authority.issue(['DNS:first.test']))
  const { child, port, lines } = await startWebProcess(t, url, { TLS_CERT: cert, TLS_KEY: key })
  const present = async (): Promise<string> => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false })
    await once(socket, 'secureConnect')
    const { subjectaltname = '' } = socket.getPeerCertificate()
    socket.destroy()
    return subjectaltname
  }
  const hangUp = async (message: string): Promise<void> => {
    child.kill('SIGHUP')
    while (!lines.some((line) => line.includes(message))) await sleep(50)
  }
  t.equal(await present(), 'DNS:first.test')
  write(authority.issue(['DNS:second.test']))
  t.equal(await present(), 'DNS:first.test', 'not before')
  await hangUp('web.certificate_read')
  t.equal(await present(), 'DNS:second.test')
  writeFileSync(key, authority.issue(['DNS:third.test']).key)
  await hangUp('web.certificate_not_read')
  t.match(lines.at(-1), /"reason":"TLS_CERT, TLS_KEY: /)
  t.equal(await present(), 'DNS:second.test')
  t.equal(child.exitCode, null)
})

t.test('without a certificate SIGHUP does nothing', async (t) => {
  const { child, port } = await startWebProcess(t, url)
  child.kill('SIGHUP')
  for (let times = 0; times < 3; times += 1)
    t.equal((await fetch(`http://127.0.0.1:${port}/healthz`)).status, 200)
  t.strictSame([child.exitCode, child.signalCode], [null, null])
})
