// Makes a certificate authority and certificates for test receivers with the machine's openssl, in a temporary folder.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The key and the certificate of a TLS server, PEM. */
export interface Identity {
  readonly key: string
  readonly cert: string
}

export interface Authority {
  /** The authority's own certificate, PEM. */
  readonly pem: string
  /** Issues a certificate for alternative names such as `DNS:a.test` or `IP:127.0.0.1`. With negative days it has expired. */
  issue(names: readonly string[], days?: number): Identity
  /** Makes a self-signed certificate. */
  selfSign(names: readonly string[]): Identity
  remove(): void
}

export function createAuthority(): Authority {
  const folder = mkdtempSync(join(tmpdir(), 'webhook-authority-'))
  const openssl = (...parameters: string[]): void => {
    execFileSync('openssl', parameters, { cwd: folder, stdio: 'pipe' })
  }
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8')
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  const selfSign = (name: string, subject: string, extension: string): void =>
    openssl('req', '-x509', ...newKey, '-keyout', `${name}.key`, '-out', `${name}.pem`, '-days', '2', '-subj', subject, '-addext', extension) // prettier-ignore
  selfSign('authority', '/CN=runledger test authority', 'keyUsage=critical,keyCertSign')
  let issued = 0
  return {
    pem: read('authority.pem'),
    issue(names, days = 2) {
      issued += 1
      const name = `receiver-${issued}`
      writeFileSync(join(folder, `${name}.cnf`), `subjectAltName=${names.join(',')}\n`)
      openssl('req', ...newKey, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', '/CN=receiver') // prettier-ignore
      openssl('x509', '-req', '-in', `${name}.csr`, '-CA', 'authority.pem', '-CAkey', 'authority.key', '-CAcreateserial', '-days', String(days), '-extfile', `${name}.cnf`, '-out', `${name}.pem`) // prettier-ignore
      return { key: read(`${name}.key`), cert: read(`${name}.pem`) }
    },
    selfSign(names) {
      issued += 1
      const name = `self-${issued}`
      selfSign(name, '/CN=receiver', `subjectAltName=${names.join(',')}`)
      return { key: read(`${name}.key`), cert: read(`${name}.pem`) }
    },
    remove: () => rmSync(folder, { recursive: true }),
  }
}
