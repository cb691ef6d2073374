// Examines what keepers need beyond what every box does: a newer kernel, and a C compiler with its library.
// Warnings alone: where one is missing the worker says so and makes each box with bubblewrap, which costs time only.
import { existsSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import type { Finding } from './finding.ts'
import { reportOk, reportWarning } from './finding.ts'
import type { Host } from './host.ts'
import { askProgram, findProgram, readProcessFile } from './host.ts'
import { compileOptions, programSources, sourceDirectory } from './keeper-program.ts'

/** mount_setattr came with 5.12, cgroup.kill with 5.14; clone3, fsopen and close_range are older. */
const oldestKernel = [5, 14] as const

const consequence = 'boxes are made by bubblewrap, some milliseconds slower'

/** The kernel's version, and whether the keeper's own source compiles here. */
export async function examineKeeper(host: Host): Promise<Finding[]> {
  return [examineRelease(host), await examineCompiler(host)]
}

function examineRelease(host: Host): Finding {
  const name = 'keeper kernel'
  const release = readProcessFile(host, 'sys/kernel/osrelease') ?? 'unknown'
  const [major = 0, minor = 0] = release.split('.').map((part) => Number.parseInt(part, 10))
  const isOld = !(
    major > oldestKernel[0] ||
    (major === oldestKernel[0] && minor >= oldestKernel[1])
  )
  return isOld
    ? reportWarning(
        name,
        `Linux ${release} is older than ${oldestKernel.join('.')}: ${consequence}`,
        'install a newer kernel (Debian: apt-get install linux-image-amd64) and reboot',
      )
    : reportOk(name, 'has clone3, mount_setattr, fsopen and close_range')
}

async function examineCompiler(host: Host): Promise<Finding> {
  const name = 'keeper compiler'
  const program = findProgram(host, 'gcc')
  if (program === null)
    return reportWarning(
      name,
      `gcc not found: ${consequence}`,
      'apt-get install gcc libc6-dev linux-libc-dev',
    )
  const sources = programSources.map((file) => join(sourceDirectory, file))
  const compiled = await askProgram(program, [...compileOptions, '-fsyntax-only', ...sources])
  if (!compiled.succeeded) {
    const words = compiled.text.split('\n').find((line) => /error:/u.test(line)) ?? compiled.text
    return reportWarning(
      name,
      `${program} does not compile the keeper (${words}): ${consequence}`,
      'apt-get install --reinstall gcc libc6-dev linux-libc-dev (Debian ≥ 12, Ubuntu ≥ 22.04)',
    )
  }
  // The keeper is linked statically; gcc answers with the bare name when it finds no such file.
  const { text } = await askProgram(program, ['-print-file-name=libc.a'])
  if (!isAbsolute(text) || !existsSync(text))
    return reportWarning(
      name,
      `${program} finds no static C library: ${consequence}`,
      'apt-get install libc6-dev',
    )
  return reportOk(name, `${program} compiles it`)
}
