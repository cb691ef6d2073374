// Haskell's programs.
import type { Programs } from './program.ts'

export const haskell: Programs = {
  sum: `main :: IO ()
main = do
  a <- readLn :: IO Int
  b <- readLn
  print (a + b)`,
  copy: 'main :: IO ()\nmain = interact id',
  unicode: `main :: IO ()
main = do
  putStrLn "Grüße, 世界 🎉"
  getLine >>= putStrLn`,
  exitThree: `import System.Exit
import System.IO

main :: IO ()
main = do
  putStr "out"
  hPutStr stderr "err"
  exitWith (ExitFailure 3)`,
  uncaught: {
    code: `import qualified Data.Map as Map

main :: IO ()
main = case Map.lookup "key" (Map.fromList [("other", 1 :: Int)]) of
  Nothing -> error "no such thing"
  Just n -> print n`,
    says: /main: no such thing\nCallStack[^]*main\.hs:5/,
  },
  broken: {
    code: 'main :: IO ()\nmain = do\n  print (1 + "a" :: Int)\n',
    says: /main\.hs:3:10: error/,
  },
  busyLoop: `main :: IO ()
main = loop 0
  where
    loop :: Int -> IO ()
    loop n = if n < 0 then print n else loop ((n + 1) \`mod\` 1000003)`,
  sleeper: `import Control.Concurrent

main :: IO ()
main = threadDelay 60000000`,
  memoryBomb: `main :: IO ()
main = do
  let numbers = [1 ..] :: [Integer]
  print (length numbers)
  print (sum numbers)`,
  outputFlood: `import Control.Monad

main :: IO ()
main = forever (putStrLn (replicate 100 'x'))`,
  scratch: `main :: IO ()
main = do
  writeFile "/tmp/file" "kept\\n"
  readFile "/tmp/file" >>= putStr`,
  threads: `import Control.Concurrent
import Control.Monad

main :: IO ()
main = do
  results <- forM [0 .. 3] $ \\part -> do
    result <- newEmptyMVar
    _ <- forkIO (putMVar result $! sum [part * 250 + 1 .. part * 250 + 250])
    return result
  sums <- mapM takeMVar results
  print (sum sums :: Int)`,
  network: `{-# LANGUAGE ForeignFunctionInterface #-}
-- The package network is not GHC's: the calls are the C library's.
import Data.Word
import Foreign
import Foreign.C.Types

foreign import ccall "socket" c_socket :: CInt -> CInt -> CInt -> IO CInt
foreign import ccall "connect" c_connect :: CInt -> Ptr Word8 -> CInt -> IO CInt

main :: IO ()
main = do
  s <- c_socket 2 1 0
  failed <- withArrayLen ([2, 0, 0, 9, 127, 0, 0, 1] ++ replicate 8 0) $ \\n to ->
    c_connect s to (fromIntegral n)
  putStrLn (if failed /= 0 then "closed" else "open")`,
  usual: `import Data.Char (isSpace)
import Data.List (sortOn)
import qualified Data.Map.Strict as Map
import Text.Printf (printf)

main :: IO ()
main = do
  rows <- map (parse . words) . filter (not . all isSpace) . lines <$> getContents
  let byNumber = Map.fromListWith (++) [(number, [name]) | (name, number) <- rows]
  mapM_ (uncurry (printf "%s: %d\\n")) [(name, n) | (n, names) <- Map.toList byNumber, name <- sortOn id names]
  printf "mean: %.2f\\n" (fromIntegral (sum (map snd rows)) / fromIntegral (length rows) :: Double)
  where
    parse [name, number] = (name, read number :: Int)
    parse other = error ("not a row: " ++ unwords other)`,
  arguments: 'import System.Environment\n\nmain :: IO ()\nmain = getArgs >>= mapM_ putStrLn',
  variable: `import System.Environment

main :: IO ()
main = getEnv "GREETING" >>= putStrLn`,
  secondFile: {
    code: 'import Answer\n\nmain :: IO ()\nmain = print answer',
    file: {
      name: 'Answer.hs',
      content: 'module Answer (answer) where\n\nanswer :: Int\nanswer = 42\n',
    },
  },
  compileArguments: { words: ['-cpp', '-DN=42'], code: 'main :: IO ()\nmain = print (N :: Int)' },
}
