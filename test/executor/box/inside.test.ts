// What a program sees of the host and of itself from inside its box. test/hostile tests what it cannot reach: files of the
// host, other processes, rights, descriptors.
import t from 'tap'
import { run, startExecutor } from '../../helper/executor.ts'

const executor = await startExecutor(t, { languages: ['python'], slots: 1 })

const hostFigures = [
  ['buddyinfo', 'cgroups', 'cpuinfo', 'diskstats', 'interrupts', 'key-users', 'loadavg'],
  ['locks', 'meminfo', 'pressure/cpu', 'schedstat', 'softirqs', 'stat', 'swaps', 'uptime'],
  ['sys/fs/dentry-state', 'sys/fs/file-nr', 'sys/fs/inode-nr', 'sys/kernel/pty/nr'],
  ['sys/kernel/random/boot_id', 'sysvipc/shm', 'vmstat', 'zoneinfo'],
].flat()

const programs: readonly [name: string, code: string, printed: string][] = [
  [
    'its environment is the same few names for every program',
    'import os\nprint(sorted(os.environ.items()))',
    "[('HOME', '/box'), ('LANG', 'C.UTF-8'), ('LC_ALL', 'C.UTF-8'), ('LOGNAME', 'runner'), ('OPENBLAS_NUM_THREADS', '1'), ('PATH', '/usr/bin:/bin'), ('PWD', '/box'), ('USER', 'runner')]\n",
  ],
  [
    // The kernel checks the mount before the owner.
    'what it sees of the host is mounted read-only, whoever owns it',
    `
import errno, os
for directory in ['/', '/usr/bin/', '/usr/lib/']:
  try: os.mkdir(directory + 'x')
  except OSError as error: print(errno.errorcode[error.errno])`,
    'EROFS\nEROFS\nEROFS\n',
  ],
  [
    'the usual devices are there and work, and none is a terminal',
    `
import os
print(sorted(os.listdir('/dev')))
for open_one in (os.openpty, lambda: open('/dev/tty')):
  try: open_one(); print('a terminal')
  except OSError: pass
print(len(open('/dev/urandom', 'rb').read(8)), open('/dev/zero', 'rb').read(1), open('/dev/null').read())
open('/dev/null', 'w').write('x')`,
    "['fd', 'full', 'null', 'random', 'shm', 'stderr', 'stdin', 'stdout', 'tty', 'urandom', 'zero']\n8 b'\\x00' \n",
  ],
  [
    'the names of the standard streams say nothing of the worker',
    'import os, re\nfor n in range(3): print(re.sub("[0-9]+", "N", os.readlink(f"/proc/self/fd/{n}")))',
    '/memfd:stdin (deleted)\npipe:[N]\npipe:[N]\n',
  ],
  [
    '/proc tells of processes, and not how the host is doing',
    `
def read(name):
  try: return open('/proc/' + name).read()
  except OSError: return ''
print([name for name in ${JSON.stringify(hostFigures)} if read(name)], 'VmRSS' in read('self/status'))`,
    '[] True\n',
  ],
]

for (const [name, code, printed] of programs)
  t.test(name, async (t) => {
    const { stdout, stderr } = await run(executor, 'python', code)
    t.strictSame([stdout, stderr], [printed, ''])
  })
