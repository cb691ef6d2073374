// What a blob is called, and how large it may be.

/** As the database has it too. */
export const blobBytesMost = 16 * 1024 * 1024

/** True for a SHA-256 in hexadecimal, in lower case: a blob has one name. */
export function isBlobName(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text)
}

/** As the database has it. */
export function toDigest(name: string): Buffer {
  return Buffer.from(name, 'hex')
}
