/** Splits a text at its white space, so that a command is written as a person types it. */
export function words(text: string): string[] {
  return text.trim().split(/\s+/)
}
