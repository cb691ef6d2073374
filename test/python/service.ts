// A whole service for the Python package: its web process can be killed and restarted, and there are certificates of each
// kind.
import { generateKeyPairSync, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { issueKey } from '#account'
import { openTestDatabase } from '../helper/database.ts'
import { startWebProcess } from '../helper/web.ts'
import type { WebProcess } from '../helper/web.ts'
import { startWorkerProcess } from '../helper/worker.ts'
import { createAuthority } from '../webhook/certificate.ts'

export interface PythonService {
  /**
   * Starts a web process. A caller may kill it only if no other caller uses it.
   * @returns the environment variables that the package's tests read.
   */
  readonly startWeb: (t: Test) => Promise<Readonly<Record<string, string>>>
}

/** @param folder for certificates. */
export async function startPythonService(t: Test, folder: string): Promise<PythonService> {
  const { sql, url } = await openTestDatabase(t)
  const { privateKey } = generateKeyPairSync('ed25519')
  const settings = {
    RECEIPT_KEY: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    // So that waits end and start again.
    SYNC_WAIT_SECONDS: '5',
  }
  await startWorkerProcess(t, url, { LANGUAGES: 'python', SLOTS: '4' })
  const { key } = await issueKey(sql, { account: 'python', tier: 'unlimited' }, 'test')
  const certificates = writeCertificates(folder)
  return {
    async startWeb(t) {
      const port = await findPort()
      const start = (): Promise<WebProcess> =>
        startWebProcess(t, url, { ...settings, PORT: String(port) })
      let web = await start()
      const restart = createServer(({ url: path = '' }, response) => {
        void (async () => {
          const ended = once(web.child, 'exit')
          web.child.kill('SIGKILL')
          await ended
          await sleep(Number(path.slice(1)) * 1000)
          web = await start()
          response.end()
        })()
      })
      restart.listen(0, '127.0.0.1')
      await once(restart, 'listening')
      t.teardown(() => restart.close())
      return {
        RUNLEDGER_TEST_URL: `http://127.0.0.1:${port}`,
        RUNLEDGER_TEST_KEY: key,
        RUNLEDGER_TEST_RESTART: `http://127.0.0.1:${(restart.address() as AddressInfo).port}`,
        RUNLEDGER_TEST_CERTIFICATES: certificates,
      }
    },
  }
}

/** Returns a free port outside the range that the kernel assigns, so that it is still free when the process restarts. */
async function findPort(): Promise<number> {
  for (;;) {
    const port = randomInt(20_000, 32_000)
    const probe = createServer()
    const isFree = await new Promise<boolean>((done) => {
      probe.once('error', () => done(false))
      probe.listen(port, '127.0.0.1', () => done(true))
    })
    probe.close()
    if (isFree) return port
  }
}

function writeCertificates(folder: string): string {
  const authority = createAuthority()
  const identities = {
    good: authority.issue(['IP:127.0.0.1']),
    other: authority.issue(['DNS:other.test']),
    old: authority.issue(['IP:127.0.0.1'], -1),
    self: authority.selfSign(['IP:127.0.0.1']),
  }
  writeFileSync(join(folder, 'authority.pem'), authority.pem)
  for (const [name, { key, cert }] of Object.entries(identities)) {
    writeFileSync(join(folder, `${name}.key`), key)
    writeFileSync(join(folder, `${name}.pem`), cert)
  }
  authority.remove()
  return folder
}
