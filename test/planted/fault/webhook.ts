// Faults in what a receiver gets, when, and where it may be.
import type { Fault } from '../fault.ts'

export const webhookFaults: readonly Fault[] = [
  {
    name: 'webhook: the signature does not cover the timestamp',
    text: "createHmac('sha256', keyOf(secret)).update(`${id}.${timestamp}.`).update(body)",
    instead: "createHmac('sha256', keyOf(secret)).update(`${id}.`).update(body)",
    tests: ['webhook/signature', 'job/deliver'],
  },
  {
    name: 'webhook: a base64 secret signs as its text',
    text: "if (encoded === undefined || encoded.length % 4 === 1) return Buffer.from(secret, 'utf8')",
    instead: "if (encoded !== '') return Buffer.from(secret, 'utf8')",
    tests: ['webhook/signature'],
  },
  {
    name: 'webhook: the third attempt comes after three minutes',
    text: "'5,300,1800,7200,18000,36000,36000'",
    instead: "'5,180,1800,7200,18000,36000,36000'",
    tests: ['webhook/retry'],
  },
  {
    name: 'webhook: Retry-After shortens a wait',
    text: 'return Math.max(delaySeconds, Math.min(retryAfterSeconds ?? 0, maxRetryAfterSeconds))',
    instead: 'return Math.min(retryAfterSeconds ?? delaySeconds, maxRetryAfterSeconds)',
    tests: ['webhook/retry'],
  },
  {
    name: 'webhook: Azure’s host agent may be reached',
    text: "'168.63.129.16/32',",
    instead: '',
    tests: ['webhook/address'],
  },
  {
    name: 'webhook: IPv6 outside of global unicast may be reached',
    text: "return address.kind() === 'ipv4' || isWithin(address, globalUnicastIPv6)",
    instead: 'return true',
    tests: ['webhook/address'],
  },
  {
    name: 'webhook: an IPv6 literal with a zone is an address',
    text: "if (!isIPv6(text) || text.includes('%')) return null",
    instead: 'if (!isIPv6(text)) return null',
    tests: ['webhook/address'],
  },
  {
    name: "webhook: this machine's own addresses may be reached",
    text: 'isWithin(parsed, allowedRanges) || (isPublic(parsed) && !isWithin(parsed, deniedRanges))',
    instead: 'isWithin(parsed, allowedRanges) || isPublic(parsed)',
    tests: ['webhook/connect'],
  },
  {
    name: 'webhook: any port may be reached',
    text: 'if (!settings.allowedPorts.includes(port)) {',
    instead: 'if (port < 1) {',
    tests: ['job/deliver'],
  },
  {
    name: 'webhook: a host has one place more than its bound',
    text: 'lane.taken > 0 && lane.taken + weight > limit',
    instead: 'lane.taken > 0 && lane.taken > limit',
    tests: ['webhook/concurrency-limit'],
  },
  {
    name: 'webhook: a receiver that is gone is asked again',
    text: "if (kind === 'gone') return { retrySeconds: null, abandonedBecause: 'gone' }",
    instead: '',
    tests: ['job/deliver'],
  },
  {
    name: 'webhook: a submission that we gave up is told of as completed',
    text: 'type: `submission.${record.status}`,',
    instead: "type: 'submission.completed',",
    tests: ['job/deliver'],
  },
  {
    name: 'webhook: two jobs of a delivery make two attempts',
    text: 'while (underWay.has(webhook)) await underWay.get(webhook)',
    instead: '',
    tests: ['job/deliver'],
  },
  {
    name: 'webhook: a secret outlives its delivery',
    text: 'secret = case when _next_attempt_at is not null then delivery.secret end,',
    instead: '',
    tests: ['job/deliver'],
  },
  {
    name: 'webhook: a replay goes on with a schedule that is spent',
    text: 'where e.stream_id = d.webhook_id and e.stream_version > head.replayed_version and',
    instead: 'where e.stream_id = d.webhook_id and',
    tests: ['cli/webhooks'],
  },
  {
    name: 'webhook: a delivery that is not due yet is made',
    text: '    and d.due_at <= now()\n    and d.secret is not null',
    instead: '    and d.secret is not null',
    tests: ['job/deliver'],
  },
]
