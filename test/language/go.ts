// Go's programs.
import type { Programs } from './program.ts'

/** A package main with these imports around the body of its `main`. */
const main = (imports: readonly string[], body: string): string =>
  `package main

import (
${imports.map((name) => `\t"${name}"`).join('\n')}
)

func main() {
${body}
}
`

export const go: Programs = {
  sum: main(['fmt'], '\tvar a, b int\n\tfmt.Scan(&a, &b)\n\tfmt.Println(a + b)'),
  copy: main(
    ['bufio', 'fmt', 'os'],
    '\tin := bufio.NewScanner(os.Stdin)\n\tfor in.Scan() {\n\t\tfmt.Println(in.Text())\n\t}',
  ),
  unicode: main(
    ['bufio', 'fmt', 'os'],
    `\tfmt.Println("Grüße, 世界 🎉")
\tline, _ := bufio.NewReader(os.Stdin).ReadString('\\n')
\tfmt.Print(line)`,
  ),
  exitThree: main(
    ['fmt', 'os'],
    '\tfmt.Print("out")\n\tfmt.Fprint(os.Stderr, "err")\n\tos.Exit(3)',
  ),
  uncaught: {
    code: main(['errors'], '\tpanic(errors.New("no such thing"))'),
    says: /^panic: no such thing\n[^]*main\.go:8/,
  },
  broken: {
    code: 'package main\n\nfunc main() { a := }\n',
    says: /main\.go:3:20: syntax error/,
  },
  busyLoop: 'package main\n\nfunc main() {\n\tfor {\n\t}\n}\n',
  sleeper: main(['time'], '\ttime.Sleep(time.Minute)'),
  memoryBomb: main(
    ['bytes'],
    `\tvar kept [][]byte
\tfor {
\t\tkept = append(kept, bytes.Repeat([]byte("x"), 1<<20))
\t}`,
  ),
  outputFlood: main(['fmt', 'strings'], '\tfor {\n\t\tfmt.Println(strings.Repeat("x", 100))\n\t}'),
  scratch: main(
    ['fmt', 'os'],
    `\tif err := os.WriteFile("/tmp/file", []byte("kept"), 0o644); err != nil {
\t\tpanic(err)
\t}
\ttext, err := os.ReadFile("/tmp/file")
\tif err != nil {
\t\tpanic(err)
\t}
\tfmt.Println(string(text))`,
  ),
  threads: main(
    ['fmt', 'sync'],
    `\tvar wait sync.WaitGroup
\tparts := make(chan int, 4)
\tfor part := 0; part < 4; part++ {
\t\twait.Add(1)
\t\tgo func(first int) {
\t\t\tdefer wait.Done()
\t\t\tsum := 0
\t\t\tfor n := first; n < first+250; n++ {
\t\t\t\tsum += n
\t\t\t}
\t\t\tparts <- sum
\t\t}(part*250 + 1)
\t}
\twait.Wait()
\tclose(parts)
\tsum := 0
\tfor part := range parts {
\t\tsum += part
\t}
\tfmt.Println(sum)`,
  ),
  network: main(
    ['fmt', 'net'],
    `\tif _, err := net.Dial("tcp", "127.0.0.1:9"); err != nil {
\t\tfmt.Println("closed")
\t}`,
  ),
  usual: main(
    ['bufio', 'fmt', 'os', 'regexp', 'sort', 'strconv'],
    `\tform := regexp.MustCompile(\`^(\\w+) (-?\\d+)$\`)
\tnumbers := map[string]int{}
\tnames := []string{}
\tsum := 0
\tin := bufio.NewScanner(os.Stdin)
\tfor in.Scan() {
\t\tfound := form.FindStringSubmatch(in.Text())
\t\tnumber, err := strconv.Atoi(found[2])
\t\tif err != nil {
\t\t\tpanic(err)
\t\t}
\t\tnames = append(names, found[1])
\t\tnumbers[found[1]] = number
\t\tsum += number
\t}
\tsort.Slice(names, func(i, j int) bool {
\t\ta, b := names[i], names[j]
\t\treturn numbers[a] < numbers[b] || numbers[a] == numbers[b] && a < b
\t})
\tfor _, name := range names {
\t\tfmt.Printf("%s: %d\\n", name, numbers[name])
\t}
\tfmt.Printf("mean: %.2f\\n", float64(sum)/float64(len(names)))`,
  ),
  arguments: main(
    ['fmt', 'os'],
    '\tfor _, word := range os.Args[1:] {\n\t\tfmt.Println(word)\n\t}',
  ),
  variable: `package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Println(os.Getenv("GREETING"))
}`,
  secondFile: {
    code: main(['fmt'], '\tfmt.Println(answer())'),
    file: { name: 'answer.go', content: 'package main\n\nfunc answer() int { return 42 }\n' },
  },
  compileArguments: {
    words: ['-ldflags=-X main.n=42'],
    code: 'package main\n\nimport "fmt"\n\nvar n string\n\nfunc main() {\n\tfmt.Println(n)\n}\n',
  },
}
