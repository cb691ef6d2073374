// GET / and the files it loads: the console. The files need no key, because they are the same for everybody and hold no data.
// The page asks the API for data, with the key that its user enters.
import type { Response } from 'polka'
import type { Console, ConsoleFile, Encoding } from '#console'
import { sendBody } from './answer.ts'
import { requireHttps } from './https.ts'
import { methodNotAllowed, requireHost } from './request.ts'
import type { ApiRequest, Handler } from './request.ts'

// Allows no foreign and no inline resources, no markup made from text, and no framing.
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const headers = {
  'Content-Security-Policy': contentSecurityPolicy,
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  Vary: 'Accept-Encoding',
} as const

/** Answers the console's paths and passes on all others. */
export function serveConsole(find: Console, trustProxy: boolean): Handler {
  const passHttps = requireHttps(trustProxy)
  const refuse = methodNotAllowed(['GET'])
  return (request, response, next) => {
    const file = find(request.path)
    if (file === undefined) return next()
    request.route = file.path === '/' ? '/' : '/console/:name'
    const isRead = request.method === 'GET' || request.method === 'HEAD'
    const answer = isRead
      ? () => sendFile(request, response, file)
      : () => refuse(request, response, next)
    return passHttps(request, response, () => requireHost(request, response, answer))
  }
}

function sendFile(request: ApiRequest, response: Response, file: ConsoleFile): void {
  const own = {
    ...headers,
    ETag: file.tag,
    // The content under a name with a hash never changes; the page names the present files.
    'Cache-Control': file.path === '/' ? 'no-cache' : 'public, max-age=31536000, immutable',
  }
  const known = request.headers['if-none-match'] ?? ''
  if (known.split(',').some((one) => one.trim().replace(/^W\//, '') === file.tag)) {
    response.writeHead(304, own).end()
    return
  }
  const encoding = chooseEncoding(request.headers['accept-encoding'])
  sendBody(response, 200, file.contentType, file.bytes[encoding], {
    ...own,
    ...(encoding !== 'identity' && { 'Content-Encoding': encoding }),
  })
}

/** Returns the smallest encoding that the browser accepts. */
function chooseEncoding(accepted = ''): Encoding {
  const names = accepted.split(',').flatMap((one) => {
    const [name = '', ...parameters] = one.split(';').map((part) => part.trim().toLowerCase())
    return parameters.some((part) => /^q=0(?:\.0*)?$/.test(part)) ? [] : [name]
  })
  if (names.includes('br')) return 'br'
  return names.includes('gzip') ? 'gzip' : 'identity'
}
