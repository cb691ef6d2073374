// Go: its own compiler, without C.
//
// If the distribution has a precompiled standard library, the script calls compiler and linker directly, because `go build`
// takes twice as long only to find that nothing else must be compiled. The library's `net` and `os/user` use C. `go build`
// still compiles sources that cause messages, and sources that may import internal packages, which only the library may import.
import type { LanguageDefinition } from './definition.ts'

const script = `
tools=$(echo /usr/lib/go/pkg/tool/*/)
[ -e go.mod ] && GO111MODULE=on
[ $# = 0 ] && [ "$(echo *.go)" = main.go ] && ! grep -q internal main.go &&
  "$tools/compile" -p main -complete -c=2 -o main.o main.go >/dev/null 2>&1 &&
  "$tools/link" -s -w -o main main.o >/dev/null 2>&1 ||
  exec go build -ldflags='-s -w' -o main "$@" ./*.go`

export const go = {
  title: 'Go',
  aliases: ['golang'],
  extensions: ['.go'],
  comment: ['//', ''],
  packages: ['golang-go'],
  tools: [
    {
      program: 'go',
      ask: ['version'],
      pattern: /^go version go(\d+)\.(\d+)\S*/mu,
      oldest: [1, 16],
    },
  ],
  least: { processes: 4 },
  example: `package main

import "fmt"

func main() {
	fmt.Println("Hello, world!")
}`,
  trial: `package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	text, _ := io.ReadAll(os.Stdin)
	fmt.Println(len(text))
}`,
  recipe: {
    source: 'main.go',
    compile: {
      commands: [['sh', '-c', script, 'sh']],
      makes: 'main',
    },
    run: ['./main'],
    typed: { compile: ['go', 'build', '-o', 'main', 'main.go'] },
    environment: {
      CGO_ENABLED: '0',
      GOCACHE: '/tmp/go-build',
      GOFLAGS: '-mod=mod',
      GO111MODULE: 'off',
      GOPATH: '/tmp/go',
      GOPROXY: 'off',
      GOTOOLCHAIN: 'local',
    },
    paths: ['/usr/share/go-*'],
  },
} as const satisfies LanguageDefinition
