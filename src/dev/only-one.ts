// One `make run` in a checkout: the first holds an abstract socket named after its folder, which the kernel frees however it
// ends, and on which it tells others where it is.
import { once } from 'node:events'
import { stat } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { text } from 'node:stream/consumers'

/** Either the folder is ours, and others are told what `tell` was given last, or another's, who told us so. */
export type Claim = { readonly tell: (where: string) => void } | { readonly holder: string }

/** Claims a folder for this process, for as long as it lives. */
export async function claimFolder(folder: string): Promise<Claim> {
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
    tell(told) {
      where = told
    },
  }
}
