// Assembly of x86-64: NASM.
import type { LanguageDefinition } from './definition.ts'

export const assembly = {
  title: 'Assembly',
  aliases: ['asm', 'nasm'],
  extensions: ['.asm', '.s'],
  comment: [';', ''],
  packages: ['nasm', 'binutils'],
  tools: [
    { program: 'nasm', title: 'NASM', pattern: /^NASM version (\d+)\.(\d+)\S*/mu, oldest: [2, 14] },
    { program: 'ld', pattern: /^GNU ld .* (\d+)\.(\d+)/mu, oldest: [2, 30] },
  ],
  example: `global _start

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
text: db "Hello, world!", 10
length: equ $ - text`,
  trial: `global _start
section .bss
b: resb 65536
t: resb 24
section .text
_start:
  xor r12, r12
r: xor rax, rax
  xor rdi, rdi
  mov rsi, b
  mov rdx, 65536
  syscall
  add r12, rax
  test rax, rax
  jg r
  mov rsi, t+23
  mov byte [rsi], 10
  mov rax, r12
  mov rcx, 10
d: xor rdx, rdx
  div rcx
  add dl, 48
  dec rsi
  mov [rsi], dl
  test rax, rax
  jnz d
  mov rax, 1
  mov rdi, 1
  mov rdx, t+24
  sub rdx, rsi
  syscall
  mov rax, 60
  xor rdi, rdi
  syscall`,
  recipe: {
    source: 'main.asm',
    compile: {
      commands: [
        ['nasm', '-felf64', '-o', 'main.o', 'main.asm'],
        ['ld', '-o', 'main', 'main.o'],
      ],
      makes: 'main',
    },
    run: ['./main'],
  },
} as const satisfies LanguageDefinition
