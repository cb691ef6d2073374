// Attacks in Common Lisp, Racket and Guile: at read time, at expansion time, and at run time.
import { boxPaths, callRows, hostPaths, policyErrors, shows, showsNone } from './language.ts'
import type { HostileLanguage } from './language.ts'
import { everyWayWithoutThreads } from './ways.ts'

const raw = String.raw
const list = (words: readonly string[]): string => words.map((word) => `"${word}"`).join(' ')
const rows = callRows.map((row) => `(${row.join(' ')})`).join(' ')
const policy = policyErrors.replaceAll(',', '')

const lispProgram = raw`
(defun look (path) (handler-case (open path :element-type '(unsigned-byte 8)) (error () nil)))
(when (probe-file "/etc/debian_version") (format t "ESCAPED there is no box~%") (exit :code 1))
(defun call (n a b c d e f) (sb-alien:alien-funcall (sb-alien:extern-alien "syscall" (function sb-alien:long sb-alien:long sb-alien:long sb-alien:long sb-alien:long sb-alien:long sb-alien:long sb-alien:long)) n a b c d e f))
(defun c (name) (sb-alien:alien-funcall (sb-alien:extern-alien "syscall" (function sb-alien:int sb-alien:long)) name))
(defvar *fork* ${process.arch === 'x64' ? '57' : '220'})
(defvar *way* (read-line))
(defvar *held* nil)
(defvar *block* (make-string 65536 :initial-element #\x))
(cond
  ((string= *way* "files")
    (dolist (path '(${list(hostPaths)})) (when (look path) (format t "ESCAPED ~a~%" path)))
    (dolist (path '(${list(boxPaths)}))
      (handler-case (with-open-file (file path :external-format :latin-1) (loop for c = (read-char file nil) while c do (write-char c)) (terpri)) (error () nil)))
    (print (sb-ext:posix-environ)) (terpri))
  ((string= *way* "calls")
    (dolist (row '(${rows}))
      (let* ((result (apply #'call row)) (code (sb-alien:get-errno)))
        (cond ((/= result -1) (format t "ESCAPED call ~a: ~a~%" row result))
              ((not (member code '(${policy}))) (format t "UNSURE call ~a: ~a~%" row code))))))
  ((string= *way* "daemon") (sb-ext:run-program "/usr/bin/setsid" '("/bin/sh" "-c" "sleep 600 & sleep 600") :wait nil) (sleep 0.05))
  ((string= *way* "disk")
    (let ((written 0))
      (handler-case (with-open-file (file "/tmp/fill" :direction :output) (loop while (< written 67108864) do (write-string *block* file) (finish-output file) (incf written 65536))) (error () nil))
      (when (> written 33554432) (format t "ESCAPED the disk~%"))))
  ((string= *way* "output") (loop (write-string *block*)))
  ((string= *way* "memory") (loop (push (make-string 65536 :initial-element #\x) *held*)))
  ((string= *way* "processes") (loop (c *fork*)))
  (t (exit :code 9)))
(format t "held~%")`

export const commonlisp: HostileLanguage = {
  language: 'commonlisp',
  program: lispProgram,
  ways: { ...everyWayWithoutThreads, memory: ['crashed'], processes: ['crashed', 'signaled'] },
  sources: [
    shows(
      'what runs as it is read shows no file',
      (path) =>
        `(princ #.(handler-case (with-open-file (f "${path}") (let ((s (make-string 4096))) (subseq s 0 (read-sequence s f)))) (error () "none")))\n(format t "~%held~%")`,
    ),
    shows(
      'a macro shows no file',
      (path) =>
        `(defmacro m () (handler-case (with-open-file (f "${path}") (read-line f)) (error () "none")))\n(princ (m))\n(format t "~%held~%")`,
    ),
    showsNone(
      'a load shows no file',
      (path) => `(handler-case (load "${path}") (error (e) (princ e)))\n(format t "~%held~%")`,
    ),
  ],
}

const racketProgram = raw`#lang racket/base
(require ffi/unsafe racket/system racket/port racket/list)
(when (file-exists? "/etc/debian_version") (displayln "ESCAPED there is no box") (exit 1))
(define call (get-ffi-obj "syscall" #f (_fun #:save-errno 'posix _long _long _long _long _long _long _long -> _long)))
(define block (make-bytes 1048576 120))
(define way (read-line))
(case way
  [("files")
   (for ([path '(${list(hostPaths)})]) (with-handlers ([void void]) (open-input-file path) (printf "ESCAPED ~a\n" path)))
   (for ([path '(${list(boxPaths)})]) (with-handlers ([void void]) (displayln (call-with-input-file path port->string))))
   (displayln (environment-variables-names (current-environment-variables)))]
  [("calls")
   (for ([row '(${rows})])
     (define result (apply call row))
     (define code (saved-errno))
     (cond [(not (= result -1)) (printf "ESCAPED call ~a: ~a\n" row result)]
           [(not (memv code '(${policy}))) (printf "UNSURE call ~a: ~a\n" row code)]))]
  [("daemon") (process*/ports #f #f 'stdout "/usr/bin/setsid" "/bin/sh" "-c" "sleep 600 & sleep 600") (sleep 0.05)]
  [("disk")
   (define written 0)
   (with-handlers ([void void])
     (define file (open-output-file "/tmp/fill"))
     (file-stream-buffer-mode file 'none)
     (let loop () (when (< written 67108864) (write-bytes block file) (set! written (+ written 1048576)) (loop))))
   (when (> written 33554432) (displayln "ESCAPED the disk"))]
  [("output") (let loop () (write-bytes block) (loop))]
  [("memory") (let loop ([held '()]) (loop (cons (make-bytes 1048576 (modulo (length held) 256)) held)))]
  [("processes") (define fork (get-ffi-obj "fork" #f (_fun -> _int))) (let loop () (fork) (loop))]
  [else (exit 9)])
(displayln "held")`

