// Common Lisp's programs.
import type { Programs } from './program.ts'

export const commonlisp: Programs = {
  sum: '(let ((a (parse-integer (read-line)))\n      (b (read)))\n  (format t "~d~%" (+ a b)))',
  copy: `(loop for line = (read-line *standard-input* nil)
      while line
      do (write-line line))`,
  unicode: '(write-line "Grüße, 世界 🎉")\n(write-line (read-line))',
  exitThree: `(format t "out")
(format *error-output* "err")
(sb-ext:exit :code 3)`,
  uncaught: {
    code: '(defun f (x)\n  (error "no such thing: ~a" x))\n\n(f 1)',
    says: /Unhandled SIMPLE-ERROR[^]*no such thing: 1/,
  },
  broken: {
    code: '(defvar *a* 1)\n(defvar *b* 2)\n(print (no-such-package:add *a* *b*))\n',
    says: /Package NO-SUCH-PACKAGE does not exist\.[^]*Line: 3/,
  },
  busyLoop: '(loop)',
  sleeper: '(sleep 60)',
  memoryBomb: `(let ((kept '()))
  (loop (push (make-array 1000000 :initial-element (length kept)) kept)))`,
  outputFlood: '(loop (write-line "for ever and ever and ever"))',
  scratch: `(with-open-file (out "/tmp/file" :direction :output :if-exists :supersede)
  (write-line "kept" out))
(with-open-file (in "/tmp/file")
  (write-line (read-line in)))`,
  threads: `(defun add (part)
  (loop for n from (+ (* part 250) 1) repeat 250 sum n))

(let ((threads (loop for part below 4
                     collect (sb-thread:make-thread #'add :arguments (list part)))))
  (format t "~d~%" (reduce #'+ (mapcar #'sb-thread:join-thread threads))))`,
  network: `(require :sb-bsd-sockets)

(handler-case
    (let ((socket (make-instance 'sb-bsd-sockets:inet-socket :type :stream :protocol :tcp)))
      (sb-bsd-sockets:socket-connect socket #(127 0 0 1) 9))
  (error () (write-line "closed")))`,
  usual: `(defun parse-row (line)
  (let ((space (position #\\Space line)))
    (cons (subseq line 0 space) (parse-integer line :start (1+ space)))))

(let* ((numbers (make-hash-table :test 'equal))
       (rows (loop for line = (read-line *standard-input* nil)
                   while line
                   collect (parse-row line))))
  (loop for (name . number) in rows do (setf (gethash name numbers) number))
  (setf rows (sort rows #'string< :key #'car))
  (setf rows (stable-sort rows #'< :key #'cdr))
  (loop for (name) in rows do (format t "~a: ~d~%" name (gethash name numbers)))
  (format t "mean: ~,2f~%" (/ (reduce #'+ rows :key #'cdr) (length rows))))`,
  arguments: `(dolist (word (rest sb-ext:*posix-argv*))
  (write-line word))`,
  variable: '(write-line (sb-ext:posix-getenv "GREETING"))',
  secondFile: {
    code: '(load "answer.lisp")\n(format t "~d~%" (answer))',
    file: { name: 'answer.lisp', content: '(defun answer () 42)\n' },
  },
}
