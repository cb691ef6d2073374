// Who gives commands, for the log.
import { userInfo } from 'node:os'

/** The name of the user who runs the command. */
export function operator(): string {
  return userInfo().username
}
