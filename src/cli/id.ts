// Ids on the command line: a whole id, or a beginning or end that fits one id only. Ids of one day begin alike.
import { CommandError, misuse } from './command.ts'

/** Finds the id that begins or ends with `part`. @throws {CommandError} when `part` fits no id, or several. */
export function findId(
  rows: readonly { readonly id: string }[],
  part: string,
  noun: string,
): string {
  if (!/^[0-9a-f-]{1,36}$/i.test(part))
    throw misuse(`${JSON.stringify(part)} is not the id of a ${noun}, nor its beginning or end`)
  const found = rows.map(({ id }) => id).filter((id) => isPart(part, id))
  const [only] = found
  if (only === undefined) throw new CommandError(`there is no such ${noun}`)
  if (found.length > 1)
    throw new CommandError(`${part} is part of ${found.length} ids: ${found.join(', ')}`)
  return only
}

/** Whether an id begins or ends with this text. */
export function isPart(text: string, id: string): boolean {
  const wanted = text.toLowerCase()
  return id.startsWith(wanted) || id.endsWith(wanted)
}
