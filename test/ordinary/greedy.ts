// Programs that use up a resource: the result is only theirs, and the next program finds nothing of them.
import type { Behaviour } from './behaviour.ts'

export const greedyBehaviours: readonly Behaviour[] = [
  {
    name: 'a full scratch disk is the program’s own error',
    programs: {
      python: `
for place in ("/box", "/tmp", "/dev/shm"):
    try:
        with open(f"{place}/all", "wb", 0) as file:
            while True: file.write(bytes(1 << 20))
    except OSError as error: print(error.errno)`,
      c: `
#include <errno.h>
#include <stdio.h>
#include <unistd.h>
#include <fcntl.h>
int main(void) {
  static char block[1 << 20];
  const char *paths[] = {"/box/all", "/tmp/all", "/dev/shm/all"};
  for (int i = 0; i < 3; i++) {
    int file = open(paths[i], O_WRONLY | O_CREAT, 0600);
    while (write(file, block, sizeof block) > 0) {}
    printf("%d\\n", errno);
  }
}`,
    },
    request: { limits: { disk: 8 << 20, wall_time: 60 } },
    expected: { stdout: '28\n28\n28\n' },
  },
  {
    name: 'a million names end by a limit, or when there is no room for more',
    programs: {
      python: `
import os
try:
    for n in range(1_000_000): os.close(os.open(f"/tmp/{n}", os.O_CREAT))
except OSError as error: print(error.errno)`,
    },
    request: { limits: { cpu_time: 5, wall_time: 60 } },
    expected: { verdict: /^(AC|TLE|MLE)$/, exit_code: /^(0|137)$/ },
  },
  {
    name: 'ten thousand locks are held, or refused',
    programs: {
      python: `
import fcntl
held = 0
with open("/tmp/file", "w") as file:
    try:
        for n in range(10_000): fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, 2 * n); held += 1
    except OSError as error: print(error.errno in (12, 37))
print(held > 0)`,
    },
    request: { limits: { wall_time: 60 } },
    expected: { stdout: /^(True\n)+$/ },
  },
  {
    name: 'nothing of them is left',
    programs: {
      python: `
import os, shutil
print(os.listdir("/tmp"), os.listdir("/dev/shm"), os.listdir("/box"), shutil.disk_usage("/tmp").used < 1 << 20)`,
    },
    expected: { stdout: "[] [] ['main.py'] True\n" },
  },
]
