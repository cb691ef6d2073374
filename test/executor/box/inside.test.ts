// What a program sees of the host and of itself from inside its box, in the real sandbox. test/hostile tests what it cannot
// reach: rights, descriptors, other processes, files of the host.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { makeDirectory } from '../../helper/directory.ts'
import { execute, findBoxProcesses, run, startExecutor } from '../../helper/executor.ts'

const executor = await startExecutor(t, { languages: ['python'] })

/** Runs Python in a box and returns what it prints. */
async function look(code: string): Promise<string> {
  const phase = await run(executor, 'python', code)
  return phase.stdout + phase.stderr
}

t.test("its host uid is the slot's, never root", { skip: process.getuid?.() !== 0 }, async (t) => {
  const controller = new AbortController()
  const promise = execute(executor, 'python', 'import time\ntime.sleep(60)', '', {
    signal: controller.signal,
  })
  let pids: number[] = []
  while (pids.length === 0) {
    await delay(20)
    pids = findBoxProcesses()
  }
  controller.abort(new Error('seen'))
  await t.rejects(promise, { message: 'seen' })
})

t.test('its environment is the same few names for every program', async (t) => {
  const code = 'import os\nprint(sorted(os.environ.items()))'
  t.equal(
    await look(code),
    "[('HOME', '/box'), ('LANG', 'C.UTF-8'), ('LC_ALL', 'C.UTF-8'), ('LOGNAME', 'runner'), ('OPENBLAS_NUM_THREADS', '1'), ('PATH', '/usr/bin:/bin'), ('PWD', '/box'), ('USER', 'runner')]\n",
  )
})

t.test('only scratch space can be written', async (t) => {
  const code = `
for p in ['/x', '/usr/x', '/usr/bin/x', '/dev/x', '/etc/x', '/proc/sys/kernel/hostname', '/proc/sys/kernel/ns_last_pid', '/proc/self/oom_score_adj', '/proc/self/comm', '/proc/self/mem', '/proc/self/uid_map', '/proc/1/oom_score_adj', '/proc/1/timerslack_ns', '/box/main.py', '/proc/1/exe', '/tmp/x', '/box/x', '/dev/shm/x']:
  try: open(p, 'a').close(); print(p)
  except OSError: pass`
  t.equal(await look(code), '/tmp/x\n/box/x\n/dev/shm/x\n')
})

t.test('host files are not there, nor what the last program wrote', async (t) => {
  const directory = makeDirectory(t)
  writeFileSync(join(directory, 'canary'), 'secret')
  const paths = [
    ['/etc/shadow', '/etc/debian_version', '/home', '/root', '/work', '/var', '/run', '/sys'],
    ['/opt', '/srv', '/mnt', '/usr/local', '/usr/src', directory],
  ].flat()
  const code = `import os\nprint([p for p in ${JSON.stringify(paths)} if os.path.lexists(p)], os.listdir('/tmp'), sorted(os.listdir('/box')), os.listdir('/dev/shm'))`
  t.equal(await look(code), "[] [] ['main.py'] []\n")
})

t.test('what a box sees of the host is mounted read-only, whoever owns it', async (t) => {
  // The kernel checks the mount before the owner.
  const code = `
import errno, os
for directory in ['/', '/usr/bin/', '/usr/lib/']:
  try: os.mkdir(directory + 'x')
  except OSError as error: print(errno.errorcode[error.errno])`
  t.equal(await look(code), 'EROFS\nEROFS\nEROFS\n')
})

t.test("nothing of the box's first process can be opened", async (t) => {
  const code = `
import os
try: descriptors = ['/proc/1/fd/' + name for name in os.listdir('/proc/1/fd')]
except OSError: descriptors = []
for path in descriptors + ['/proc/1/mem', '/proc/1/task/1/mem', '/proc/1/root/proc/1/mem', '/proc/1/fd/2', '/proc/1/x']:
  for mode in (os.O_RDONLY, os.O_WRONLY | os.O_CREAT, os.O_RDWR):
    try: os.open(path, mode); print(path, mode)
    except OSError: pass
print(os.open('/proc/self/mem', os.O_RDONLY) > 2)`
  t.equal(await look(code), 'True\n')
})

t.test('devices are six, and none is a terminal', async (t) => {
  const code = `
import os, stat
names = sorted(os.listdir('/dev'))
print([n for n in names if stat.S_ISCHR(os.stat('/dev/' + n).st_mode) and not os.path.islink('/dev/' + n)])
print([n for n in names if os.path.islink('/dev/' + n)], [n for n in names if os.path.isdir('/dev/' + n) and not os.path.islink('/dev/' + n)])
try: os.openpty()
except OSError as e: print('no terminal')
try: open('/dev/tty')
except OSError as e: print('none controls')
print(len(open('/dev/urandom', 'rb').read(8)), open('/dev/zero', 'rb').read(1), open('/dev/null').read() == '')
open('/dev/null', 'w').write('x')
print(open('/dev/stdin').read(), flush=True)
open('/dev/stdout', 'w').write('again')`
  t.equal(
    (await run(executor, 'python', code, 'input')).stdout,
    "['full', 'null', 'random', 'tty', 'urandom', 'zero']\n['fd', 'stderr', 'stdin', 'stdout'] ['shm']\nno terminal\nnone controls\n8 b'\\x00' True\ninput\nagain",
  )
})

t.test('the names of the standard streams say nothing of the worker', async (t) => {
  const code = 'import os\nfor n in range(3): print(os.readlink(f"/proc/self/fd/{n}"))'
  const names = (await look(code)).split('\n')
  t.match(names.slice(0, 3), ['/memfd:stdin (deleted)', /^pipe:\[\d+\]$/, /^pipe:\[\d+\]$/])
})

t.test('a database in a file works, and its locks are real', async (t) => {
  const code = `
import fcntl, os, sqlite3
first = sqlite3.connect('/box/data.db')
first.execute('create table item (name text)')
first.executemany('insert into item values (?)', [('a',), ('b',)])
first.commit()
first.close()
again = sqlite3.connect('/box/data.db')
print(again.execute('select count(*), max(name) from item').fetchone(), flush=True)
with open('/box/lock', 'w') as own:
  fcntl.lockf(own, fcntl.LOCK_EX)
  if os.fork() == 0:
    try: fcntl.lockf(own, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError: print('locked', flush=True)
    os._exit(0)
  os.wait()
  fcntl.lockf(own, fcntl.LOCK_UN)`
  t.equal(await look(code), "(2, 'b')\nlocked\n")
})

t.test('/proc tells of processes, and not how the host is doing', async (t) => {
  const names = [
    ['buddyinfo', 'cgroups', 'cpuinfo', 'diskstats', 'interrupts', 'key-users', 'loadavg'],
    ['locks', 'meminfo', 'pressure/cpu', 'schedstat', 'softirqs', 'stat', 'swaps', 'uptime'],
    ['sys/fs/dentry-state', 'sys/fs/file-nr', 'sys/fs/inode-nr', 'sys/kernel/pty/nr'],
    ['sys/kernel/random/boot_id', 'sysvipc/shm', 'vmstat', 'zoneinfo'],
  ].flat()
  const code = `
def read(name):
  try: return open('/proc/' + name).read()
  except OSError: return ''
print([name for name in ${JSON.stringify(names)} if read(name)], 'VmRSS' in read('self/status'))`
  t.equal(await look(code), '[] True\n')
})
