// Icon's programs.
import type { Programs } from './program.ts'

/** A main procedure around this body. */
function main(body: string): string {
  return `procedure main()\n${body}\nend\n`
}

export const icon: Programs = {
  sum: main('    a := read()\n    b := read()\n    write(a + b)'),
  copy: main('    while write(read())'),
  unicode: main('    write("Grüße, 世界 🎉")\n    write(read())'),
  exitThree: main('    writes("out")\n    writes(&errout, "err")\n    exit(3)'),
  uncaught: {
    code: 'procedure f(x)\n    return x + "a"\nend\n\nprocedure main()\n    f(1)\nend\n',
    says: /Run-time error 102\nFile main\.icn; Line 2\nnumeric expected/,
  },
  broken: {
    code: 'procedure main()\n    a := 1\n    b := := 2\nend\n',
    says: /File main\.icn; Line 3 # .*invalid argument in assignment/,
  },
  busyLoop: main('    repeat n := 1'),
  sleeper: main('    delay(60000)'),
  memoryBomb: main('    kept := []\n    repeat put(kept, list(100000, 1))'),
  outputFlood: main('    repeat write(repl("x", 100))'),
  scratch: main(`    f := open("/tmp/file", "w") | stop("no file")
    write(f, "kept")
    close(f)
    f := open("/tmp/file") | stop("no file")
    write(read(f))
    close(f)`),
  // Icon's co-expressions take turns.
  threads: `procedure main()
    parts := []
    every part := 0 to 3 do
        put(parts, create part * 250 + (1 to 250))
    sum := 0
    every part := !parts do
        while sum +:= @part
    write(sum)
end
`,
  network: { cannot: 'it knows files and pipes only' },
  usual: main(`    names := table()
    sum := count := 0
    while line := read() do line ? {
        name := tab(many(&letters))
        tab(many(' '))
        number := integer(tab(0))
        /names[number] := []
        put(names[number], name)
        sum +:= number
        count +:= 1
    }
    every pair := !sort(names, 1) do
        every write(!sort(pair[2]), ": ", pair[1])
    cents := integer(sum * 100.0 / count + 0.5)
    write("mean: ", cents / 100, ".", right(cents % 100, 2, "0"))`),
  arguments: 'procedure main(words)\n    every write(!words)\nend\n',
  variable: `procedure main()
    write(getenv("GREETING"))
end
`,
  secondFile: {
    code: main('    write(answer())'),
    file: { name: 'answer.icn', content: 'procedure answer()\n    return 42\nend\n' },
  },
}
