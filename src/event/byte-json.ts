// JSON in which bytes stand as base64, for what is kept beside the log.

/** A Buffer would otherwise become an object with a number for each byte. */
export function stringifyBytes(value: object): string {
  return JSON.stringify(value, function (this: Readonly<Record<string, unknown>>, key, plain) {
    const own = this[key]
    return own instanceof Uint8Array ? Buffer.from(own).toString('base64') : (plain as unknown)
  })
}
