// The Procfile's web entry: settings → log → parts (make.ts) → they listen and sweep (connect.ts). On a signal it stops
// (stop.ts).
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
