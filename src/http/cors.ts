// Cross-origin requests, for pages of other origins that an operator names (CORS_ORIGINS). Without any there is no such answer.
import type { Handler } from './request.ts'

const allowedHeaders = 'X-API-Key, Content-Type, Idempotency-Key, Last-Event-ID, Prefer'
const exposedHeaders =
  'Location, Retry-After, RateLimit, RateLimit-Policy, Idempotency-Replayed, Idempotency-Mismatch, X-Request-Id'

/**
 * Answers preflights without a key, and names the origin in other answers. Never with credentials: a key goes along as a
 * header.
 * @param origins each exactly as browsers send it.
 */
export function allowOrigins(origins: readonly string[]): Handler {
  return (request, response, next) => {
    if (origins.length === 0 || !request.url.startsWith('/api/')) return next()
    response.setHeader('Vary', 'Origin')
    const { origin } = request.headers
    if (origin === undefined || !origins.includes(origin)) return next()
    response.setHeader('Access-Control-Allow-Origin', origin)
    if (
      request.method !== 'OPTIONS' ||
      request.headers['access-control-request-method'] === undefined
    ) {
      response.setHeader('Access-Control-Expose-Headers', exposedHeaders)
      return next()
    }
    response.writeHead(204, {
      'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT',
      'Access-Control-Allow-Headers': allowedHeaders,
      'Access-Control-Max-Age': '600',
    })
    response.end()
  }
}
