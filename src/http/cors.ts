// Cross-origin requests, for pages of other origins that an operator names (CORS_ORIGINS). Without any there is no such answer.
import type { Handler } from './request.ts'

/** Those of the API and of its doors: where each takes its key, and how MCP's browser clients name version, method and session. */
const allowedHeaders =
  'X-API-Key, Authorization, X-Auth-Token, Content-Type, Idempotency-Key, Last-Event-ID, Prefer, Mcp-Session-Id, MCP-Protocol-Version, Mcp-Method, Mcp-Name'
const exposedHeaders =
  'Location, Batch-Id, Retry-After, RateLimit, RateLimit-Policy, Idempotency-Replayed, Idempotency-Mismatch, X-Request-Id, Mcp-Session-Id'

/**
 * Answers preflights without a key, and names the origin in other answers. Never with credentials: a key goes along as a
 * header.
 * @param origins each exactly as browsers send it.
 * @param paths of the doors that are open, beside the API's.
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
