// Chez Scheme's programs.
import type { Programs } from './program.ts'

export const scheme: Programs = {
  sum: '(let* ([a (read)] [b (read)])\n  (display (+ a b))\n  (newline))',
  copy: `(let loop ([c (read-char)])
  (unless (eof-object? c)
    (write-char c)
    (loop (read-char))))`,
  unicode:
    '(display "Grüße, 世界 🎉")\n(newline)\n(display (get-line (current-input-port)))\n(newline)',
  exitThree: '(display "out")\n(display "err" (console-error-port))\n(exit 3)',
  uncaught: {
    code: '(define (f x)\n  (error \'f "no such thing" x))\n(f 1)',
    says: /Exception in f: no such thing with irritant 1/,
  },
  broken: {
    code: '(define a 1)\n(define b 2)\n(define c (+ a b)))\n',
    says: /invalid.* at line 3, char \d+ of main\.ss|line 3/,
  },
  busyLoop: '(let loop () (loop))',
  sleeper: "(sleep (make-time 'time-duration 0 60))",
  memoryBomb: '(let loop ([kept (list)])\n  (loop (cons (make-bytevector (expt 2 20) 1) kept)))',
  outputFlood: '(let loop ()\n  (display (make-string 100 #\\x))\n  (newline)\n  (loop))',
  scratch: `(call-with-output-file "/tmp/file" (lambda (out) (display "kept" out)))
(display (call-with-input-file "/tmp/file" get-line))`,
  threads: `(define lock (make-mutex))
(define done (make-condition))
(define left 4)
(define total 0)
(define (work part)
  (let loop ([n 1] [sum 0])
    (if (<= n 250)
        (loop (+ n 1) (+ sum (* part 250) n))
        (with-mutex lock
          (set! total (+ total sum))
          (set! left (- left 1))
          (condition-signal done)))))
(for-each (lambda (part) (fork-thread (lambda () (work part)))) (iota 4))
(with-mutex lock
  (let wait ()
    (unless (zero? left)
      (condition-wait done lock)
      (wait))))
(display total)
(flush-output-port)`,
  network: `(load-shared-object "libc.so.6")
(define socket (foreign-procedure "socket" (int int int) int))
(define connect (foreign-procedure "connect" (int u8* int) int))
(let ([s (socket 2 1 0)] [address (bytevector 2 0 0 9 127 0 0 1 0 0 0 0 0 0 0 0)])
  (when (or (< s 0) (not (zero? (connect s address 16))))
    (display "closed")))`,
  usual: `(define (read-rows)
  (let ([name (read)])
    (if (eof-object? name)
        '()
        (let ([number (read)])
          (cons (cons (symbol->string name) number) (read-rows))))))
(define (before? a b)
  (or (< (cdr a) (cdr b))
      (and (= (cdr a) (cdr b)) (string<? (car a) (car b)))))
(let* ([rows (read-rows)]
       [sum (fold-left + 0 (map cdr rows))])
  (for-each
    (lambda (row) (format #t "~a: ~a\\n" (car row) (cdr row)))
    (sort before? rows))
  (format #t "mean: ~,2f\\n" (/ sum (length rows))))`,
  arguments: '(for-each\n  (lambda (word) (display word) (newline))\n  (command-line-arguments))',
  variable: `(display (getenv "GREETING"))
(newline)`,
  secondFile: {
    code: '(load "answer.ss")\n(display (answer))\n(newline)',
    file: { name: 'answer.ss', content: '(define (answer) 42)\n' },
  },
}
