// Plants faults that a user would notice, one after another, and reports which of them the tests detect. For each row of
// fault.ts it replaces the text in a copy of the checkout and runs the tests that the row names; each of them must fail.
// Before that, all of them must pass without a fault. Separate from `make test`, because it takes an hour.
//
// Usage: node test/planted/plant.ts [--suite FILE…] [--in DIRECTORY] [name…]
//   --suite FILE    run these test files instead of those that a row names: which faults does this file detect?
//   --in DIRECTORY  plant in that checkout's copy: which faults did an older revision's tests detect?
//   name            a part of a fault's name; several choose more; none: all
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { startTestCluster } from '../helper/database.ts'
import { copyCheckout } from './checkout.ts'
import type { Checkout } from './checkout.ts'
import { faults } from './fault.ts'
import type { Fault } from './fault.ts'
import { runTest } from './run-test.ts'

/** The result of a planted fault; `void`: the row itself needs a repair. */
type Finding = 'found' | 'NOT FOUND' | 'void'

const ownCheckout = resolve(import.meta.dirname, '../..')
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    suite: { type: 'string', multiple: true, default: [] },
    in: { type: 'string', default: ownCheckout },
  },
})
const chosen = faults.filter(
  ({ name }) => positionals.length === 0 || positionals.some((part) => name.includes(part)),
)

const cluster = await startTestCluster()
// This cluster's template was made from this checkout's SQL, so other checkouts cannot use it.
const sharedUrl = resolve(values.in) === ownCheckout ? cluster.url : null
const checkout = copyCheckout(resolve(values.in))
const interrupted = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => interrupted.abort(new Error(signal)))
try {
  process.exitCode = await plantAll()
} catch (error) {
  if (!interrupted.signal.aborted) throw error
  process.exitCode = 130
} finally {
  checkout.remove()
  await cluster.stop()
}

async function plantAll(): Promise<number> {
  const red = new Set<string>()
  const files = new Set(chosen.flatMap((fault) => testsOf(checkout, fault) ?? []))
  for (const file of files) {
    const { isGreen, seconds } = await test(file, sharedUrl)
    if (!isGreen) red.add(file)
    say(`${isGreen ? 'green' : 'RED'} without a fault: ${file} (${seconds} s)`)
  }
  const findings: Record<Finding, string[]> = { found: [], 'NOT FOUND': [], void: [] }
  for (const fault of chosen) {
    const { finding, remark } = await plant(fault, red)
    findings[finding].push(fault.name)
    say(`${finding}: ${fault.name} (${remark})`)
  }
  for (const [finding, names] of Object.entries(findings)) {
    if (finding !== 'found') for (const name of names) say(`${finding}: ${name}`)
  }
  say(
    `# planted: ${findings.found.length} found, ${findings['NOT FOUND'].length} not found, ${findings.void.length} void`,
  )
  return findings.found.length === chosen.length ? 0 : 1
}

async function plant(
  fault: Fault,
  red: ReadonlySet<string>,
): Promise<{ finding: Finding; remark: string }> {
  const tests = testsOf(checkout, fault)
  if (tests === null) return { finding: 'void', remark: `no test ${fault.tests.join(' ')}` }
  const spoilt = tests.filter((file) => red.has(file))
  if (spoilt.length > 0) return { finding: 'void', remark: `red without it: ${spoilt.join(' ')}` }
  const places = checkout.find(fault.text)
  const [place] = places
  if (place === undefined || places.length > 1)
    return { finding: 'void', remark: `its text occurs ${places.length} times` }

  const restore = checkout.replace(place, fault.text, fault.instead)
  try {
    // The shared template also lacks a fault in SQL or a migration, so only other faults use it.
    const clusterUrl = place.startsWith('src/') && !/migration/.test(place) ? sharedUrl : null
    const remarks: string[] = []
    let finding: Finding = 'found'
    for (const file of tests) {
      const { isGreen, isSyntaxError, seconds } = await test(file, clusterUrl)
      if (isGreen) finding = 'NOT FOUND'
      if (isSyntaxError) finding = 'void'
      remarks.push(
        `${file} ${isSyntaxError ? 'is no program' : isGreen ? 'green' : 'red'} ${seconds} s`,
      )
    }
    return { finding, remark: `${place}; ${remarks.join(', ')}` }
  } finally {
    restore()
  }
}

function test(file: string, clusterUrl: string | null): ReturnType<typeof runTest> {
  return runTest(checkout.directory, file, clusterUrl, interrupted.signal)
}

/** Returns the files that a row names; null when one of them does not exist. */
function testsOf({ findTest }: Checkout, fault: Fault): string[] | null {
  if (values.suite.length > 0) return values.suite
  const files = fault.tests.map(findTest)
  return files.every((file) => file !== null) ? files : null
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
