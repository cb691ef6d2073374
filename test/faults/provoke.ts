// Programs that try to look like a failure of the service. Each must end with its own verdict after one attempt, and no
// worker may take its host for broken because of it.
import type { Service } from './platform.ts'

/** Programs by what they try. */
export const provocations: Readonly<Record<string, { language: string; code: string }>> = {
  'a source that takes a careless reader a minute': {
    language: 'python',
    code: `import${' '.repeat(2400)}!`,
  },
  'quotation marks that take a careless reader seconds': {
    language: 'java',
    code: `class Main{}//\n"${'\\"'.repeat(32_000)}`,
  },
  'children that starve the first process': {
    language: 'cpp',
    code: `#include <sched.h>
#include <unistd.h>
int main() {
  sched_param none = {};
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  sched_setscheduler(1, SCHED_IDLE, &none);
  sched_setaffinity(1, sizeof one, &one);
  for (int i = 0; i < 60; i++)
    if (!fork()) {
      sched_setaffinity(0, sizeof one, &one);
      for (;;) {}
    }
  for (;;) {}
}`,
  },
  'a fork bomb': {
    language: 'python',
    code: 'import os\nwhile True:\n try: os.fork()\n except OSError: pass',
  },
  'signals to everyone it can reach': {
    language: 'python',
    code: 'import os, signal\nfor s in range(1, 65):\n for p in (1, 0 - 1):\n  try:\n   if s not in (9, 19): os.kill(p, s)\n  except OSError: pass',
  },
  'all the memory at once': {
    language: 'cpp',
    code: '#include <cstdlib>\n#include <cstring>\n#include <unistd.h>\nint main() { for (int i = 0; i < 20; i++) fork(); for (;;) memset(malloc(1 << 24), 1, 1 << 24); }',
  },
  'output in single bytes, to both streams': {
    language: 'cpp',
    code: '#include <fcntl.h>\n#include <unistd.h>\nint main() { for (int f : {1, 2}) fcntl(f, F_SETFL, O_WRONLY | O_DIRECT); for (;;) { write(1, "x", 1); write(2, "y", 1); } }',
  },
  'sockets by the thousand': {
    language: 'python',
    code: 'import socket\nkept = []\nwhile True:\n try:\n  pair = socket.socketpair()\n  pair[0].setblocking(False)\n  kept.append(pair)\n  while True: pair[0].send(bytes(65536))\n except BlockingIOError: pass\n except OSError: break',
  },
  'a binary that nothing can start': {
    language: 'cpp',
    code: 'asm(".section .interp, \\"a\\"\\n.string \\"/nowhere\\"\\n.text");\nint main() {}',
  },
  'a process that outlives its parent': {
    language: 'python',
    code: 'import os, time\nif os.fork() == 0:\n os.setsid()\n os.close(1)\n os.close(2)\n time.sleep(60)',
  },
}

/** An answer of `submit`: the record of a submission that has ended. */
export type Ended = Readonly<Record<string, unknown>>

/** Runs all programs at once. @returns the failures that they caused. */
export async function provoke(
  submit: (program: object) => Promise<Ended>,
  workers: readonly Service[],
): Promise<string[]> {
  const wrong = await Promise.all(
    Object.entries(provocations).map(async ([name, program]) => {
      const { verdict } = await submit(program)
      const known = ['AC', 'RE', 'CE', 'TLE', 'MLE', 'OLE'].includes(String(verdict))
      return known ? [] : [`${name}: ${String(verdict)}`]
    }),
  )
  const complaints = workers.flatMap(({ name, logged }) =>
    ['execution.interrupted', 'worker.suspended']
      .filter((message) => logged.has(message))
      .map((message) => `a program provoked ${message} at ${name}`),
  )
  return [...wrong.flat(), ...complaints]
}
