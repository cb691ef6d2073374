// Second phase of a start: the web process listens for requests and starts the sweep (job/sweep.ts).
import type { AddressInfo } from 'node:net'
import { exitForConfig } from '#config'
import { describeError } from '#error-text'
import { startSweep } from '#sweep'
import type { Parts } from './make.ts'
import { readTls } from './settings.ts'

/** Errors of listen that a retry does not repair, with the text for the operator. */
const listenRefusals: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use by another process',
  EACCES: 'is not for this user to listen on',
  EADDRNOTAVAIL: 'is not an address of this host',
  ENOTFOUND: 'is not an address of this host',
}

export interface Web extends Parts {
  readonly sweep: ReturnType<typeof startSweep>
  /** Resolves with the first SIGTERM or SIGINT. */
  readonly over: Promise<NodeJS.Signals>
}

export function connectParts(parts: Parts): Web {
  const { settings, log, http, pools } = parts
  const { promise: over, resolve: end } = Promise.withResolvers<NodeJS.Signals>()
  const { PORT, tls } = settings
  // Without TLS and without a proxy the process listens on loopback only, so that no other machine can reach it.
  const host = settings.HOST ?? (tls === null && !settings.TRUST_PROXY ? '127.0.0.1' : '::')
  http.server.on('error', (error: NodeJS.ErrnoException) => {
    const reason = listenRefusals[error.code ?? '']
    if (reason !== undefined) exitForConfig(`HOST, PORT: ${host} port ${PORT} ${reason}`)
    log.fatal({ err: error, host, port: PORT }, 'web.failed')
    process.exit(1)
  })
  http.server.listen(PORT, host, () => {
    const { port } = http.server.address() as AddressInfo
    log.info({ host, port, tls: tls !== null }, 'web.started')
  })
  // Without a certificate SIGHUP does nothing. It still needs a handler, because the default action ends the process.
  process.on('SIGHUP', () => tls !== null && renewCertificate(parts))
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, end)
  return { ...parts, sweep: startSweep(pools.sweep, log), over }
}

/** Reads the certificate's files again. When they are wrong, the present certificate stays in use. */
function renewCertificate({ settings, http, log }: Parts): void {
  try {
    const renewed = readTls(settings.TLS_CERT, settings.TLS_KEY)
    if (renewed !== null) http.renewCertificate(renewed)
    log.info('web.certificate_read')
  } catch (error) {
    log.error({ reason: describeError(error).trim() }, 'web.certificate_not_read')
  }
}
