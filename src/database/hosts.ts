// Finds the host that takes writes when DATABASE_URL names several. After a failover it is another, so both drivers ask here
// before they open a connection. All hosts are asked at once, because a frozen host asked in turn would cost its time limit.
import postgres from 'postgres'
import { untilAborted, withinSeconds } from '#abort'
import { isUnavailable, sqlState } from './sql-state.ts'

export interface Host {
  /** The URL with this host alone. */
  readonly url: string
  readonly host: string
  readonly port: number
}

const defaultPort = 5432
const askSeconds = 2
// Connections that a pool opens together share an answer.
const keptMilliseconds = 500
const answers = new Map<string, Promise<Host>>()

/** Returns the URL once for each of its hosts, with that host alone. */
export function splitHosts(url: string): [string, ...string[]] {
  const start = url.indexOf('://') + '://'.length
  const end = url.slice(start).search(/[/?#]/)
  const authority = end < 0 ? url.slice(start) : url.slice(start, start + end)
  const from = start + authority.lastIndexOf('@') + 1
  const to = start + authority.length
  const [first = '', ...more] = url.slice(from, to).split(',')
  const name = (host: string): string => url.slice(0, from) + host + url.slice(to)
  return [name(first), ...more.map(name)]
}

/**
 * Finds the host that takes writes. A single host is not asked.
 * @throws the error of a refused login, if there is one, rather than that of an unreachable host.
 */
export function findWritable(url: string): Promise<Host> {
  const urls = splitHosts(url)
  if (urls.length === 1) return Promise.resolve(readHost(urls[0]))
  const earlier = answers.get(url)
  if (earlier !== undefined) return earlier
  const answer = askAll(urls)
  answers.set(url, answer)
  const forget = (): void => void setTimeout(() => answers.delete(url), keptMilliseconds).unref()
  answer.then(forget, forget)
  return answer
}

async function askAll(urls: readonly string[]): Promise<Host> {
  try {
    return await Promise.any(urls.map(ask))
  } catch (error) {
    const { errors } = error as AggregateError
    throw errors.find((each) => !isUnavailable(each)) ?? errors[0]
  }
}

/** Asks one host. @throws unless it takes writes. */
async function ask(url: string): Promise<Host> {
  const { host, port } = readHost(url)
  const sql = postgres(url, {
    max: 1,
    connect_timeout: askSeconds,
    fetch_types: false,
    connection: { application_name: 'runledger hosts' },
  })
  try {
    const asked = sql`select pg_is_in_recovery() as "isStandby"`.simple()
    const [row] = await withinSeconds(
      (signal) => untilAborted(asked, signal),
      askSeconds,
      () => fail('CONNECT_TIMEOUT', `${host}:${port} does not answer`),
    )
    if (row?.['isStandby'] === false) return { url, host, port }
    throw fail(sqlState.readOnly, `${host}:${port} takes no writes: it is a standby`)
  } finally {
    void sql.end({ timeout: 0 })
  }
}

function readHost(url: string): Host {
  const { hostname, port } = new URL(url)
  return { url, host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || defaultPort) }
}

function fail(code: string, message: string): Error {
  return Object.assign(new Error(message), { code })
}
