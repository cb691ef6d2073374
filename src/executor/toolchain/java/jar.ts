// Writes a jar: classes in one file, never unpacked on the host, whatever their names. Not deflated, as they are read
// once. Format: PKWARE APPNOTE 4.3.
import { crc32 } from 'node:zlib'

/** @param classes binary names with slashes; their order is kept. */
export function writeJar(
  classes: readonly { readonly name: string; readonly bytes: Buffer }[],
): Buffer {
  const bodies: Buffer[] = []
  const directory: Buffer[] = []
  let offset = 0
  for (const { name, bytes } of classes) {
    const path = Buffer.from(`${name}.class`)
    // From "version needed" to the name's length, the same in both headers. Flag 11: the name is UTF-8.
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(0x0800, 2)
    common.writeUInt16LE(0, 4)
    // 1 January 1980: the same source gives the same jar.
    common.writeUInt16LE(0, 6)
    common.writeUInt16LE(0x21, 8)
    common.writeUInt32LE(crc32(bytes), 10)
    common.writeUInt32LE(bytes.length, 14)
    common.writeUInt32LE(bytes.length, 18)
    common.writeUInt16LE(path.length, 22)
    const local = Buffer.from('PK\u0003\u0004', 'latin1')
    bodies.push(local, common, path, bytes)
    const position = Buffer.alloc(14)
    position.writeUInt32LE(offset, 10)
    directory.push(Buffer.from('PK\u0001\u0002\u0014\u0000', 'latin1'), common, position, path)
    offset += local.length + common.length + path.length + bytes.length
  }
  const directoryBytes = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\u0005\u0006', 0, 'latin1')
  end.writeUInt16LE(classes.length, 8)
  end.writeUInt16LE(classes.length, 10)
  end.writeUInt32LE(directoryBytes.length, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...bodies, directoryBytes, end])
}
