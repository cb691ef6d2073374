// Enforces HTTPS: refuses plain HTTP from other machines.
import { isIP } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { Problem } from '#error'
import type { ApiRequest, Handler } from './request.ts'

/** Valid for two years. */
export const strictTransportSecurity = 'max-age=63072000; includeSubDomains'

/** Adds Strict-Transport-Security to answers over HTTPS. @param trustProxy believe a router's X-Forwarded-Proto. */
export function announceHttps(trustProxy: boolean): Handler {
  return (request, response, next) => {
    if (isSecure(request, trustProxy)) {
      response.setHeader('Strict-Transport-Security', strictTransportSecurity)
    }
    return next()
  }
}

/** Admits HTTPS and, without a router in front, requests from this machine. */
export function requireHttps(trustProxy: boolean): Handler {
  return (request, _response, next) => {
    const isOwn = !trustProxy && isLoopback(request.socket.remoteAddress)
    if (isOwn || isSecure(request, trustProxy)) return next()
    throw new Problem('https_required', 'This service is reached over HTTPS only.', {
      headers: { Connection: 'close' },
    })
  }
}

function isSecure(request: ApiRequest, trustProxy: boolean): boolean {
  return trustProxy
    ? request.headers['x-forwarded-proto'] === 'https'
    : (request.socket as Partial<TLSSocket>).encrypted === true
}

/** True for 127.0.0.0/8 and ::1, also IPv4-mapped. */
function isLoopback(address: string | undefined): boolean {
  const text = (address ?? '').replace(/^::ffff:/i, '')
  return text === '::1' || (isIP(text) === 4 && text.startsWith('127.'))
}
