// Assembly's programs: NASM, system calls, no library.
import type { Programs } from './program.ts'

/** A system call with up to five arguments. */
const system = `%macro system 1-6 0, 0, 0, 0, 0
  mov r8, %6
  mov r10, %5
  mov rdx, %4
  mov rsi, %3
  mov rdi, %2
  mov rax, %1
  syscall
%endmacro

global _start
`

/** Writes the number in rax, in decimal, where rdi points to, and moves rdi behind it. */
const number = `
number:
  test rax, rax
  jns .positive
  mov byte [rdi], '-'
  inc rdi
  neg rax
.positive:
  mov ecx, 10
  xor r8d, r8d
.digit:
  xor edx, edx
  div rcx
  add edx, '0'
  push rdx
  inc r8
  test rax, rax
  jnz .digit
.write:
  pop rdx
  mov [rdi], dl
  inc rdi
  dec r8
  jnz .write
  ret
`

/** Reads the digits that rsi points to into rax, and moves rsi behind what follows them. */
const parse = `
parse:
  xor eax, eax
  xor r8d, r8d
  cmp byte [rsi], '-'
  jne .digit
  inc rsi
  inc r8
.digit:
  movzx ecx, byte [rsi]
  inc rsi
  sub ecx, '0'
  jb .end
  imul rax, 10
  add rax, rcx
  jmp .digit
.end:
  test r8, r8
  jz .positive
  neg rax
.positive:
  ret
`

