// The user who gives a command, for the log.
import { userInfo } from 'node:os'

export function operator(): string {
  return userInfo().username
}