export const racket: HostileLanguage = {
  language: 'racket',
  program: racketProgram,
  ways: { ...everyWayWithoutThreads, memory: ['crashed'], processes: ['crashed', 'signaled'] },
  sources: [
    shows(
      'a macro shows no file as it expands',
      (path) =>
        `#lang racket/base\n(require (for-syntax racket/base racket/port))\n(define-syntax (m stx) (datum->syntax stx (with-handlers ([void (lambda (e) "none")]) (call-with-input-file "${path}" port->string))))\n(displayln (m))\n(displayln "held")`,
    ),
    showsNone(
      'an include shows no file',
      (path) =>
        `#lang racket/base\n(require racket/include)\n(include (file "${path}"))\n(displayln "held")`,
    ),
    showsNone(
      'a reader of its own shows no file',
      (path) => `#reader(file "${path}")\n(displayln "held")`,
    ),
  ],
}

const guileProgram = raw`
(use-modules (system foreign) (ice-9 rdelim) (ice-9 textual-ports) (rnrs bytevectors) (srfi srfi-1))
(if (file-exists? "/etc/debian_version") (begin (display "ESCAPED there is no box\n") (exit 1)))
(define call (pointer->procedure long (dynamic-func "syscall" (dynamic-link)) (make-list 7 long) #:return-errno? #t))
(define block (make-string 65536 #\x))
(define-syntax-rule (quietly e ...) (catch #t (lambda () e ...) (lambda args #f)))
(define way (read-line))
(cond
  ((string=? way "files")
   (for-each (lambda (path) (quietly (open-input-file path) (display (string-append "ESCAPED " path "\n")))) '(${list(hostPaths)}))
   (for-each (lambda (path) (quietly (display (call-with-input-file path get-string-all #:encoding "latin1")))) '(${list(boxPaths)}))
   (display (environ)))
  ((string=? way "calls")
   (for-each (lambda (row)
     (call-with-values (lambda () (apply call row))
       (lambda (result code)
         (cond ((not (= result -1)) (display (list "\nESCAPED call" row result "\n")) (display "\nESCAPED call\n"))
               ((not (memv code '(${policy}))) (display "\nUNSURE call ") (display row) (display code))))))
     '(${rows})))
  ((string=? way "daemon")
   (if (= 0 (primitive-fork)) (begin (setsid) (if (> (primitive-fork) 0) (primitive-_exit 0)) (let loop () (sleep 600) (loop))))
   (usleep 50000))
  ((string=? way "disk")
   (let ((written 0) (file (open-output-file "/tmp/fill")))
     (quietly (let loop () (if (< written 67108864) (begin (display block file) (force-output file) (set! written (+ written 65536)) (loop)))))
     (if (> written 33554432) (display "ESCAPED the disk\n"))))
  ((string=? way "output") (let loop () (display block) (loop)))
  ((string=? way "memory") (let loop ((held '())) (loop (cons (make-bytevector 1048576 1) held))))
  ((string=? way "processes") (let loop () (quietly (primitive-fork)) (loop)))
  (else (exit 9)))
(display "\nheld\n")`

export const guile: HostileLanguage = {
  language: 'guile',
  program: guileProgram,
  ways: {
    ...everyWayWithoutThreads,
    // The collector may look for room until the CPU time is used up.
    memory: ['crashed', 'signaled', 'cpu_limit'],
    processes: ['crashed', 'signaled'],
  },
  sources: [
    shows(
      'a macro shows no file as it expands',
      (path) =>
        `(use-modules (ice-9 textual-ports))\n(define-syntax m (lambda (x) (datum->syntax x (catch #t (lambda () (call-with-input-file "${path}" get-string-all)) (lambda args "none")))))\n(display m)\n(display "\\nheld\\n")`,
    ),
    showsNone(
      'a load shows no file',
      (path) =>
        `(catch #t (lambda () (load "${path}")) (lambda args (display args)))\n(display "\\nheld\\n")`,
    ),
  ],
}
