// An annotation processor for a submission. It writes given files, or any number of classes of nothing but constants, into
// the directory of the compiled classes.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const source = `
import java.io.*; import java.nio.file.*; import java.util.*;
import javax.annotation.processing.*; import javax.lang.model.SourceVersion; import javax.lang.model.element.TypeElement;
@SupportedAnnotationTypes("*")
public class P extends AbstractProcessor {
  public SourceVersion getSupportedSourceVersion() { return SourceVersion.latest(); }
  public boolean process(Set<? extends TypeElement> types, RoundEnvironment round) {
    try {
      if (round.processingOver()) return false;
      Path out = Files.createDirectories(Paths.get("out")), made = Paths.get("made.bin"), count = Paths.get("count.txt");
      if (Files.exists(made)) Files.copy(made, out.resolve("E.class"), StandardCopyOption.REPLACE_EXISTING);
      if (Files.exists(count)) for (int n = Integer.parseInt(Files.readString(count).trim()); n > 0; n--)
        Files.write(out.resolve("C" + n + ".class"), write("C" + n));
    } catch (IOException e) { throw new UncheckedIOException(e); }
    return false;
  }
  static byte[] write(String name) throws IOException {
    var bytes = new ByteArrayOutputStream(); var to = new DataOutputStream(bytes);
    to.writeInt(0xcafebabe); to.writeInt(61); to.writeShort(65530);
    to.writeByte(1); to.writeUTF(name); to.writeByte(7); to.writeShort(1);
    for (int n = 3; n < 65530; n++) { to.writeByte(1); to.writeShort(0); }
    to.writeShort(0x21); to.writeShort(2); for (int n = 0; n < 5; n++) to.writeShort(0);
    return bytes.toByteArray();
  }
}
`

let compiled: string | undefined

/** Returns the processor's class file in base64. */
export function processorClass(): string {
  if (compiled !== undefined) return compiled
  const directory = mkdtempSync(join(tmpdir(), 'runledger-processor-'))
  try {
    writeFileSync(join(directory, 'P.java'), source)
    execFileSync('/usr/bin/javac', ['-proc:none', 'P.java'], { cwd: directory })
    compiled = readFileSync(join(directory, 'P.class')).toString('base64')
    return compiled
  } finally {
    rmSync(directory, { recursive: true })
  }
}
