// Faults in keys, their rate windows and their accounts.
import type { Fault } from '../fault.ts'

export const accountFaults: readonly Fault[] = [
  {
    name: 'account: a mistyped key is not told by its checksum',
    text: 'return form.test(rest) && checksum(rest.slice(0, -6)) === rest.slice(-6)',
    instead: 'return form.test(rest)',
    tests: ['account/key'],
  },
  {
    name: 'account: a rotated key outlives the key it replaces',
    text: 'const ends = expiresAt ?? old.expires_at ?? undefined',
    instead: 'const ends = expiresAt',
    tests: ['account/account'],
  },
  {
    name: 'account: a rotation lengthens the life of the old key',
    text: "least(k.expires_at, (change_key.data ->> 'works_until')::timestamptz)",
    instead: "coalesce((change_key.data ->> 'works_until')::timestamptz, k.expires_at)",
    tests: ['http/access'],
  },
  {
    name: 'account: a revoked key is admitted',
    text: 'and k.role = admit_request.role\n    and k.revoked_at is null',
    instead: 'and k.role = admit_request.role',
    tests: ['http/access'],
  },
  {
    name: 'account: the rate window lets one more through',
    text: 'admitted := _used < quota;',
    instead: 'admitted := _used <= quota;',
    tests: ['http/rate-window'],
  },
  {
    name: 'account: a request that was refused is counted too',
    text: '    if admitted then\n      _entry := cardinality(_times);',
    instead: '    if true then\n      _entry := cardinality(_times);',
    tests: ['http/rate-window'],
  },
  {
    name: 'account: the time until the window admits again is that of its newest request',
    text: '_times[_entry] + interval',
    instead: '_times[cardinality(_times)] + interval',
    tests: ['http/rate-window'],
  },
  {
    name: 'account: requests that share an entry of the window count as one',
    text: '_counts[_entry] := _counts[_entry] + 1;',
    instead: '_counts[_entry] := 1;',
    tests: ['http/rate-window'],
  },
  {
    name: "account: a key's successor forgets its cell",
    text: 'readOnly, cell, ...successor }',
    instead: 'readOnly, ...successor }',
    tests: ['account/account'],
  },
]
