// Finds inherited descriptors that every child would get. Node cannot make these close on exec; boxes close them
// (spawn-box.ts).
import { readFileSync, readdirSync } from 'node:fs'

/** O_CLOEXEC in /proc/PID/fdinfo/N, octal. */
const closesOnExec = 0o2000000

/** Those above 2. Format: proc_pid_fdinfo(5). */
export function findInheritedDescriptors(): number[] {
  return readdirSync('/proc/self/fd')
    .map(Number)
    .filter((descriptor) => descriptor > 2 && survivesExec(descriptor))
}

function survivesExec(descriptor: number): boolean {
  let text: string
  try {
    text = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8')
  } catch {
    // The directory's own descriptor, closed by now.
    return false
  }
  const flags = Number.parseInt(/^flags:\s*(\d+)/m.exec(text)?.[1] ?? '0', 8)
  return (flags & closesOnExec) === 0
}
