// Allows one `make run` per checkout. The first one listens on an abstract socket that is named after the folder, and sends its
// address there to later ones. The kernel frees the socket when the process ends.
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { text } from 'node:stream/consumers'

/** The lock of this process, with `announce` to inform others; or the announcement of the process that holds the lock. */
export type FolderLock =
  { readonly announce: (where: string) => void } | { readonly holder: string }

/** Locks the folder for as long as this process lives. */
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
