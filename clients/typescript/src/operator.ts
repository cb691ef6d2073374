// The API of an operator's key: the overview of the whole service, commands to workers, bulk actions, and the ledger.
import { pause } from './retry.ts'

/** Sends a request; a client has this function, and a page may have its own. The path has no leading slash. */
export type OperatorCall = (
  method: 'GET' | 'POST',
  path: string,
  request?: { readonly body?: unknown; readonly signal?: AbortSignal },
) => Promise<unknown>

/** Times are RFC 3339 in UTC, ages and durations are seconds. A limit of null means no limit. */
export interface Overview {
  readonly at: string
  /** The key may only read. */
  readonly read_only: boolean
  /** The submission that has waited longest; null when none waits. */
  readonly oldest: {
    readonly id: string
    readonly seconds: number
    readonly language: string
    readonly account: string | null
    readonly priority: 'normal' | 'low'
  } | null
  readonly load: {
    /** Submissions that wait because their key is at its limit. */
    readonly waiting: number
    /** Submissions that wait for a worker. */
    readonly queued: number
    readonly running: number
    readonly oldest_waiting_seconds: number
    readonly oldest_queued_seconds: number
    readonly workers: number
    readonly suspended_workers: number
    readonly paused_workers: number
    readonly slots: number
    readonly deliveries_pending: number
  }
  readonly languages: readonly {
    readonly language: string
    readonly waiting: number
    /** How many of the waiting submissions have low priority. */
    readonly low: number
    readonly running: number
    readonly oldest_seconds: number
  }[]
  /** The twenty accounts with the most unfinished submissions. */
  readonly accounts: readonly BusyAccount[]
  readonly workers: readonly SeenWorker[]
  readonly recent: RecentEnds
  readonly ledger: LedgerHealth
  /** Requests that the answering process refused, by error code. */
  readonly refusals: { readonly seconds: number; readonly counts: Readonly<Record<string, number>> }
}

export interface SeenWorker {
  readonly id: string
  readonly host: string
  readonly pid: number
  readonly state: 'working' | 'suspended' | 'paused' | 'draining' | 'restarting' | 'gone'
  readonly wanted: 'working' | 'paused' | 'drained' | 'restarted'
  readonly version: string | null
  readonly box: string | null
  readonly cgroup: string | null
  readonly slots: number
  readonly busy: number
  readonly started_at: string
  readonly heartbeat_seconds: number
  readonly suspended_at: string | null
  readonly suspended_because: string | null
  readonly languages: readonly string[]
}

export interface BusyAccount {
  readonly id: string
  readonly name: string
  readonly waiting: number
  readonly running: number
  readonly blob_bytes: number
  readonly keys: readonly {
    readonly id: string
    readonly label: string
    readonly name: string | null
    readonly tier: string
    readonly unfinished: number
    readonly admitted: number
    readonly concurrent_executions: number | null
    /** Requests in the last 60 seconds. */
    readonly requests: number
    readonly requests_per_minute: number | null
    readonly blob_bytes: number | null
  }[]
}

