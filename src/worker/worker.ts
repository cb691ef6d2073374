// The Procfile's worker entry. It reads the settings, opens the log, creates the parts (make.ts) and connects them
// (connect.ts). The first reason to end stops the worker (stop.ts).
import { shortenOutages, surviveLostConnections } from '#database'
import { createLog } from '#log'
import { connectParts } from './connect.ts'
import { makeParts } from './make.ts'
import { readSettings } from './settings.ts'
import { stopWorker } from './stop.ts'

const settings = readSettings()
const log = createLog('worker', settings.LOG_LEVEL)
shortenOutages(log)
surviveLostConnections((error) => log.warn({ err: error }, 'database.connection_lost'))
const worker = await connectParts(await makeParts(settings, log))
log.info(
  {
    worker: worker.lease.workerId,
    slots: worker.executor.slots,
    isolation: worker.executor.isolation,
    languages: Object.keys(worker.executor.runtimes),
    absent: worker.absent,
  },
  'worker.started',
)
await stopWorker(worker, await worker.over)
