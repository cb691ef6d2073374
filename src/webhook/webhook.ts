// The entry to webhooks: signs deliveries and sends them to untrusted receivers.
//
// A *delivery* is one notice to one receiver; an *attempt* is one try at it, signed with the present time under the
// same id, so that receivers can distinguish a repeat from a forgery. This folder makes one attempt and says when the next is
// due; job/deliver.ts records and queues.
//
// A stranger's URL could make this machine talk to its own network. Against that: the name is resolved once; if any
// address is not public, nothing is sent; the connection goes to a judged address; it is https, to an allowed port, with a
// verified certificate; redirects are not followed; no proxy, cookie, credential or earlier connection takes part.
// Against waste of time or memory: limits for DNS, connecting and the whole attempt, and 4 KiB of answer.
export { hasPublicHost, isAllowedAddress, ownAddresses, parseRanges } from './address.ts'
export { createConcurrencyLimit, type Bound } from './concurrency-limit.ts'
export { createResolver } from './resolve.ts'
export {
  maxRetryAfterSeconds,
  nextAttemptDelay,
  parseRetryAfter,
  retryScheduleSeconds,
} from './retry.ts'
export { sendDelivery, type DeliveryOutcome } from './send.ts'
export { createDeliverySettings, trustAuthorities, type DeliverySettings } from './settings.ts'
export { signDelivery } from './signature.ts'
