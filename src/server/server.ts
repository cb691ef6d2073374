// The Procfile's web entry: reads settings, opens the log, makes the parts (make.ts), listens and sweeps (connect.ts), and
// stops on a signal (stop.ts).
import { shortenOutages, surviveLostConnections } from '#database'
import { createLog } from '#log'
import { connectParts } from './connect.ts'
import { makeParts } from './make.ts'
import { readSettings } from './settings.ts'
import { stopWeb } from './stop.ts'

const settings = readSettings()
const log = createLog('web', settings.LOG_LEVEL)
shortenOutages(log)
surviveLostConnections((error) => log.warn({ err: error }, 'database.connection_lost'))
const web = connectParts(await makeParts(settings, log))
await stopWeb(web, await web.over)
