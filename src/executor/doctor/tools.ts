// Examines the programs every worker needs: those that make boxes and drop root.
import { statSync } from 'node:fs'
import { askProgram, findProgram } from '#toolchain'
import { reportMissing, reportOk, reportWarning } from './finding.ts'
import type { Finding } from './finding.ts'
import type { Host } from './host.ts'

/** For `--disable-userns`. */
const oldestBubblewrap = [0, 8] as const

/** The worker's user, and how it becomes a slot's. */
export async function examineUser(host: Host): Promise<Finding[]> {
  if (host.uid !== 0)
    return [
      reportWarning(
        'user',
        `checked for a worker that is uid ${host.uid}, as this process is (\`make run\` starts it as root: sudo make doctor): all boxes share that uid, and its kernel quotas, with each other and the worker`,
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
    reportOk('user', `checked for a worker that is root; slots run as uid ${host.firstUid} and up`),
    succeeded
      ? reportOk('setpriv', text)
      : reportMissing('setpriv', text, 'apt-get install --reinstall util-linux'),
  ]
}

/** The shell that enters the cgroup, and the maker of pipes. */
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

/** There, new enough, and not set-uid. */
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
