// What one PostgreSQL carries (capacity.ts).
import { runInOwnNetwork } from './network.ts'

await runInOwnNetwork('capacity.ts')
