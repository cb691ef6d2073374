// Clojure's programs.
import type { Programs } from './program.ts'

export const clojure: Programs = {
  sum: `(let [a (Integer/parseInt (read-line))
      b (Integer/parseInt (read-line))]
  (println (+ a b)))`,
  copy: '(doseq [line (line-seq (java.io.BufferedReader. *in*))]\n  (println line))',
  unicode: '(println "Grüße, 世界 🎉")\n(println (read-line))',
  exitThree: `(print "out")
(flush)
(binding [*out* *err*]
  (print "err")
  (flush))
(System/exit 3)`,
  uncaught: {
    code: '(defn f [x]\n  (throw (ex-info "no such thing" {:x x})))\n(f 1)',
    says: /no such thing/,
  },
  broken: {
    code: '(def a 1)\n(def b 2)\n(println (+ a nothing))\n(println b)\n',
    says: /\(main\.clj:3:/,
  },
  busyLoop: '(loop [] (recur))',
  sleeper: '(Thread/sleep 60000)',
  memoryBomb: '(loop [kept []]\n  (recur (conj kept (long-array (bit-shift-left 1 17)))))',
  outputFlood: '(while true\n  (println (apply str (repeat 100 "x"))))',
  scratch: '(spit "/tmp/file" "kept")\n(println (slurp "/tmp/file"))',
  threads: `(defn add [part]
  (reduce + (range (+ (* part 250) 1) (+ (* part 250) 251))))
(println (reduce + (map deref (doall (map #(future (add %)) (range 4))))))
(shutdown-agents)`,
  network: `(import 'java.net.Socket)
(try
  (Socket. "127.0.0.1" 9)
  (catch java.io.IOException e
    (println "closed")))`,
  usual: `(require '[clojure.string :as str])

(defn parse [line]
  (let [[_ name number] (re-matches #"(\\w+) (-?\\d+)" line)]
    {:name name :number (Integer/parseInt number)}))

(let [rows (map parse (str/split-lines (slurp *in*)))]
  (doseq [{:keys [name number]} (sort-by (juxt :number :name) rows)]
    (println (str name ": " number)))
  (println (format "mean: %.2f" (double (/ (reduce + (map :number rows)) (count rows))))))`,
  arguments: '(run! println *command-line-args*)',
  variable: '(println (System/getenv "GREETING"))',
  secondFile: {
    code: "(require '[answer :refer [answer]])\n(println (answer))",
    file: { name: 'answer.clj', content: '(ns answer)\n(defn answer [] 42)\n' },
  },
}
