// Guile's programs.
import type { Programs } from './program.ts'

export const guile: Programs = {
  sum: '(let* ((a (read)) (b (read)))\n  (display (+ a b))\n  (newline))',
  copy: `(use-modules (ice-9 rdelim))
(let loop ((line (read-line)))
  (unless (eof-object? line)
    (display line)
    (newline)
    (loop (read-line))))`,
  unicode:
    '(use-modules (ice-9 rdelim))\n(display "Grüße, 世界 🎉\\n")\n(display (read-line))\n(newline)',
  exitThree: '(display "out")\n(display "err" (current-error-port))\n(exit 3)',
  uncaught: {
    code: '(define (f x)\n  (error "no such thing:" x))\n(f 1)',
    says: /no such thing: 1/,
  },
  broken: {
    code: '(define a 1)\n(define b 2)\n(let ((c)) c)\n',
    says: /main\.scm:3:0: .*bad let|main\.scm:3/,
  },
  busyLoop: '(let loop () (loop))',
  sleeper: '(sleep 60)',
  memoryBomb: `(use-modules (rnrs bytevectors))
(define kept '())
(while #t
  (set! kept (cons (make-bytevector (expt 2 20) 1) kept)))`,
  outputFlood: '(let loop ()\n  (display (make-string 100 #\\x))\n  (newline)\n  (loop))',
  scratch: `(use-modules (ice-9 rdelim))
(call-with-output-file "/tmp/file" (lambda (port) (display "kept" port)))
(display (call-with-input-file "/tmp/file" read-line))`,
  threads: `(use-modules (ice-9 threads) (srfi srfi-1))
(define (part n) (apply + (iota 250 (+ 1 (* n 250)))))
(define threads (map (lambda (n) (call-with-new-thread (lambda () (part n)))) (iota 4)))
(display (fold + 0 (map join-thread threads)))`,
  network: `(catch 'system-error
  (lambda ()
    (let ((s (socket PF_INET SOCK_STREAM 0)))
      (connect s AF_INET INADDR_LOOPBACK 9)))
  (lambda _ (display "closed")))`,
  usual: `(use-modules (ice-9 rdelim) (ice-9 regex) (ice-9 format) (srfi srfi-1))
(define (parse line)
  (let ((m (string-match "^([a-z]+) (-?[0-9]+)$" line)))
    (cons (match:substring m 1) (string->number (match:substring m 2)))))
(define rows
  (let loop ((line (read-line)) (rows '()))
    (if (eof-object? line)
        rows
        (loop (read-line) (cons (parse line) rows)))))
(define (before? a b)
  (or (< (cdr a) (cdr b))
      (and (= (cdr a) (cdr b)) (string<? (car a) (car b)))))
(for-each (lambda (row) (format #t "~a: ~a~%" (car row) (cdr row)))
          (sort rows before?))
(format #t "mean: ~,2f~%" (/ (fold + 0.0 (map cdr rows)) (length rows)))`,
  arguments: '(for-each\n  (lambda (word) (display word) (newline))\n  (cdr (command-line)))',
  variable: `(display (getenv "GREETING"))
(newline)`,
  secondFile: {
    code: '(use-modules (answer))\n(display (get-answer))\n(newline)',
    file: {
      name: 'answer.scm',
      content: '(define-module (answer)\n  #:export (get-answer))\n(define (get-answer) 42)\n',
    },
  },
}
