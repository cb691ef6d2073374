// What a keeper itself may do, as the kernel reports it: as little as its boxes need, in both kinds of keeper.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { interpreter, listProcesses, startLoneKeeper } from './lone-keeper.ts'

/** CAP_DAC_READ_SEARCH, CAP_SYS_CHROOT, CAP_SYS_ADMIN. */
const kept = (1n << 2n) | (1n << 18n) | (1n << 21n)
const none = 0n

/** Returns a process's process group. */
function readGroup(pid: string): string | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[2]
}

for (const resident of [null, interpreter])
  t.test(`a keeper ${resident === null ? 'alone' : 'in an interpreter'}`, async (t) => {
    const { group } = await startLoneKeeper(t, { resident })
    const found = listProcesses(group)
      .map((pid) => readFileSync(`/proc/${pid}/status`, 'utf8'))
      .find((text) => /^NSpid:\t\d+$/m.test(text))
    const read = (name: string): string =>
      new RegExp(`^${name}:\\s+(\\w+)$`, 'm').exec(found ?? '')?.[1] ?? ''
    const readSet = (name: string): bigint => BigInt(`0x${read(name)}`)
    t.strictSame(
      ['CapEff', 'CapPrm', 'CapBnd', 'CapInh', 'CapAmb'].map(readSet),
      [kept, kept, none, none, none],
      'has the capabilities that boxes are made with, of its own namespace, and gets no other',
    )
    t.strictSame([read('NoNewPrivs'), read('Seccomp'), read('Seccomp_filters')], ['1', '2', '1'])
    const pid = /^Pid:\t(\d+)$/m.exec(found ?? '')?.[1] ?? ''
    const limits = readFileSync(`/proc/${pid}/limits`, 'utf8')
    const locked = /^Max locked memory +(\d+) +(\d+)/m.exec(limits)
    t.ok(
      [1, 2].every((column) => Number(locked?.[column]) <= 64 * 1024),
      'locks as little as they',
    )
    t.not(
      readGroup(pid),
      readGroup('self'),
      'is not reached by Ctrl-C in the terminal of its worker',
    )
  })
