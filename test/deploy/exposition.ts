// Reads the /metrics of a real web process after each kind of event has happened, and finds names in PromQL that it lacks.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '#database'
import { finish, interrupt, recordDelivery, startExecution } from '../helper/execution.ts'
import { createCaller, describeSubmission, submitNew } from '../helper/submission.ts'

/** The labels of each series, by its name. */
export type Samples = ReadonlyMap<string, readonly ReadonlyMap<string, string>[]>

/** Causes events so that every series exists. @returns /metrics once they are counted. */
export async function readExposition(sql: Database, port: number): Promise<string> {
  const address = `http://127.0.0.1:${port}`
  const read = async (): Promise<string> => (await fetch(`${address}/metrics`)).text()
  await read()
  await fetch(`${address}/api/submissions`) // refused: there is no key
  const caller = await createCaller(sql)
  const webhook = { url: 'https://a.test/', secret: 's' }
  const id = await submitNew(sql, caller, describeSubmission({ code: '', webhook }))
  await finish(sql, id)
  await recordDelivery(sql, id, { outcome: 'refused', status: 500, retrySeconds: 60 })
  const lost = await submitNew(sql, caller, describeSubmission({ code: '' }))
  await interrupt(sql, lost, Number(await startExecution(sql, lost)))
  // An event is counted once no older transaction runs on the whole server, and other test files have transactions there.
  for (let left = 600; left > 0; left -= 1) {
    const text = await read()
    if (text.includes('\nrunledger_rescues_total{')) return text
    await sleep(50)
  }
  throw new Error('what happened is not counted')
}

/** Reads the text exposition format. */
export function readSamples(text: string): Samples {
  const samples = new Map<string, ReadonlyMap<string, string>[]>()
  for (const [, name = '', labels = ''] of text.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)) {
    const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)]
    const series = new Map(pairs.map(([, label = '', value = '']) => [label, value]))
    samples.set(name, [...(samples.get(name) ?? []), series])
  }
  return samples
}

// Prometheus adds these labels to everything that it scrapes.
const scraped = ['job', 'instance']

/** Returns the names, labels and label values in a PromQL text that no series has. */
export function findStrange(text: string, samples: Samples): string[] {
  const strange: string[] = []
  const known = new Set(scraped)
  for (const [, name = '', selector = ''] of text.matchAll(/\b(runledger_\w+)(?:\{([^}]*)\})?/g)) {
    const series = samples.get(name) ?? []
    if (series.length === 0) strange.push(name)
    for (const label of series.flatMap((labels) => [...labels.keys()])) known.add(label)
    for (const [matcher, label = '', value] of selector.matchAll(/(\w+)!?="([^"]*)"/g)) {
      const stands = scraped.includes(label) || series.some((labels) => labels.get(label) === value)
      if (!stands) strange.push(`${name}{${matcher}}`)
    }
  }
  for (const [by, list = ''] of text.matchAll(/\bby \(([^)]*)\)/g))
    if (!list.split(', ').every((label) => known.has(label))) strange.push(by)
  return strange
}
