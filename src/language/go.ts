// Go: its own compiler, without C.
import type { LanguageDefinition } from './definition.ts'
import { usualCompile, usualRun } from './limits.ts'

export const go = {
  name: 'go',
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
  settings: {},
  limits: { compile: usualCompile, run: usualRun },
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
    compile: { commands: [['go', 'build', '-o', 'main', 'main.go']], makes: 'main' },
    run: ['./main'],
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
