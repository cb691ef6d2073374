// Two, four and eight workers on hosts of their own (hosts.ts).
import { runInOwnNetwork } from './network.ts'

await runInOwnNetwork('hosts.ts')
