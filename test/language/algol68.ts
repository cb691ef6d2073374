// Algol 68 Genie's programs.
import type { Programs } from './program.ts'

export const algol68: Programs = {
  sum: 'INT a, b;\nread ((a, b));\nprint ((whole (a + b, 0), new line))',
  copy: `BEGIN
  BOOL done := FALSE;
  on logical file end (stand in, (REF FILE f) BOOL: done := TRUE);
  STRING line;
  WHILE
    get (stand in, (line, new line));
    NOT done
  DO
    print ((line, new line))
  OD
END`,
  unicode: `BEGIN
  STRING line;
  print (("Grüße, 世界 🎉", new line));
  read ((line, new line));
  print ((line, new line))
END`,
  // The language has no routine that ends with a status, so the program becomes a shell that does.
  exitThree: `BEGIN
  print ("out");
  put (stand error, "err");
  VOID (execve ("/bin/sh", ("sh", "-c", "exit 3"), ""))
END`,
  uncaught: {
    code: { cannot: 'what its runtime says of an error it says on stdout' },
    says: /./,
  },
  broken: {
    code: 'BEGIN\n  INT a = 1;\n  INT b = c;\n  print (a)\nEND\n',
    says: /^3 {5}.*\n.*\na68g: error: 1: tag "c" has not been declared properly/m,
  },
  busyLoop: 'DO SKIP OD',
  sleeper: 'VOID (sleep (60))',
  memoryBomb: { cannot: 'its heap has a size of its own, and says on stdout that it is full' },
  outputFlood: 'DO print (("xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", new line)) OD',
  scratch: `BEGIN
  FILE f;
  STRING line;
  VOID (establish (f, "/tmp/file", stand out channel));
  put (f, ("kept", new line));
  close (f);
  VOID (open (f, "/tmp/file", stand in channel));
  get (f, (line, new line));
  close (f);
  print ((line, new line))
END`,
  threads: `BEGIN
  [0 : 3] INT sums;
  PROC add up = (INT part) VOID:
    BEGIN
      INT sum := 0;
      FOR n TO 250 DO sum +:= part * 250 + n OD;
      sums[part] := sum
    END;
  PAR (add up (0), add up (1), add up (2), add up (3));
  INT total := 0;
  FOR part FROM 0 TO 3 DO total +:= sums[part] OD;
  print ((whole (total, 0), new line))
END`,
  network: `BEGIN
  STRING reply;
  IF http content (reply, "127.0.0.1", "/", 9) /= 0 THEN print (("closed", new line)) FI
END`,
  usual: `BEGIN
  MODE RECORD = STRUCT (STRING name, INT number);
  [1 : 100] RECORD all;
  INT n := 0, sum := 0;
  BOOL done := FALSE;
  on logical file end (stand in, (REF FILE f) BOOL: done := TRUE);
  STRING line;
  WHILE
    get (stand in, (line, new line));
    NOT done
  DO
    INT first, last, gap;
    IF grep in string ("-?[0-9]+$", line, first, last) = 0 AND char in string (" ", gap, line) THEN
      INT number := 0;
      FOR k FROM first TO last DO
        IF line[k] /= "-" THEN number := number * 10 + ABS line[k] - ABS "0" FI
      OD;
      IF line[first] = "-" THEN number := -number FI;
      n +:= 1;
      all[n] := (line[1 : gap - 1], number);
      sum +:= number
    FI
  OD;
  PRIO BEFORE = 5;
  OP BEFORE = (RECORD a, b) BOOL:
    IF number OF a = number OF b THEN name OF a < name OF b ELSE number OF a < number OF b FI;
  FOR k FROM 2 TO n DO
    INT j := k;
    WHILE IF j > 1 THEN all[j] BEFORE all[j - 1] ELSE FALSE FI DO
      RECORD other = all[j];
      all[j] := all[j - 1];
      all[j - 1] := other;
      j -:= 1
    OD
  OD;
  FOR k TO n DO
    print ((name OF all[k], ": ", whole (number OF all[k], 0), new line))
  OD;
  print (("mean: ", fixed (sum / n, 0, 2), new line))
END`,
  arguments: 'FOR n FROM 2 TO a68g argc DO print ((a68g argv (n), new line)) OD',
  variable: 'print ((get env ("GREETING"), new line))',
  secondFile: {
    code: 'PR include "answer.a68" PR\nprint ((whole (answer, 0), new line))',
    file: { name: 'answer.a68', content: 'PROC answer = INT: 42;\n' },
  },
}
