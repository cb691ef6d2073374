// All tables of attacks, in the order in which they run.
import type { Attack } from '../attack.ts'
import { cpuBombs } from './bomb-cpu.ts'
import { diskBombs } from './bomb-disk.ts'
import { memoryBombs } from './bomb-memory.ts'
import { processBombs } from './bomb-process.ts'
import { cppCompileAttacks } from './compile-cpp.ts'
import { javaCompileAttacks } from './compile-java.ts'
import { fileEscapes } from './escape-file.ts'
import { kernelEscapes } from './escape-kernel.ts'
import { networkEscapes } from './escape-network.ts'
import { processEscapes } from './escape-process.ts'
import { firstProcessAttacks } from './first-process.ts'
import { judgeAttacks } from './judge.ts'
import { loopbackAttacks } from './loopback.ts'
import { outputFileAttacks } from './output-file.ts'
import { outputAttacks } from './output.ts'
import { registerAttacks } from './register.ts'
import { sourceTimeAttacks } from './source-time.ts'
import { unchargedAttacks } from './uncharged.ts'

/**
 * The attacks that a network may affect: what the kernel holds and refuses, and what outlives its parent. Each is also run
 * with a network. A process bomb that a limit ends does not meet its network.
 */
const withNetwork: readonly Attack[] = [
  ...processBombs.filter(({ fates }) => fates.includes('exited')),
  ...unchargedAttacks,
  ...firstProcessAttacks,
  ...processEscapes,
  ...fileEscapes,
  ...kernelEscapes,
  ...networkEscapes,
  ...registerAttacks,
].filter(({ network }) => network === undefined)

/** Every attack except the channels. */
export const attacks: readonly Attack[] = [
  ...processBombs,
  ...memoryBombs,
  ...cpuBombs,
  ...diskBombs,
  ...outputAttacks,
  ...outputFileAttacks,
  ...judgeAttacks,
  ...unchargedAttacks,
  ...firstProcessAttacks,
  ...processEscapes,
  ...fileEscapes,
  ...kernelEscapes,
  ...networkEscapes,
  ...registerAttacks,
  ...cppCompileAttacks,
  ...javaCompileAttacks,
  ...sourceTimeAttacks,
  ...withNetwork.map((attack): Attack => ({ ...attack, network: 'loopback' })),
  ...loopbackAttacks,
]
