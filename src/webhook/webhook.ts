// The webhook door: signs deliveries and sends them to receivers that nobody vouches for.
//
// A *delivery* is one notice to one receiver; an *attempt* is one try at it. Each attempt is signed anew with the present
// time under the same id, so a receiver can tell a repeat from a forgery (Standard Webhooks 1.0). This folder makes one
// attempt and says when the next is due; who counts, records and queues attempts stands elsewhere.
//
// The receiver's URL is a stranger's choice, so it is a way to make this machine talk to its own network. Against that:
// the name is resolved once; if any address is not public, nothing is sent; the connection goes to an address that was
// judged, with no second look-up; it is https, to port 443, with the certificate held against the name; redirects are not
// followed; no proxy, cookie, credential or earlier connection takes part. Against receivers that waste our time or memory:
// limits for DNS, connecting and the whole attempt, and 4 KiB of answer at most.
export {
  hasPublicHost,
  isAllowedAddress,
  isPublicAddress,
  ownAddresses,
  parseRanges,
  type AddressRange,
  type ParsedRanges,
} from './address.ts'
export { createConcurrencyLimit, type Bound } from './concurrency-limit.ts'
export { createResolver, type Resolve, type ResolverOptions } from './resolve.ts'
export {
  maxRetryAfterSeconds,
  nextAttemptDelay,
  parseRetryAfter,
  retryScheduleSeconds,
  type RetryPolicy,
} from './retry.ts'
export { sendDelivery, type Delivery, type DeliveryKind, type DeliveryOutcome } from './send.ts'
export { createDeliverySettings, trustAuthorities, type DeliverySettings } from './settings.ts'
export {
  signDelivery,
  toleranceSeconds,
  verifyDelivery,
  type ReceivedDelivery,
  type SignatureHeaders,
  type SignedContent,
} from './signature.ts'
