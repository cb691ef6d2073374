// Where a webhook goes, and the secret that signs it.
import * as v from 'valibot'
import { fits, isNotEmpty, wellFormedTextWithoutNul } from '#options'
import { hasPublicHost } from '#webhook-address'
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
      'Signs the webhook: whsec_ + base64 is decoded, any other text stands for its UTF-8 bytes. At most 256 bytes of UTF-8.',
    minLength: 1,
    maxLength: secretLimitBytes,
  }),
)

/** @param allowedRanges non-public ranges that it may reach. */
// eslint-disable-next-line typescript/explicit-module-boundary-types -- the type is the schema, told twice it would drift
export const webhookUrl = (allowedRanges: readonly AddressRange[]) =>
  v.pipe(
    wellFormedTextWithoutNul,
    v.rawCheck(({ dataset, addIssue }) => {
      if (!dataset.typed) return
      for (const message of judgeUrl(dataset.value, allowedRanges)) addIssue({ message })
    }),
    v.metadata({
      description: `Where the final record is POSTed, as Standard Webhooks 1.0 words it. https: only; no user name or password; no literal of an address that is not public; a host of at most ${hostLimit.toLocaleString('en')} characters. On a port that the service's workers may reach: 443, unless its operator allows others.`,
      format: 'uri',
      maxLength: urlLimit,
    }),
  )

/** Parsing takes the square of the host's length, so too long a URL is not parsed. */
function judgeUrl(text: string, allowedRanges: readonly AddressRange[]): string[] {
  if (text.length > urlLimit) return [`is longer than ${urlLimit} characters`]
  if (authorityOf(text).length > hostLimit)
    return [`must not have a host of more than ${hostLimit} characters`]
  const url = URL.parse(text)
  if (url === null) return ['must be an https: URL']
  const faults: readonly (readonly [boolean, string])[] = [
    [url.protocol !== 'https:', 'must be an https: URL'],
    [url.username !== '' || url.password !== '', 'must not hold a user name or password'],
    [!hasPublicHost(url, allowedRanges), 'must not name an address that is not public'],
  ]
  return faults.filter(([isSo]) => isSo).map(([, message]) => message)
}

/** The part before an https: URL's path, even without slashes; other texts have no host. */
function authorityOf(text: string): string {
  // The parser drops these anywhere.
  const [first = '', second = ''] = text.replace(/[\t\n\r]/g, '').split(/[/\\?#]+/, 2)
  const rest = first.slice(first.indexOf(':') + 1)
  return rest === '' ? second : rest
}
