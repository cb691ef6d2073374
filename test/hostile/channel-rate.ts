// Measures the channels between boxes that stay open (SECURITY.md). One program sends as many bits as it can to another one,
// which runs beside it or after it. Prints the bits per second that arrive on each channel, less errors. This is no part of
// a suite; the result is a figure, not a promise.
//
//   node test/hostile/channel-rate.ts
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { createExecutor } from '#executor'
import { defaultLimits } from '#language'

const directory = mkdtempSync(`${tmpdir()}/runledger-channel-`)
const open = (slots: number, firstUid: number): ReturnType<typeof createExecutor> =>
  createExecutor({
    slots,
    firstUid,
    languages: ['python'],
    limits: defaultLimits,
    cacheBytes: 0,
    cacheDirectory: `${directory}/${slots}`,
    accelerators: ['fork-server'],
  })

/** The start of both ends: reads the bits, divides them into windows, and waits for windows by the clock. */
const frame = `
import os, sys, time
role, start, width, count, text = sys.stdin.read().split()
start, width, count = float(start), float(width), int(count)
bits = bin(int('1' + text, 16))[3:]
windows = range(len(bits) // count)
def wait(at):
    time.sleep(max(0, at - time.time()))
`

interface Channel {
  /** `width`: seconds of a window; `count`: bits in a window. */
  readonly width: number
  readonly count: number
  /** \`send(word)\` holds for one window what \`receive()\` reads in its middle. Words are strings of 0 and 1. */
  readonly code: string
}

const channels: Readonly<Record<string, Channel>> = {
  '/proc/self/pagemap: which pages of the toolchain another box has mapped': {
    width: 0.004,
    count: 512,
    code: `
import mmap, struct, sysconfig
path = next(p for p in ('/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus', os.path.realpath('/usr/bin/python3')) if os.path.exists(p))
m = mmap.mmap(os.open(path, 0), count << 12, mmap.MAP_SHARED, mmap.PROT_READ, offset=1 << 20)
base = next(int(l.split('-')[0], 16) for l in open('/proc/self/maps') if path in l and '00100000' in l.split()[2])
entries = os.open('/proc/self/pagemap', 0)
def touch():
    for i in range(count): m[i << 12]
def send(word):
    touch()
    for i, bit in enumerate(word):
        if bit == '1': m.madvise(mmap.MADV_DONTNEED, i << 12, 4096)
def receive():
    touch()
    got = struct.unpack('%dQ' % count, os.pread(entries, 8 * count, (base >> 12) * 8))
    return ''.join(str(e >> 56 & 1) for e in got)
`,
  },
  'inode numbers of pipes: a counter of the host for each processor': {
    width: 0.002,
    count: 4,
    code: `
os.sched_setaffinity(0, {0})
def number():
    a, b = os.pipe()
    n = os.fstat(a).st_ino
    os.close(a); os.close(b)
    return n
last = number()
def send(word):
    for _ in range(int(word, 2) * 4): number()
def receive():
    global last
    n = number()
    got, last = (n - last - 1 + 2) // 4, n
    return format(min(max(got, 0), 15), '04b')
`,
  },
  'eventfd-id in /proc/self/fdinfo: the lowest number that no other on the host has': {
    width: 0.002,
    count: 3,
    code: `
import ctypes, re
libc = ctypes.CDLL(None)
def identity():
    fd = libc.eventfd(0, 0)
    text = open('/proc/self/fdinfo/%d' % fd).read()
    os.close(fd)
    return int(re.search('eventfd-id:\\s*(\\d+)', text).group(1))
held = []
rest = identity()
def send(word):
    global held
    want = int(word, 2)
    while len(held) < want: held.append(libc.eventfd(0, 0))
    while len(held) > want: os.close(held.pop())
def receive():
    return format(min(max(identity() - rest, 0), 7), '03b')
`,
  },
  '/proc/self/smaps: which mappings of a file another box has, too': {
    width: 0.02,
    count: 32,
    code: `
import mmap
path = next(p for p in ('/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus', os.path.realpath('/usr/bin/python3')) if os.path.exists(p))
file = os.open(path, 0)
# One page each, and none beside the next, as neighbours would become one mapping.
pages = [mmap.mmap(file, 4096, mmap.MAP_SHARED, mmap.PROT_READ, offset=(256 + 2 * i) << 12) for i in range(count)]
offsets = {'%08x' % ((256 + 2 * i) << 12): i for i in range(count)}
def send(word):
    for page, bit in zip(pages, word):
        page[0]
        if bit == '1': page.madvise(mmap.MADV_DONTNEED)
def receive():
    for page in pages: page[0]
    got, at = ['0'] * count, None
    for line in open('/proc/self/smaps'):
        words = line.split()
        if '-' in words[0]: at = offsets.get(words[2]) if words[-1] == path and 's' in words[1] else None
        elif at is not None and words[0] == 'Private_Clean:': got[at] = '1' if words[1] != '0' else '0'
    return ''.join(got)
`,
  },
  '/proc/self/numa_maps: how many have mapped the page that is mapped most, of each mapping': {
    width: 0.02,
    count: 32,
    code: `
import mmap
path = next(p for p in ('/usr/lib/gcc/x86_64-linux-gnu/12/cc1plus', os.path.realpath('/usr/bin/python3')) if os.path.exists(p))
file = os.open(path, 0)
# Lines tell a mapping by its address alone.
pages = [mmap.mmap(file, 4096, mmap.MAP_SHARED, mmap.PROT_READ, offset=(256 + 2 * i) << 12) for i in range(count)]
starts = {}
for line in open('/proc/self/maps'):
    words = line.split()
    if words[-1] == path and 's' in words[1]: starts[words[0].split('-')[0].lstrip('0')] = (int(words[2], 16) >> 12) // 2 - 128
def send(word):
    for page, bit in zip(pages, word):
        page[0]
        if bit == '1': page.madvise(mmap.MADV_DONTNEED)
def receive():
    for page in pages: page[0]
    got = ['0'] * count
    for line in open('/proc/self/numa_maps'):
        words = line.split()
        at = starts.get(words[0].lstrip('0'))
        if at is not None: got[at] = '0' if any(word.startswith('mapmax=') for word in words) else '1'
    return ''.join(got)
`,
  },
  'sysinfo: how many processes the host has': {
    width: 0.025,
    count: 3,
    code: `
import ctypes, signal, struct
libc = ctypes.CDLL(None)
def processes():
    b = ctypes.create_string_buffer(128)
    libc.sysinfo(b)
    return struct.unpack_from('H', b, 80)[0]
children = []
rest = processes()
def send(word):
    global children
    want = int(word, 2)
    while len(children) < want:
        pid = os.fork()
        if pid == 0: time.sleep(9); os._exit(0)
        children.append(pid)
    while len(children) > want:
        pid = children.pop()
        os.kill(pid, 9); os.waitpid(pid, 0)
def receive():
    return format(min(max(processes() - rest, 0), 7), '03b')
`,
  },
}

