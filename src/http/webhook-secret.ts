// The secret that signs a webhook.
import * as v from 'valibot'
import { byteLength, wellFormedTextWithoutNul } from './text.ts'

const secretLimitBytes = 256

export const webhookSecret = v.pipe(
  wellFormedTextWithoutNul,
  v.check((text) => text !== '', 'must not be empty'),
  v.check(
    (text) => byteLength(text) <= secretLimitBytes,
    `is larger than ${secretLimitBytes} bytes of UTF-8`,
  ),
  v.metadata({
    description:
      'Signs the webhook: whsec_ + base64 is decoded, any other text stands for its UTF-8 bytes. At most 256 bytes of UTF-8.',
    minLength: 1,
    maxLength: secretLimitBytes,
  }),
)
