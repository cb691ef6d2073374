// Finds descriptors that this process got from whoever started it and that every child would get in turn.
// Node opens its own so that they close on exec, but cannot close a stranger's: those are closed in the box (child.ts).
import { readFileSync, readdirSync } from 'node:fs'

/** O_CLOEXEC as /proc/PID/fdinfo/N shows it, in octal. */
const closesOnExec = 0o2000000

/** Numbers above 2 of the descriptors that survive exec. Format: proc_pid_fdinfo(5). */
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
    // It was the one that listed the directory.
    return false
  }
  const flags = Number.parseInt(/^flags:\s*(\d+)/m.exec(text)?.[1] ?? '0', 8)
  return (flags & closesOnExec) === 0
}
