// Faults in how blobs are uploaded, named, kept and read.
import type { Fault } from '../fault.ts'

export const blobFaults: readonly Fault[] = [
  {
    name: 'blob: bytes are stored under a name that is not theirs',
    text: "if (hash.digest('hex') !== name) {",
    instead: 'if (false) {',
    tests: ['http/blob'],
  },
  {
    name: 'blob: an account finds another one’s',
    text: 'where account_id = ${accountId} and sha256 = any',
    instead: 'where sha256 = any',
    tests: ['http/blob'],
  },
  {
    name: 'blob: the last byte of a quota cannot be used',
    text: 'a.blob_bytes + runledger.count_blob(store_blob.bytes) <= _key.quota',
    instead: 'a.blob_bytes + runledger.count_blob(store_blob.bytes) < _key.quota',
    tests: ['http/blob'],
  },
  {
    name: 'blob: an empty one is free',
    text: 'select greatest(count_blob.bytes, 4096)',
    instead: 'select count_blob.bytes',
    tests: ['http/blob'],
  },
  {
    name: 'blob: uploads at once are not bounded',
    text: 'if (room.refuse(accountId, needed) !== null)\n',
    instead: 'if (false)\n',
    tests: ['http/blob'],
  },
  {
    name: 'blob: an upload has no longer to arrive than any request',
    text: 'if (isLate && exchanges.some(({ request }) => mayTakeLonger(request))) return',
    instead: '',
    tests: ['http/blob'],
  },
  {
    name: 'blob: a submission may name as many bytes as it likes',
    text: 'if (bytes > namedBytesMost) {',
    instead: 'if (bytes < 0) {',
    tests: ['http/blob'],
  },
  {
    name: 'blob: one that is there can be added to',
    text: ' and b.xmin = pg_current_xact_id()::xid',
    instead: '',
    tests: ['blob/purge'],
  },
  {
    name: 'blob: one that an unfinished submission names is purged',
    text: 'not exists (select from named n where ',
    instead: 'not exists (select from named n where false and ',
    tests: ['blob/purge'],
  },
  {
    name: 'blob: a purge waits for submissions that are being received',
    text: 'for update of b skip locked',
    instead: 'for update of b',
    tests: ['blob/purge'],
  },
  {
    name: 'blob: unused ones stay for ever',
    text: 'const blobs = await purgeBlobs(database, retentionDays, signal)',
    instead: 'const blobs = 0',
    tests: ['job/retention'],
  },
  {
    name: 'blob: a submission is received although what it names was just purged',
    text: "if receive.outcome = 'received' and receive.n = any (_lacking) then",
    instead: 'if false then',
    tests: ['blob/purge'],
  },
  {
    name: 'blob: naming one is no use of it',
    text: 'update runledger.blob b set used_at = now()\n  where (b.account_id',
    instead: 'update runledger.blob b set used_at = b.used_at\n  where (b.account_id',
    tests: ['blob/purge'],
  },
  {
    name: 'blob: a worker of the release before takes what names one',
    text: '[alone, ...tests].some(\n',
    instead: '[].some(\n',
    tests: ['job/demand'],
  },
  {
    name: 'blob: a file that a crash has damaged is run',
    text: 'known !== whole.length && !whole',
    instead: 'whole.length < 0 && !whole',
    tests: ['executor/blob-cache', 'executor/artefact-cache'],
  },
  {
    name: 'blob: what is fetched is not held against its name',
    text: "if (hash.digest('hex') !== name)\n    throw new SandboxError('blob.read'",
    instead: "if (parts.length < 0)\n    throw new SandboxError('blob.read'",
    tests: ['executor/blob-cache', 'http/blob-run'],
  },
  {
    name: 'blob: the cache is everybody’s',
    text: "hash('sha256', owner)",
    instead: "hash('sha256', '')",
    tests: ['executor/blob-cache'],
  },
]