export interface Percentiles {
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

export interface RecentEnds {
  /** How far back the figures reach. */
  readonly seconds: number
  readonly received: number
  readonly ended: number
  readonly waited: Percentiles | null
  readonly ran: Percentiles | null
  readonly took: Percentiles | null
  readonly verdicts: Readonly<Record<string, number>>
  readonly languages: Readonly<Record<string, number>>
}

export interface LedgerHealth {
  readonly drift: number
  readonly broken_chain: number
  readonly invariant: number
  readonly checked_at: string | null
  readonly walked_at: string | null
  readonly walked_up_to: string
  readonly suspects: readonly string[]
}

/** Three hours, with a point for each two minutes. */
export interface Series {
  readonly at: string
  readonly step_seconds: number
  /** The share of the time that was read; below 1 the counts are estimates. */
  readonly share: number
  /** The last point is not complete yet. */
  readonly points: readonly SeriesPoint[]
}

export interface SeriesPoint {
  readonly at: string
  readonly seconds: number
  readonly received: number
  readonly ended: number
  /** Submissions that failed by the service's own fault. */
  readonly failed: number
  /** Submissions waiting at the end of the step. */
  readonly waiting: number
  /** Of the submissions received in the step. */
  readonly waited_p95: number | null
  /** Requests that the answering process refused. */
  readonly refused: number
}

export type OrderWord = 'pause' | 'drain' | 'restart' | 'resume'

export interface CommandedWorker {
  readonly id: string
  readonly host: string
  readonly state: SeenWorker['state']
  readonly wanted: SeenWorker['wanted']
  /** false: the worker was already in this state, or it drains or restarts. */
  readonly changed: boolean
}

export interface BulkRequest {
  readonly action: 'cancel' | 'rerun' | 'replay'
  /** Submissions must match all given fields: since, until, account (its name), language, status, verdict, tag, webhook. */
  readonly filter: Readonly<Record<string, string>>
  /** For rerun: under one campaign name each submission is repeated once. */
  readonly campaign?: string
  /** For rerun: the most submissions of the campaign that are under way at once; 10 unless given. */
  readonly at_once?: number
  /** For replay: the new secret that signs the webhooks. */
  readonly secret?: string
}

export interface Skipped {
  readonly done: number
  readonly purged: number
  readonly not_offered: number
}

export interface BulkSum {
  /** How many submissions were, or would be, changed. */
  readonly count: number
  /** For rerun: repeated before under its campaign; without code any more; in a language that no worker has. */
  readonly skipped: Skipped
  /** Later submissions do not count. As the filter's `until`, it selects the same submissions again. */
  readonly until: string
}

/** The result of a walk through the ledger. */
export interface Verified {
  readonly events: number
  readonly found: number
  /** The first ten streams with a finding. */
  readonly suspects: readonly string[]
}

export interface StepOptions<Sum> {
  readonly signal?: AbortSignal
  /** Called after each step with the sum so far. When verifying, `share` is the verified part of the ledger, from 0 to 1. */
  readonly onStep?: (soFar: Sum, share: number) => void
}

export interface Webhook {
  readonly webhook_id: string
  /** null when the webhook belongs to a batch. */
  readonly submission_id: string | null
  readonly batch_id: string | null
  readonly account: string | null
  readonly receiver: string | null
  readonly state: string
  readonly attempts: number
  readonly next_attempt_at: string | null
  readonly abandoned_because: string | null
}

export interface WebhookEvent {
  readonly version: number
  readonly type: string
  readonly at: string
  readonly data: Readonly<Record<string, unknown>>
  readonly metadata: Readonly<Record<string, unknown>>
}

/** A page of a campaign, in the order of the original submissions. */
export interface RerunPage {
  readonly repeated: number
  readonly unfinished: number
  readonly cancelled: number
  /** Compares outputs of submissions without an expected output, by stdout, exit code and signal. */
  readonly outputs: { readonly same: number; readonly differs: number; readonly not_known: number }
  /** Reruns with a different verdict or output. */
  readonly changes: readonly Readonly<Record<string, unknown>>[]
  readonly next: string | null
}

/** What matches the text that was looked up: at most 20 of each kind. */
export interface Found {
  readonly submissions: readonly {
    readonly id: string
    readonly account: string | null
    /** The first characters of the submission's key. */
    readonly api_key: string | null
    readonly language: string
    readonly status: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled'
    readonly verdict: 'AC' | 'WA' | 'CE' | 'RE' | 'TLE' | 'MLE' | 'OLE' | 'IE' | null
    readonly created_at: string
    readonly started_at: string | null
    readonly finished_at: string | null
  }[]
  readonly accounts: readonly {
    readonly id: string
    readonly name: string
    readonly created_at: string
    readonly blob_bytes: number
  }[]
  readonly keys: readonly {
    readonly id: string
    readonly account: string
    readonly label: string
    readonly name: string | null
    readonly tier: string
    readonly role: 'submit' | 'operator'
    readonly created_at: string
    readonly expires_at: string | null
    readonly revoked_at: string | null
  }[]
}

type Rows = readonly Readonly<Record<string, unknown>>[]

export interface Operator {
  /** @param text a submission's id, an account's name, or a key's name or first 12 characters. */
  find(text: string): Promise<Found>
  /** @param options.gone includes workers that ended in the last day. */
  workers(options?: { readonly gone?: boolean }): Promise<Rows>
  running(): Promise<Rows>
  /** Lists webhooks, newest first, from as many pages as needed. */
  webhooks(options: {
    readonly state?: string
    readonly limit: number
  }): Promise<readonly Webhook[]>
  /** Reads a webhook by its id or its submission's id. */
  webhook(
    id: string,
  ): Promise<{ readonly webhook: Webhook; readonly events: readonly WebhookEvent[] }>
  /** Sends a delivered or abandoned webhook again, signed with this secret. */
  replay(id: string, secret: string): Promise<object>
  /** Reads a page of a campaign. With `account`, throws 404 unless an account has this name. */
  reruns(page: {
    readonly campaign: string
    readonly after?: string | null
    readonly account?: string
  }): Promise<RerunPage>
  overview(options?: { readonly signal?: AbortSignal }): Promise<Overview>
  series(options?: { readonly signal?: AbortSignal }): Promise<Series>
  /** Commands a worker, which obeys at its next heartbeat. */
  order(worker: string, word: OrderWord): Promise<CommandedWorker>
  /** Counts the matching submissions and changes nothing. */
  count(request: BulkRequest, options?: StepOptions<BulkSum>): Promise<BulkSum>
  /** Runs the action step by step until all submissions were looked at. */
  act(request: BulkRequest, options?: StepOptions<BulkSum>): Promise<BulkSum>
  /** Verifies the whole ledger. */
  verify(options?: StepOptions<Verified>): Promise<Verified>
}

const busyMilliseconds = 200
const webhooksOfPage = 100

/** @param client with an operator's key, such as `createClient` makes. */
export function createOperator({ call }: { readonly call: OperatorCall }): Operator {
  const path = 'api/operator/'
  const takeStep = async (
    isDry: boolean,
    request: object,
    signal: AbortSignal | undefined,
    after: string | null = null,
  ): Promise<BulkStep> => {
    const body = { ...request, dry_run: isDry, after }
    return (await call('POST', `${path}bulk`, withSignal(signal, body))) as BulkStep
  }
  const takeSteps = async (
    isDry: boolean,
    request: BulkRequest,
    { signal, onStep }: StepOptions<BulkSum> = {},
  ): Promise<BulkSum> => {
    let { filter } = request
    let after: string | null = null
    let count = 0
    let skipped = none
    for (;;) {
      const step: BulkStep = await takeStep(isDry, { ...request, filter }, signal, after)
      const { until } = step
      count += step.count
      skipped = add(skipped, step.skipped ?? none)
      const sum = { count, skipped, until }
      onStep?.(sum, 0)
      if (step.next === null) return sum
      after = step.next
      filter = { ...filter, until }
      if (step.busy) await pause(busyMilliseconds, signal)
    }
  }
  const get = async (name: string, query: object = {}): Promise<unknown> => {
    const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null)
    return call(
      'GET',
      `${path}${name}?${new URLSearchParams(given as [string, string][]).toString()}`,
    )
  }
  return {
    find: async (text) => (await get('find', { q: text })) as Found,
    workers: async (options = {}) =>
      ((await get('workers', options)) as { readonly workers: Rows }).workers,
    running: async () => ((await get('running')) as { readonly running: Rows }).running,
    async webhooks({ state, limit }) {
      const rows: Webhook[] = []
      for (;;) {
        const most = Math.min(webhooksOfPage, limit - rows.length)
        const before = rows.at(-1)?.webhook_id
        const page = await get('webhooks', { state, before, limit: most })
        const { webhooks } = page as { readonly webhooks: readonly Webhook[] }
        rows.push(...webhooks)
        if (webhooks.length < most || rows.length >= limit) return rows
      }
    },
    webhook: async (id) =>
      (await get(`webhooks/${encodeURIComponent(id)}`)) as {
        readonly webhook: Webhook
        readonly events: readonly WebhookEvent[]
      },
    replay: async (id, secret) =>
      (await call('POST', `${path}webhooks/${encodeURIComponent(id)}/replay`, {
        body: { secret },
      })) as object,
    reruns: async (page) => (await get('reruns', page)) as RerunPage,
    overview: async ({ signal } = {}) =>
      (await call('GET', `${path}overview`, withSignal(signal))) as Overview,
    series: async ({ signal } = {}) =>
      (await call('GET', `${path}series`, withSignal(signal))) as Series,
    order: async (worker, word) =>
      (await call(
        'POST',
        `${path}workers/${encodeURIComponent(worker)}/${word}`,
      )) as CommandedWorker,
    count: (request, options) => takeSteps(true, request, options),
    async act(request, options = {}) {
      if (request.filter['until'] !== undefined) return takeSteps(false, request, options)
      // Fixes `until` first, because a first step whose answer is lost is sent again and must look at the same submissions.
      const { until } = await takeStep(true, { ...request, secret: undefined }, options.signal)
      return takeSteps(false, { ...request, filter: { ...request.filter, until } }, options)
    },
    async verify({ signal, onStep } = {}) {
      let sum: Verified = { events: 0, found: 0, suspects: [] }
      let after: string | null = null
      for (;;) {
        const body: object = { after }
        const step = (await call('POST', `${path}verify`, withSignal(signal, body))) as VerifyStep
        sum = {
          events: sum.events + step.events,
          found: sum.found + step.drift + step.broken_chain + step.invariant,
          suspects: [...sum.suspects, ...step.suspects].slice(0, 10),
        }
        if (step.share !== null) onStep?.(sum, step.share)
        if (step.next === null && !step.busy) return sum
        after = step.next
        if (step.busy) await pause(busyMilliseconds, signal)
      }
    },
  }
}

const none: Skipped = { done: 0, purged: 0, not_offered: 0 }

function add(one: Skipped, other: Skipped): Skipped {
  return {
    done: one.done + other.done,
    purged: one.purged + other.purged,
    not_offered: one.not_offered + other.not_offered,
  }
}

interface BulkStep extends Omit<BulkSum, 'skipped'> {
  /** Absent in the answer of an older service. */
  readonly skipped?: Skipped
  readonly next: string | null
  readonly busy: boolean
}

interface VerifyStep {
  readonly events: number
  readonly drift: number
  readonly broken_chain: number
  readonly invariant: number
  readonly suspects: readonly string[]
  readonly next: string | null
  readonly share: number | null
  readonly busy: boolean
}

function withSignal(signal: AbortSignal | undefined, body?: object): object {
  return { ...(body !== undefined && { body }), ...(signal !== undefined && { signal }) }
}
