// Racket's programs.
import type { Programs } from './program.ts'

export const racket: Programs = {
  sum: '#lang racket\n(define a (read))\n(define b (read))\n(displayln (+ a b))',
  copy: '#lang racket\n(for ([line (in-lines)])\n  (displayln line))',
  unicode: '#lang racket\n(displayln "Grüße, 世界 🎉")\n(displayln (read-line))',
  exitThree: '#lang racket\n(display "out")\n(eprintf "err")\n(exit 3)',
  uncaught: {
    code: '#lang racket\n(define (f x)\n  (raise-argument-error \'f "positive?" x))\n(f -1)',
    says: /f: contract violation\n\s+expected: positive\?/,
  },
  broken: {
    code: '#lang racket\n(define a 1)\n(define b (+ a c))\n',
    says: /main\.rkt:3:15: c: unbound identifier/,
  },
  busyLoop: '#lang racket\n(let loop () (loop))',
  sleeper: '#lang racket\n(sleep 60)',
  memoryBomb:
    '#lang racket\n(let loop ([kept null])\n  (loop (cons (make-bytes (expt 2 20) 1) kept)))',
  outputFlood: '#lang racket\n(let loop ()\n  (displayln (make-string 100 #\\x))\n  (loop))',
  scratch: `#lang racket
(with-output-to-file "/tmp/file" (λ () (displayln "kept")))
(displayln (first (file->lines "/tmp/file")))`,
  threads: `#lang racket
(define results (make-channel))
(for ([part 4])
  (thread
   (λ ()
     (channel-put results (for/sum ([n (in-range (* part 250) (* (add1 part) 250))]) (add1 n))))))
(displayln (for/sum ([_ 4]) (channel-get results)))`,
  network: `#lang racket
(with-handlers ([exn:fail? (λ (e) (displayln "closed"))])
  (tcp-connect "127.0.0.1" 9))`,
  usual: `#lang racket
(require math/statistics)
(define rows
  (for/list ([line (in-lines)])
    (match line
      [(pregexp #px"^(\\\\w+)\\\\s+(-?\\\\d+)$" (list _ name number))
       (cons (string->number number) name)])))
(define (before? a b)
  (or (< (car a) (car b))
      (and (= (car a) (car b)) (string<? (cdr a) (cdr b)))))
(for ([row (sort rows before?)])
  (printf "~a: ~a\\n" (cdr row) (car row)))
(printf "mean: ~a\\n" (~r (mean (map car rows)) #:precision '(= 2)))`,
  arguments:
    '#lang racket/base\n(for ([word (current-command-line-arguments)])\n  (displayln word))',
  variable: `#lang racket/base
(displayln (getenv "GREETING"))`,
  secondFile: {
    code: '#lang racket/base\n(require "answer.rkt")\n(displayln (answer))',
    file: {
      name: 'answer.rkt',
      content: '#lang racket/base\n(provide answer)\n(define (answer) 42)\n',
    },
  },
}
