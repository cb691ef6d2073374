// Examines what keepers need beyond other boxes: a newer kernel, and a C compiler with its library. Only warnings:
// without them the worker says so and uses bubblewrap, which is slower.
import { existsSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { readHierarchies } from '#cgroup'
import { compileOptions, programSources, sourceDirectory } from '#keeper'
import { askProgram, findProgram } from '#toolchain'
import { reportOk, reportWarning } from './finding.ts'
import type { Finding } from './finding.ts'
import { readProcessFile } from './host.ts'
import type { Host } from './host.ts'

/**
 * mount_setattr needs 5.12, cgroup.kill 5.14; clone3, fsopen and close_range are older. v2's memory.peak needs 5.19.
 */
const oldestKernels = { v1: [5, 14], v2: [5, 19] } as const

const consequence = 'boxes are made by bubblewrap, some milliseconds slower'

/** The kernel's version, and whether the keeper compiles. */
export async function examineKeeper(host: Host): Promise<Finding[]> {
  return [examineRelease(host), await examineCompiler(host)]
}

function examineRelease(host: Host): Finding {
  const name = 'keeper kernel'
  const release = readProcessFile(host, 'sys/kernel/osrelease') ?? 'unknown'
  const [major = 0, minor = 0] = release.split('.').map((part) => Number.parseInt(part, 10))
  const version = findVersion(host)
  const oldest = oldestKernels[version]
  const isOld = !(major > oldest[0] || (major === oldest[0] && minor >= oldest[1]))
  return isOld
    ? reportWarning(
        name,
        `Linux ${release} is older than ${oldest.join('.')}, with cgroup ${version}: ${consequence}`,
        'install a newer kernel (Debian: apt-get install linux-image-amd64) and reboot',
      )
    : reportOk(name, 'has clone3, mount_setattr, fsopen and close_range')
}

/** As openCgroupParent chooses. */
function findVersion(host: Host): 'v1' | 'v2' {
  const mountinfo = readProcessFile(host, 'self/mountinfo') ?? ''
  const hierarchies = readHierarchies(mountinfo, readProcessFile(host, 'self/cgroup') ?? '')
  return hierarchies.some(({ controllers }) => controllers.includes('memory')) ? 'v1' : 'v2'
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
  // For the static keeper; gcc prints a bare name when it finds no file.
  const { text } = await askProgram(program, ['-print-file-name=libc.a'])
  if (!isAbsolute(text) || !existsSync(text))
    return reportWarning(
      name,
      `${program} finds no static C library: ${consequence}`,
      'apt-get install libc6-dev',
    )
  return reportOk(name, `${program} compiles it`)
}
