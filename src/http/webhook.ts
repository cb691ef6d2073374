// Validates a webhook's URL and the secret that signs it.
import * as v from 'valibot'
import type { Issue } from '#error'
import { fits, isNotEmpty, wellFormedTextWithoutNul } from '#options'
import { hasPublicHost, hostOf, isAllowedAddress, portOf } from '#webhook-address'
import type { AddressRange } from '#webhook-address'

const secretLimitBytes = 256
const urlLimit = 8192
/** Four times what DNS allows. */
const hostLimit = 1024

export const webhookSecret = v.pipe(
  wellFormedTextWithoutNul,
  isNotEmpty,
  fits(secretLimitBytes),
  v.metadata({
    description:
      'The secret that signs the webhook. whsec_ + base64 is decoded; any other text is used as its UTF-8 bytes. At most 256 bytes of UTF-8.',
    minLength: 1,
    maxLength: secretLimitBytes,
  }),
)

/** Where workers may send webhooks. */
export interface WebhookRules {
  /** Ranges of non-public addresses that workers may reach. */
  readonly ranges: readonly AddressRange[]
  readonly ports: readonly number[]
}

const webhookUrl = v.pipe(
  wellFormedTextWithoutNul,
  v.metadata({
    description: `The URL to which the final record is POSTed, as Standard Webhooks 1.0 defines it. It must be an https: URL without a user name or password. Its host must not be localhost or the literal of an address that is not public, and has at most ${hostLimit.toLocaleString('en')} characters. Its port must be 443, unless the service's operator allows others.`,
    format: 'uri',
    maxLength: urlLimit,
  }),
)

/** The fields of a submission's or a batch's webhook. */
export const webhookEntries = {
  webhook_url: v.optional(webhookUrl),
  webhook_secret: v.optional(webhookSecret),
} as const

/**
 * Lists what is wrong with a webhook: it must have both address and secret, and the address must follow the rules.
 * @param url the address, if it is a text.
 * @param has true when a field is given, even if it is invalid by itself.
 */
export function* judgeWebhook(
  url: string | undefined,
  rules: WebhookRules,
  has: (name: string) => boolean,
): Generator<Issue> {
  for (const [path, other] of [
    ['webhook_secret', 'webhook_url'],
    ['webhook_url', 'webhook_secret'],
  ] as const)
    if (!has(path) && has(other)) yield { path, message: `is required with ${other}` }
  if (url === undefined) return
  for (const message of judgeUrl(url, rules)) yield { path: 'webhook_url', message }
}

/** Lists what is wrong with a URL. A URL with too long a host is not parsed, because parsing takes the square of its length. */
function judgeUrl(text: string, rules: WebhookRules): string[] {
  if (text.length > urlLimit) return [`is longer than ${urlLimit} characters`]
  if (authorityOf(text).length > hostLimit)
    return [`must not have a host of more than ${hostLimit} characters`]
  const url = URL.parse(text)
  if (url === null) return ['must be an https: URL']
  const faults: readonly (readonly [boolean, string])[] = [
    [url.protocol !== 'https:', 'must be an https: URL'],
    [url.username !== '' || url.password !== '', 'must not hold a user name or password'],
    [
      !hasPublicHost(url, rules.ranges) || !mayBeLocal(url, rules.ranges),
      'must not name an address that is not public',
    ],
    [
      !rules.ports.includes(portOf(url)),
      `must not have port ${portOf(url)}: the service's operator allows ${rules.ports.join(', ')}`,
    ],
  ]
  return faults.filter(([isSo]) => isSo).map(([, message]) => message)
}

/** Returns the part before an https: URL's path, even without slashes; other texts have no host. */
function authorityOf(text: string): string {
  // The URL parser drops these characters anywhere.
  const [first = '', second = ''] = text.replace(/[\t\n\r]/g, '').split(/[/\\?#]+/, 2)
  const rest = first.slice(first.indexOf(':') + 1)
  return rest === '' ? second : rest
}

/** False for a host that ends in `localhost`, which is always loopback (RFC 6761), unless loopback addresses are allowed. */
function mayBeLocal(url: URL, ranges: readonly AddressRange[]): boolean {
  if (!/(^|\.)localhost$/.test(hostOf(url))) return true
  return ['127.0.0.1', '::1'].some((address) => isAllowedAddress(address, ranges))
}
