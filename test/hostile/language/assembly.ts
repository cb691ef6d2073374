// Attacks in assembly, and through NASM.
import { callRows, exhausts, shows, showsNone } from './language.ts'
import type { HostileLanguage } from './language.ts'

const raw = String.raw

/** Machine code makes system calls directly, without a runtime between. */
export const assembly: HostileLanguage = {
  language: 'assembly',
  program: raw`
global _start
section .text
_start:
  mov r15, rows
next:
  mov rax, [r15]
  mov rdi, [r15 + 8]
  mov rsi, [r15 + 16]
  mov rdx, [r15 + 24]
  mov r10, [r15 + 32]
  mov r8, [r15 + 40]
  mov r9, [r15 + 48]
  syscall
  test rax, rax
  js refused
  mov rax, 1
  mov rdi, 1
  mov rsi, escaped
  mov rdx, 13
  syscall
refused:
  add r15, 56
  cmp r15, rows_end
  jb next
  mov rax, 1
  mov rdi, 1
  mov rsi, held
  mov rdx, 5
  syscall
  mov rax, 60
  xor rdi, rdi
  syscall
section .data
rows: dq ${callRows.flat().join(', ')}
rows_end:
escaped: db "ESCAPED call", 10
held: db "held", 10
`,
  ways: { calls: [] },
  sources: [
    shows(
      'a file included as bytes is not shown',
      (path) => raw`
global _start
section .text
_start:
  mov rax, 1
  mov rdi, 1
  mov rsi, text
  mov rdx, length
  syscall
  mov rax, 60
  xor rdi, rdi
  syscall
section .rodata
text: incbin "${path}"
db 10, "held", 10
length: equ $ - text
`,
    ),
    showsNone('an include shows no file', (path) => `%include "${path}"`),
    showsNone(
      'a table of macros that a file names shows no file',
      (path) => `%use "${path}"\n%line 1 ${path}\nundeclared x\n%error %{undeclared}`,
    ),
    showsNone(
      'an environment variable holds nothing',
      () => `%ifenv RUNLEDGER_CANARY\n%error ESCAPED\n%endif\n%error %!RUNLEDGER_CANARY`,
      ['RUNLEDGER_CANARY'],
    ),
    exhausts('lines that repeat without end end', 'section .data\n%rep 1000000000\ndq 1\n%endrep'),
    exhausts('a terabyte of zeros ends', 'section .data\ntimes 1000000000000 db 1'),
    exhausts(
      'definitions that double end',
      `${Array.from({ length: 40 }, (_, i) => `%define m${i + 1} m${i},m${i}`).join('\n')}\n%define m0 1\nsection .data\ndb m40`,
    ),
    exhausts('an include of itself ends', '%include "main.asm"\n%include "main.asm"'),
  ],
}
