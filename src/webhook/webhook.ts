// The entry to webhooks: signs deliveries and sends them to untrusted receivers.
//
// A *delivery* is one notice to one receiver. An *attempt* is one try at it: all attempts have the same id, and each is
// signed with the present time, so that receivers can distinguish a repeat from a forgery. This folder makes one attempt
// and computes when the next is due. job/deliver.ts records attempts and queues them.
//
// A stranger's URL could make this machine talk to its own network. Against that, the name is resolved once, and if any
// address is not public, nothing is sent. The connection goes to a checked address, over https, to an allowed port, with a
// verified certificate. Redirects are not followed; no proxy, cookie, credential or earlier connection is used.
// Against waste of time and memory, DNS, connecting and the whole attempt have time limits, and 4 KiB of the answer are read.
export { parseRanges } from './address.ts'
export { createConcurrencyLimit, type Bound } from './concurrency-limit.ts'
export { nextAttemptDelay } from './retry.ts'
export { sendDelivery, type DeliveryOutcome } from './send.ts'
export { createDeliverySettings, trustAuthorities, type DeliverySettings } from './settings.ts'
