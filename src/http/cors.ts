// Allows cross-origin requests of pages from the origins that an operator names (CORS_ORIGINS); none by default.
import type { Handler } from './request.ts'

/** Headers of the API and its doors, with all that can carry a key, and MCP's version, method, name and session. */
const allowedHeaders =
  'X-API-Key, Authorization, X-Auth-Token, Content-Type, Idempotency-Key, Last-Event-ID, Prefer, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name'
const exposedHeaders =
  'Location, Batch-Id, Retry-After, RateLimit, RateLimit-Policy, Idempotency-Replayed, Idempotency-Mismatch, X-Request-Id, Mcp-Session-Id'

/**
 * Answers preflights without a key, and names the origin in other answers. Never allows credentials, because clients send the
 * key as a header.
 * @param origins each exactly as browsers send it.
 * @param paths the paths of the open doors; those of the API are always included.
 */
export function allowOrigins(origins: readonly string[], paths: readonly string[]): Handler {
  const folders = new Set(['api', ...paths.map(firstSegment)])
  return (request, response, next) => {
    if (origins.length === 0 || !folders.has(firstSegment(request.url))) return next()
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
      'Access-Control-Allow-Methods': 'GET, HEAD, POST, PUT, DELETE',
      'Access-Control-Allow-Headers': allowedHeaders,
      'Access-Control-Max-Age': '600',
    })
    response.end()
  }
}

function firstSegment(path: string): string {
  return path.split(/[/?]/, 2)[1] ?? ''
}
