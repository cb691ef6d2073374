// CHICKEN's programs.
import type { Programs } from './program.ts'

export const chicken: Programs = {
  sum: '(let* ((a (read)) (b (read)))\n  (print (+ a b)))',
  copy: `(import (chicken io))
(let loop ((line (read-line)))
  (unless (eof-object? line)
    (write-line line)
    (loop (read-line))))`,
  unicode: '(import (chicken io))\n(print "Grüße, 世界 🎉")\n(print (read-line))',
  exitThree: '(display "out")\n(display "err" (current-error-port))\n(exit 3)',
  uncaught: {
    code: '(define (f x)\n  (error "no such thing" x))\n(f 1)',
    says: /Error: no such thing: 1/,
  },
  broken: {
    code: '(define a 1)\n(define b 2)\n(let ((c)) c)\n',
    says: /\(main\.scm:3\)/,
  },
  busyLoop: '(let loop () (loop))',
  sleeper: '(import (chicken process-context) (chicken process))\n(sleep 60)',
  memoryBomb: `(let loop ((kept '()))
  (loop (cons (make-vector 100000 1) kept)))`,
  outputFlood: '(let loop ()\n  (print (make-string 100 #\\x))\n  (loop))',
  scratch: `(import (chicken io))
(call-with-output-file "/tmp/file" (lambda (out) (write-line "kept" out)))
(print (call-with-input-file "/tmp/file" read-line))`,
  // Threads (srfi-18) need an egg; processes are part of the core.
  threads: `(import (chicken process) (chicken file posix))
(define (sum part)
  (do ((n 1 (+ n 1)) (sum 0 (+ sum n (* part 250)))) ((> n 250) sum)))
(define (start part)
  (let-values (((in out) (create-pipe)))
    (process-fork (lambda () (file-write out (number->string (sum part))) (exit)))
    (file-close out)
    (open-input-file* in)))
(print (apply + (map read (map start '(0 1 2 3)))))`,
  network: `(import (chicken tcp) (chicken condition))
(handle-exceptions e (print "closed")
  (tcp-connect "127.0.0.1" 9))`,
  usual: `(import (chicken io) (chicken sort) (chicken irregex) (chicken string) (chicken format))
(define (parse line)
  (let ((m (irregex-match "(\\\\w+) (-?\\\\d+)" line)))
    (cons (irregex-match-substring m 1)
          (string->number (irregex-match-substring m 2)))))
(define rows (map parse (read-lines)))
(define (before? a b)
  (or (< (cdr a) (cdr b))
      (and (= (cdr a) (cdr b)) (string<? (car a) (car b)))))
(for-each (lambda (row) (printf "~a: ~a~%" (car row) (cdr row)))
          (sort rows before?))
(define cents (inexact->exact (round (* 100 (/ (apply + (map cdr rows)) (length rows))))))
(define (two n) (if (< n 10) (conc "0" n) n))
(print "mean: " (quotient cents 100) "." (two (remainder cents 100)))`,
  arguments: '(import (chicken process-context))\n(for-each print (command-line-arguments))',
  variable: `(import (chicken process-context))
(print (get-environment-variable "GREETING"))`,
  secondFile: {
    code: '(include "answer.scm")\n(print (answer))',
    file: { name: 'answer.scm', content: '(define (answer) 42)\n' },
  },
  compileArguments: {
    words: ['-D', 'own'],
    code: '(cond-expand (own (print 42)) (else (print 0)))',
  },
}
