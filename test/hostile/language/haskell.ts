// Attacks in Haskell, and through GHC, which runs Template Haskell while it compiles.
import { aims, exhausts, onePath, shows, showsNone, twoPaths } from './language.ts'
import type { HostileLanguage } from './language.ts'
import { everyWay } from './ways.ts'

const raw = String.raw

const program = raw`
{-# LANGUAGE ForeignFunctionInterface #-}
import Control.Concurrent
import Control.Exception
import Control.Monad
import qualified Data.ByteString as B
import qualified Data.ByteString.Char8 as C
import Data.IORef
import Foreign.C
import System.Directory
import System.Exit
import System.IO
import System.Posix.Process
import System.Posix.Unistd
foreign import ccall "syscall" call :: CLong -> CLong -> CLong -> CLong -> CLong -> CLong -> CLong -> IO CLong
host, own :: [String]
host = [${aims.hostFiles}]
own = [${aims.boxFiles}]
rows :: [CLong]
rows = [${aims.calls.replaceAll(/-\d+/g, '($&)')}]
policy :: [CInt]
policy = [${aims.errors}]
quietly :: IO a -> IO (Either SomeException a)
quietly = try
chunks :: [a] -> [[a]]
chunks [] = []
chunks xs = let (a, b) = splitAt 7 xs in a : chunks b
daemon :: IO ()
daemon = void (forkProcess (createSession >> forkProcess (forever (sleep 600)) >> return ()))
main :: IO ()
main = do
  hSetBuffering stdout LineBuffering
  boxed <- not <$> doesFileExist "/etc/debian_version"
  unless boxed (putStrLn "ESCAPED there is no box" >> exitWith (ExitFailure 1))
  way <- getLine
  let block = B.replicate 1048576 120
  case way of
    "files" -> do
      forM_ host (\path -> quietly (openFile path ReadMode) >>= either (const (return ())) (const (putStrLn ("ESCAPED " ++ path))))
      forM_ own (\path -> quietly (B.readFile path) >>= either (const (return ())) C.putStrLn)
    "calls" -> forM_ (chunks rows) (\[n, a, b, c, d, e, f] -> do
      result <- call n a b c d e f
      Errno code <- getErrno
      if result /= -1 then putStrLn ("ESCAPED call " ++ show n ++ ": " ++ show result)
      else unless (code ${'`elem`'} policy) (putStrLn ("UNSURE call " ++ show n ++ ": " ++ show code)))
    "daemon" -> daemon >> threadDelay 50000
    "disk" -> do
      file <- openBinaryFile "/tmp/fill" WriteMode
      written <- newIORef (0 :: Int)
      _ <- quietly (replicateM_ 64 (B.hPut file block >> hFlush file >> modifyIORef' written (+ 1)))
      most <- readIORef written
      when (most > 32) (putStrLn "ESCAPED the disk")
    "output" -> forever (B.putStr block)
    "memory" -> newIORef [] >>= \held -> forM_ [0 ..] (\n -> let one = B.replicate 1048576 n in one ${'`seq`'} modifyIORef' held (one :))
    "processes" -> forever (quietly (forkProcess (forever (quietly daemon))))
    "threads" -> forever (quietly (forkOS (forever (threadDelay 60000000))))
    _ -> exitWith (ExitFailure 9)
  putStrLn "held"
`

const splice = (body: string): string =>
  `{-# LANGUAGE TemplateHaskell #-}\nimport Language.Haskell.TH\nimport System.Process\nmain = putStrLn $(${body}) >> putStrLn "held"`

export const haskell: HostileLanguage = {
  language: 'haskell',
  program,
  ways: everyWay,
  sources: [
    shows(
      'a splice shows no file',
      (path) => splice(`runIO (readFile "${path}") >>= litE . stringL`),
      twoPaths,
    ),
    shows(
      'a program that a splice starts shows no file',
      (path) =>
        splice(
          `runIO (readProcess "/bin/sh" ["-c", "cat ${path} /proc/1/environ 2>&1; env; id; true"] "") >>= litE . stringL`,
        ),
      onePath,
    ),
    shows(
      'an include of its preprocessor shows no file',
      (path) => `{-# LANGUAGE CPP #-}\n#include "${path}"\nmain = putStrLn "held"`,
      onePath,
    ),
    showsNone(
      'options in a source show no file',
      (path) => `{-# OPTIONS_GHC -F -pgmF /bin/cat -optF ${path} #-}\nmain = putStrLn "held"`,
      onePath,
    ),
    exhausts(
      'a splice without end ends',
      splice('runIO (let f n = f $! (n + 1 :: Int) in f 0) >>= litE . stringL'),
    ),
    exhausts(
      'programs that a splice leaves behind end',
      splice(
        `runIO (readProcess "/bin/sh" ["-c", "(setsid sleep 600 </dev/null >/dev/null 2>&1 &) ; while :; do :; done"] "") >>= litE . stringL`,
      ),
    ),
    exhausts(
      'types that double end',
      `main = print (length (show (f 1)))\nf = ${Array.from({ length: 30 }, () => '(\\x -> (x, x))').join(' . ')}`,
      ['exited'],
    ),
  ],
}
