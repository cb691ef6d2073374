// Sends submissions to a service over and over and waits for them; prints rate, latency and errors. Exit status: 0 if every
// submission got a result, 1 if some did not, 69 if none did.
//   node bench/load/load.ts [--clients N] [--seconds S] [--rate R] [--file FILE [--language NAME] [--stdin FILE]] [--json]
//     [--url URL] [--key-file FILE]    default: RUNLEDGER_URL, RUNLEDGER_API_KEY
import { parseArgs } from 'node:util'
import { CommandError } from '../../src/cli/command.ts'
import { readService } from '../../src/cli/service.ts'
import { measureService } from './report.ts'

const text = { type: 'string' } as const
const { values } = parseArgs({
  options: {
    /** How many clients submit at once. */
    clients: { ...text, default: '16' },
    seconds: { ...text, default: '10' },
    /** Submissions per second, however long they take. */
    rate: text,
    /** The program's file; a Python hello when left out. */
    file: text,
    language: text,
    stdin: text,
    json: { type: 'boolean', default: false },
    url: text,
    'key-file': text,
  },
})
const interrupted = new AbortController()
process.once('SIGINT', () => interrupted.abort())
try {
  const { stdin: stdinFile, url, 'key-file': keyFile, ...asked } = values
  const service = readService({ url, 'key-file': keyFile })
  process.exitCode = await measureService(
    { ...service, ...asked, stdinFile, signal: interrupted.signal },
    process,
  )
} catch (error) {
  if (!(error instanceof CommandError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = error.status
}