export const assembly: Programs = {
  sum: `${system}
section .bss
input: resb 100
output: resb 100

section .text
_start:
  system 0, 0, input, 100
  mov rsi, input
  call parse
  mov rbx, rax
  call parse
  add rax, rbx
  mov rdi, output
  call number
  sub rdi, output
  system 1, 1, output, rdi
  system 60
${parse}${number}`,
  copy: `${system}
section .bss
buffer: resb 4096

section .text
_start:
  system 0, 0, buffer, 4096
  test rax, rax
  jle .end
  system 1, 1, buffer, rax
  jmp _start
.end:
  system 60
`,
  unicode: `${system}
section .rodata
text: db "Grüße, 世界 🎉", 10
length: equ $ - text

section .bss
line: resb 100

section .text
_start:
  system 1, 1, text, length
  system 0, 0, line, 100
  system 1, 1, line, rax
  system 60
`,
  exitThree: `${system}
section .rodata
out: db "out"
err: db "err"

section .text
_start:
  system 1, 1, out, 3
  system 1, 2, err, 3
  system 60, 3
`,
  // Nothing is written when a signal ends the program.
  uncaught: { code: 'global _start\nsection .text\n_start:\n  ud2\n', says: /^$/ },
  broken: {
    code: 'global _start\nsection .text\n_start: moov eax, 60\n  syscall\n',
    says: /main\.asm:3: error/,
  },
  busyLoop: 'global _start\nsection .text\n_start:\n  jmp _start\n',
  sleeper: `${system}
section .rodata
minute: dq 60, 0

section .text
_start:
  system 35, minute
  system 60
`,
  memoryBomb: `${system}
section .text
_start:
  xor r9d, r9d
  ; mmap, private and anonymous and there at once
  system 9, 0, 1 << 20, 3, 0x8022, -1
  jmp _start
`,
  outputFlood: `${system}
section .rodata
text: db "for ever and ever and ever", 10
length: equ $ - text

section .text
_start:
  system 1, 1, text, length
  jmp _start
`,
  scratch: `${system}
section .rodata
path: db "/tmp/file", 0
text: db "kept", 10

section .bss
back: resb 5

section .text
_start:
  system 2, path, 102o, 600o
  mov rbx, rax
  system 1, rbx, text, 5
  system 8, rbx
  system 0, rbx, back, 5
  system 1, 1, back, 5
  system 60
`,
  threads: `${system}
section .data
sum: dq 0
left: dq 4

section .bss
stacks: resb 4 * 4096
output: resb 100

section .text
_start:
  xor ebx, ebx
.start:
  mov rbp, rbx
  inc rbp
  shl rbp, 12
  add rbp, stacks
  ; clone, as a thread of this process
  system 56, 0x50f00, rbp
  test rax, rax
  jz add
  inc rbx
  cmp rbx, 4
  jb .start
.wait:
  system 24
  cmp qword [left], 0
  jne .wait
  mov rax, [sum]
  mov rdi, output
  call number
  sub rdi, output
  system 1, 1, output, rdi
  system 231

add:
  imul rax, rbx, 250
  mov ecx, 250
.next:
  inc rax
  lock add [sum], rax
  loop .next
  lock dec qword [left]
  system 60
${number}`,
  network: `${system}
section .rodata
target: db 2, 0, 0, 9, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0
text: db "closed", 10

section .text
_start:
  system 41, 2, 1
  system 42, rax, target, 16
  test rax, rax
  jns .end
  system 1, 1, text, 7
.end:
  system 60
`,
  usual: `${system}
; A row is its number, its name and the name's length.
row: equ 24

section .rodata
mean: db "mean: "

section .bss
input: resb 65536
output: resb 65536
rows: resb row * 1000

section .text
_start:
  system 0, 0, input, 65535
  lea r15, [input + rax]
  mov rsi, input
  mov rbx, rows
  xor r13, r13
.line:
  cmp rsi, r15
  jae sort
  mov [rbx + 8], rsi
.name:
  inc rsi
  cmp byte [rsi], ' '
  jne .name
  mov rax, rsi
  sub rax, [rbx + 8]
  mov [rbx + 16], rax
  inc rsi
  call parse
  mov [rbx], rax
  add r13, rax
  add rbx, row
  jmp .line

sort:
  mov r12, rows
.next:
  add r12, row
  cmp r12, rbx
  jae print
  mov r14, r12
.sink:
  cmp r14, rows
  je .next
  mov rax, [r14 - row]
  cmp rax, [r14]
  jl .next
  jg .swap
  ; The space behind a name comes before all letters.
  mov rsi, [r14 - row + 8]
  mov rdi, [r14 + 8]
  mov rcx, [r14 + 16]
  inc rcx
  repe cmpsb
  jbe .next
.swap:
  movups xmm0, [r14 - row]
  movups xmm1, [r14]
  movups [r14 - row], xmm1
  movups [r14], xmm0
  mov rax, [r14 - row + 16]
  xchg rax, [r14 + 16]
  mov [r14 - row + 16], rax
  sub r14, row
  jmp .sink

print:
  mov rdi, output
  mov r12, rows
.row:
  cmp r12, rbx
  jae .mean
  mov rsi, [r12 + 8]
  mov rcx, [r12 + 16]
  rep movsb
  mov word [rdi], ': '
  add rdi, 2
  mov rax, [r12]
  call number
  mov byte [rdi], 10
  inc rdi
  add r12, row
  jmp .row
.mean:
  mov rsi, mean
  mov ecx, 6
  rep movsb
  mov rax, rbx
  sub rax, rows
  xor edx, edx
  mov ecx, row
  div rcx
  mov rcx, rax
  imul rax, r13, 100
  cqo
  idiv rcx
  mov ecx, 100
  cqo
  idiv rcx
  push rdx
  call number
  mov byte [rdi], '.'
  inc rdi
  pop rax
  mov ecx, 10
  xor edx, edx
  div rcx
  add al, '0'
  add dl, '0'
  mov [rdi], al
  mov [rdi + 1], dl
  mov byte [rdi + 2], 10
  add rdi, 3
  sub rdi, output
  system 1, 1, output, rdi
  system 60
${parse}${number}`,
  arguments: `${system}
section .data
end: db 10

section .text
_start:
  mov r12, [rsp]
  lea r13, [rsp + 16]
.next:
  dec r12
  jz .done
  mov rsi, [r13]
  add r13, 8
  mov r14, rsi
.length:
  cmp byte [r14], 0
  je .write
  inc r14
  jmp .length
.write:
  sub r14, rsi
  system 1, 1, rsi, r14
  system 1, 1, end, 1
  jmp .next
.done:
  system 60, 0
`,
  variable: `${system}
section .data
end: db 10
name: db "GREETING="

section .text
_start:
  mov r12, [rsp]
  lea r12, [rsp + 8 * r12 + 16]
.next:
  mov rsi, [r12]
  add r12, 8
  mov rax, [rsi]
  cmp rax, [name]
  jne .next
  add rsi, 9
  mov rdx, rsi
.length:
  cmp byte [rdx], 0
  je .print
  inc rdx
  jmp .length
.print:
  sub rdx, rsi
  mov rax, 1
  mov rdi, 1
  syscall
  mov rax, 1
  mov rdi, 1
  mov rsi, end
  mov rdx, 1
  syscall
  mov rax, 60
  mov rdi, 0
  syscall`,
  secondFile: {
    code: `${system}
%include "answer.asm"

section .text
_start:
  system 1, 1, answer, length
  system 60, 0
`,
    file: {
      name: 'answer.asm',
      content: 'section .rodata\nanswer: db "42", 10\nlength: equ $ - answer\n',
    },
  },
}
