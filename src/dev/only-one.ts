// One `make run` per checkout: the first holds an abstract socket named after the folder, freed by the kernel at its
// end, and shows others there where it is.
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { text } from 'node:stream/consumers'

/** Ours; `announce` informs others. Or another's, with its announcement. */
export type FolderLock =
  { readonly announce: (where: string) => void } | { readonly holder: string }

/** For as long as this process lives. */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const { dev, ino } = await stat(folder)
  const path = `\0runledger-${dev}-${ino}`
  let where = `it is starting (process ${process.pid})`
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.end(where)
  })
  try {
    server.listen({ path })
    await once(server, 'listening')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    return { holder: await text(connect({ path })) }
  }
  server.unref()
  return {
    announce(place) {
      where = place
    },
  }
}
