// The Jobe door with the test program of Jobe's author, where GitHub can be reached.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { fetchJobeTest } from './clients.ts'
import { startDoorService } from './service.ts'

/** The tests whose results differ from Jobe; docs/doors.md explains each. */
const different = [
  'Testing use of interpreter args with Python3',
  // Fails where pylint is not installed.
  'Valid Python3/pylint program',
  'Memory limit exceeded in C (seg faults)',
  'Infinite recursion (stack error) on C',
  'Testing overload exception',
]

const program = await fetchJobeTest()
const skip = program === null ? 'GitHub cannot be reached' : false

t.test('testsubmit.py of Jobe', { skip }, async (t) => {
  const languages = 'c,cpp,java,javascript,octave,pascal,php,python'
  const { startProxy } = await startDoorService(t, languages)
  const { port } = new URL(await startProxy())
  // The exit status is the number of failures.
  const { stdout } = await promisify(execFile)(
    'python3',
    [program ?? '', '--host', '127.0.0.1', '--port', port],
    { timeout: 600_000 },
  ).catch((error: { readonly stdout: string }) => error)
  const failed = stdout.matchAll(/FAILED TEST \*+\n\n.*\n(.*)\n/g)
  t.strictSame(
    Array.from(failed, ([, name]) => name),
    different,
  )
  t.match(stdout, `43 tests, ${43 - different.length} passed`)
})
