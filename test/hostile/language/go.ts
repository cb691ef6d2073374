// Attacks in Go, and through its compiler.
import { aims, exhausts, showsNone } from './language.ts'
import type { HostileLanguage } from './language.ts'
import { everyWay } from './ways.ts'

const raw = String.raw

const program = raw`
package main
import ("fmt"; "io"; "os"; "os/exec"; "runtime"; "strings"; "syscall"; "time")
var host = []string{${aims.hostFiles}}
var own = []string{${aims.boxFiles}}
var rows = []int{${aims.calls}}
var policy = []int{${aims.errors}}
var held [][]byte
func main() {
	if _, err := os.Stat("/etc/debian_version"); err == nil { fmt.Println("ESCAPED there is no box"); os.Exit(1) }
	text, _ := io.ReadAll(os.Stdin)
	block := make([]byte, 1 << 20)
	switch strings.TrimSpace(string(text)) {
	case "files":
		for _, path := range host { if _, err := os.Open(path); err == nil { fmt.Println("ESCAPED", path) } }
		for _, path := range own { text, _ := os.ReadFile(path); fmt.Println(string(text)) }
	case "calls":
		for i := 0; i < len(rows); i += 7 {
			a := func(n int) uintptr { return uintptr(rows[i+n]) }
			result, _, err := syscall.RawSyscall6(a(0), a(1), a(2), a(3), a(4), a(5), a(6))
			known := false
			for _, one := range policy { known = known || one == int(err) }
			if err == 0 { fmt.Println("ESCAPED call", rows[i], result) } else if !known { fmt.Println("UNSURE call", rows[i], err) }
		}
		// What the runtime itself would make: a new user namespace, and root's uid in it.
		command := exec.Command("/usr/bin/env")
		command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS}
		if command.Run() == nil { fmt.Println("ESCAPED a namespace") }
		if file, err := os.StartProcess("/usr/bin/env", []string{"env"}, &os.ProcAttr{Sys: &syscall.SysProcAttr{Ptrace: true}}); err == nil { fmt.Println("ESCAPED a traced process", file) }
	case "daemon":
		command := exec.Command("/bin/sh", "-c", "sleep 600 & sleep 600")
		command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		command.Start()
		time.Sleep(50 * time.Millisecond)
	case "disk":
		file, _ := os.Create("/tmp/fill")
		written := 0
		for written < 64 << 20 { n, err := file.Write(block); written += n; if err != nil { break } }
		if written > 32 << 20 { fmt.Println("ESCAPED the disk") }
	case "output":
		for { if _, err := os.Stdout.Write(block); err != nil { os.Exit(9) } }
	case "memory":
		for { one := make([]byte, 1 << 20); for i := 0; i < len(one); i += 4096 { one[i] = 1 }; held = append(held, one) }
	case "processes":
		for { exec.Command("/bin/sh", "-c", "sleep 60 & sleep 60").Start() }
	case "threads":
		for { go func() { runtime.LockOSThread(); syscall.Pause() }() }
	default:
		os.Exit(9)
	}
	fmt.Println("held")
}`

const main = '\nimport "os"\nfunc main() { os.Stdout.WriteString("held\\n") }'

export const go: HostileLanguage = {
  language: 'go',
  program,
  // Go's runtime aborts when it cannot start a thread.
  ways: { ...everyWay, processes: ['crashed'], threads: ['crashed', 'output_limit'] },
  sources: [
    showsNone(
      'go:embed shows no file',
      (path) =>
        `package main\nimport _ "embed"\n//go:embed ${path}\nvar text string\nfunc main() { print(text, "\\nheld\\n") }`,
    ),
    showsNone(
      'C between comments shows no file',
      (path) => `package main\n// #include "${path}"\nimport "C"${main}`,
    ),
    showsNone(
      'options for the linker show no file',
      (path) => `package main\n//#cgo LDFLAGS: -Wl,@${path} ${path}\nimport "C"${main}`,
    ),
    showsNone(
      'an import of a path shows no file',
      (path) => `package main\nimport _ "${path}"${main}`,
    ),
    showsNone(
      'a line marker shows no file',
      (path) => `package main\n//line ${path}:1\nfunc main() { undeclared() }`,
    ),
    showsNone(
      'go:generate runs nothing',
      (path) => `package main\n//go:generate cat ${path}${main}`,
    ),
    exhausts(
      'types that double end',
      `package main\nimport "os"\ntype T0 [2]int\n${Array.from({ length: 60 }, (_, i) => `type T${i + 1} struct { a, b T${i} }`).join('\n')}\nvar x T60\nfunc main() { os.Exit(len(os.Args)) }`,
    ),
    exhausts(
      'a constant of a million digits ends',
      `package main\nconst a = 1 << 500\n${Array.from({ length: 30 }, (_, i) => `const a${i + 1} = a${i || ''} * a${i || ''}`).join('\n')}\nfunc main() { println(a30 != 0) }`,
    ),
    exhausts(
      'an array of a gigabyte ends',
      `package main\nvar x = [1 << 30]byte{1<<29: 1}\nfunc main() { println(x[1]) }`,
    ),
  ],
}