const ends = `
if role == 'send':
    for i in windows:
        wait(start + i * width)
        send(bits[i * count:i * count + count])
    wait(start + len(windows) * width + 0.05)
else:
    wait(start - width / 4)
    receive()
    got = ''
    for i in windows:
        wait(start + (i + 0.75) * width)
        got += receive()
    print(got)
`

/** Returns the information in one sent bit when the share `wrong` of the bits is wrong. */
function worth(wrong: number): number {
  if (wrong === 0 || wrong === 1) return 1
  return 1 + wrong * Math.log2(wrong) + (1 - wrong) * Math.log2(1 - wrong)
}

const executor = await open(2, 1_500_000 + (process.pid % 1000) * 8)
for (const [name, { width, count, code }] of Object.entries(channels)) {
  const windows = Math.floor(2 / width)
  const text = randomBytes(Math.ceil((windows * count) / 8)).toString('hex')
  const bits = [...Buffer.from(text, 'hex')]
    .map((byte) => byte.toString(2).padStart(8, '0'))
    .join('')
  const start = Date.now() / 1000 + 1
  const run = (role: string) =>
    executor.execute({
      language: 'python',
      code: Buffer.from(frame + code + ends),
      stdin: Buffer.from(`${role} ${start} ${width} ${count} ${text}`),
      cacheScope: role,
    })
  const [sent, received] = await Promise.all([run('send'), run('receive')])
  const got = Buffer.from(received.run?.stdout ?? '')
    .toString()
    .trim()
  const complaint = [sent, received]
    .map((one) => Buffer.from(one.run?.stderr ?? '').toString())
    .join('')
  let wrong = 0
  for (let i = 0; i < got.length; i += 1) if (got[i] !== bits[i]) wrong += 1
  const part = got.length === 0 ? 0.5 : wrong / got.length
  const rate = (count / width) * Math.max(0, worth(part))
  process.stdout.write(
    `${name}: ${Math.round(rate)} bit/s (${(part * 100).toFixed(1)} % wrong) ${complaint}\n`,
  )
}
await executor.close()
rmSync(directory, { recursive: true })
