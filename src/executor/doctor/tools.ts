// Examines the programs a worker needs: the box's maker, the one that drops root, and each language's tools.
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Finding } from './finding.ts'
import { reportMissing, reportOk, reportWarning } from './finding.ts'
import type { Host } from './host.ts'
import { askProgram, findProgram } from './host.ts'

/** `--disable-userns` came with 0.8. */
const oldestBubblewrap = [0, 8] as const

/** The worker's user, and how it becomes a slot's. */
export async function examineUser(host: Host): Promise<Finding[]> {
  if (host.uid !== 0)
    return [
      reportWarning(
        'user',
        `the worker is uid ${host.uid}: all boxes share that uid, and its kernel quotas, with each other and the worker`,
        'run the worker as root: it then gives every slot a uid of its own and runs nothing of a submission as root',
      ),
    ]
  const setpriv = findProgram(host, 'setpriv')
  if (setpriv === null)
    return [
      reportMissing(
        'setpriv',
        'not found; root cannot become a slot’s user',
        'apt-get install util-linux',
      ),
    ]
  const { succeeded, text } = await askProgram(setpriv, ['--version'])
  return [
    reportOk('user', `root; slots run as uid ${host.firstUid} and up`),
    succeeded
      ? reportOk('setpriv', text)
      : reportMissing('setpriv', text, 'apt-get install --reinstall util-linux'),
  ]
}

/** What the worker starts a box with besides: a shell that enters the cgroup, and the maker of its pipes. */
export function examineTools(host: Host): Finding[] {
  const tools = [
    ['sh', 'dash'],
    ['mkfifo', 'coreutils'],
  ] as const
  return tools.map(([name, debianPackage]) => {
    const program = findProgram(host, name)
    return program === null
      ? reportMissing(name, 'not found', `apt-get install ${debianPackage}`)
      : reportOk(name, program)
  })
}

/** bubblewrap: there, new enough, and without a set-uid bit. */
export async function examineBubblewrap(host: Host): Promise<Finding> {
  const name = 'bubblewrap'
  const program = findProgram(host, 'bwrap')
  if (program === null) return reportMissing(name, 'bwrap not found', 'apt-get install bubblewrap')
  if ((statSync(program).mode & 0o6000) !== 0)
    return reportMissing(
      name,
      `${program} is set-uid: whoever breaks it is root (CVE-2020-5291, CVE-2026-41163)`,
      `chmod u-s,g-s ${program}`,
    )
  const { succeeded, text } = await askProgram(program, ['--version'])
  const version = /^bubblewrap (\d+)\.(\d+)(?:\.\d+)?$/mu.exec(text)
  if (!succeeded || version === null)
    return reportMissing(
      name,
      `${program} --version: ${text}`,
      'apt-get install --reinstall bubblewrap',
    )
  const major = Number(version[1])
  const minor = Number(version[2])
  if (major < oldestBubblewrap[0] || (major === oldestBubblewrap[0] && minor < oldestBubblewrap[1]))
    return reportMissing(
      name,
      `${text} is older than ${oldestBubblewrap.join('.')}`,
      'upgrade to Debian ≥ 12 or Ubuntu ≥ 23.04, or build bubblewrap ≥ 0.8 from source into /usr/bin',
    )
  return reportOk(name, text)
}

/** python3, g++, javac and java, each with its exact version. */
export async function examineLanguages(host: Host): Promise<Finding[]> {
  const found = await Promise.all([
    examineTool(host, 'python3', ['--version'], /^Python (\d+)\.(\d+)\.\S+/mu, [3, 6], 'python3'),
    // -std=gnu++20 is GCC 10's word for it.
    examineTool(host, 'g++', ['--version'], /^.*\s(\d+)\.(\d+)\.\d+.*$/mu, [10, 0], 'g++'),
    examineTool(host, 'javac', ['-version'], /^javac (\d+)(?:\.(\d+))?\S*/mu, [11, 0], javaPackage),
    examineTool(
      host,
      'java',
      ['-version'],
      /^.*version "(\d+)(?:\.(\d+))?[^"]*".*$/mu,
      [11, 0],
      javaPackage,
    ),
  ])
  return found.map(({ finding }) => finding).concat(compareJava(found[2]?.major, found[3]?.major))
}

const javaPackage = 'default-jdk-headless'

interface Tool {
  readonly finding: Finding
  /** Null when it is missing. */
  readonly major: number | null
}

async function examineTool(
  host: Host,
  name: string,
  options: readonly string[],
  pattern: RegExp,
  oldest: readonly [number, number],
  debianPackage: string,
): Promise<Tool> {
  const install = `apt-get install ${debianPackage}`
  const program = findJavaProgram(host, name) ?? findProgram(host, name)
  if (program === null) return { finding: reportMissing(name, 'not found', install), major: null }
  const { succeeded, text } = await askProgram(program, options)
  const version = pattern.exec(text)
  if (!succeeded || version === null) {
    const detail = `${program} ${options.join(' ')}: ${text.split('\n')[0]}`
    return {
      finding: reportMissing(name, detail, `apt-get install --reinstall ${debianPackage}`),
      major: null,
    }
  }
  const major = Number(version[1])
  const isOld = major < oldest[0] || (major === oldest[0] && Number(version[2] ?? 0) < oldest[1])
  const finding = isOld
    ? reportMissing(name, `${version[0].trim()} is older than ${oldest.join('.')}`, install)
    : reportOk(name, `${version[0].trim()} (${program})`)
  return { finding, major }
}

/** The program of the newest JDK that has both; the executor too takes both from there, on the path or not. */
function findJavaProgram(host: Host, name: string): string | null {
  if (!name.startsWith('java') || !existsSync(host.javaDirectory)) return null
  const homes = readdirSync(host.javaDirectory)
    .map((home) => join(host.javaDirectory, home))
    .filter((home) => ['java', 'javac'].every((tool) => existsSync(join(home, 'bin', tool))))
    .map((home) => ({ home, version: readJavaRelease(home) }))
    .toSorted((left, right) => right.version - left.version)
  return homes[0] === undefined ? null : join(homes[0].home, 'bin', name)
}

/** Major version by a JDK's `release` file; 0 when it does not say. */
function readJavaRelease(home: string): number {
  try {
    const text = readFileSync(join(home, 'release'), 'utf8')
    return Number(/^JAVA_VERSION="(\d+)/mu.exec(text)?.[1] ?? 0)
  } catch {
    return 0
  }
}

/** A JVM refuses classes of a newer compiler: every Java submission would fail. */
function compareJava(compiler?: number | null, runtime?: number | null): Finding[] {
  if (typeof compiler !== 'number' || typeof runtime !== 'number' || compiler <= runtime) return []
  return [
    reportMissing(
      'java versions',
      `javac ${compiler} writes classes that java ${runtime} refuses`,
      `update-alternatives --config java (choose ${compiler})`,
    ),
  ]
}
