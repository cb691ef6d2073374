// The offsets with which filters are written and read agree with the kernel's headers.
import t from 'tap'
import { seccompData, sockFilter } from '../../../src/executor/seccomp/bpf.ts'
import { evaluateInC } from '../../helper/c-value.ts'

t.test("fields of the kernel's structures", async (t) => {
  const { argumentBytes, ...data } = seccompData
  const { sizeBytes, ...instruction } = sockFilter
  const offsets = (structure: string, fields: Readonly<Record<string, number>>): object =>
    Object.fromEntries(
      Object.entries(fields).map(([name, at]) => [`offsetof(struct ${structure}, ${name})`, at]),
    )
  const expected = {
    ...offsets('seccomp_data', data),
    'sizeof ((struct seccomp_data *)0)->args[0]': argumentBytes,
    ...offsets('sock_filter', instruction),
    'sizeof(struct sock_filter)': sizeBytes,
  }
  const headers = ['<linux/filter.h>', '<linux/seccomp.h>']
  t.strictSame(evaluateInC(headers, Object.keys(expected)), expected)
})
