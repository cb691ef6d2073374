// Makes class files that no compiler would write, and an annotation processor that puts one among javac's own class files.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SourceFile } from '#contract'

/** Returns a class with a `main`. @param name the bytes of the class name (JVMS 4.4.7). */
export function makeClassFile(name: Buffer): Buffer {
  const number = (value: number, bytes: number): Buffer => {
    const written = Buffer.alloc(bytes)
    written.writeUIntBE(value, 0, bytes)
    return written
  }
  const text = (bytes: Buffer): Buffer => Buffer.concat([number(1, 1), number(bytes.length, 2), bytes]) // prettier-ignore
  const named = (constant: number): Buffer => Buffer.concat([number(7, 1), number(constant, 2)])
  const texts = ['main', '([Ljava/lang/String;)V', 'Code'].map((word) => text(Buffer.from(word)))
  const code = [number(0, 2), number(1, 2), number(1, 4), number(0xb1, 1), number(0, 4)]
  return Buffer.concat([
    Buffer.from('cafebabe', 'hex'),
    number(61, 4),
    number(8, 2),
    text(name),
    named(1),
    text(Buffer.from('java/lang/Object')),
    named(3),
    ...texts,
    // Access flags, name and parent; no interfaces, no fields; one method, public and static.
    ...[0x21, 2, 4, 0, 0, 1, 9, 5, 6, 1, 7].map((value) => number(value, 2)),
    number(13, 4),
    ...code,
    number(0, 2),
  ])
}

/** Arguments that make javac run the processor `P`. */
export const processorWords = ['-proc:full', '-processor', 'P', '-processorpath', '.'] as const

const processor = `
import java.nio.file.*;
import java.util.Set;
import javax.annotation.processing.*;
import javax.lang.model.SourceVersion;
import javax.lang.model.element.TypeElement;
@SupportedAnnotationTypes("*")
public class P extends AbstractProcessor {
  public SourceVersion getSupportedSourceVersion() { return SourceVersion.latestSupported(); }
  public boolean process(Set<? extends TypeElement> types, RoundEnvironment round) {
    try { Files.createDirectories(Path.of("out")); Files.copy(Path.of("made.bin"), Path.of("out/Made.class"), StandardCopyOption.REPLACE_EXISTING); }
    catch (java.io.IOException error) { throw new java.io.UncheckedIOException(error); }
    return false;
  }
}
`

let compiled: Buffer | undefined

/** Returns the processor and the class that it copies, as files beside a source. */
export function layClass(made: Buffer): SourceFile[] {
  compiled ??= compileProcessor()
  return [
    { name: 'P.class', content: compiled },
    { name: 'made.bin', content: made },
  ]
}

function compileProcessor(): Buffer {
  const directory = mkdtempSync(join(tmpdir(), 'runledger-test-'))
  try {
    writeFileSync(join(directory, 'P.java'), processor)
    execFileSync('/usr/bin/javac', ['-proc:none', '--release', '17', 'P.java'], { cwd: directory })
    return readFileSync(join(directory, 'P.class'))
  } finally {
    rmSync(directory, { recursive: true })
  }
}
