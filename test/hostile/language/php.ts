// Attacks in PHP.
import { aims, shows } from './language.ts'
import type { HostileLanguage } from './language.ts'
import { everyWayWithoutThreads } from './ways.ts'

const raw = String.raw

const program = raw`<?php
error_reporting(0);
if (file_exists('/etc/debian_version')) { echo "ESCAPED there is no box\n"; exit(1); }
$way = trim(fgets(STDIN));
$block = str_repeat('x', 1 << 20);
switch ($way) {
case 'files':
  foreach ([${aims.hostFiles}] as $path) {
    foreach (['', 'file://', 'php://filter/read=convert.base64-encode/resource=', 'compress.zlib://', 'glob://'] as $scheme)
      if (fopen($scheme . $path, 'r') !== false) echo "ESCAPED $scheme$path\n";
    if ((include $path) !== false) echo "ESCAPED include of $path\n";
  }
  foreach ([${aims.boxFiles}] as $path) echo file_get_contents($path), "\n";
  print_r($_SERVER); print_r(getenv()); echo shell_exec('env; cat /proc/1/environ 2>&1'); phpinfo();
  break;
case 'calls':
  $libc = FFI::cdef('long syscall(long, ...); int *__errno_location(void);', 'libc.so.6');
  foreach (array_chunk([${aims.calls}], 7) as $row) {
    $libc->__errno_location()[0] = 0;
    $result = $libc->syscall(...$row);
    $code = $libc->__errno_location()[0];
    if ($result !== -1) echo "ESCAPED call $row[0]: $result\n";
    elseif (!in_array($code, [${aims.errors}])) echo "UNSURE call $row[0]: $code\n";
  }
  if (posix_setuid(0)) echo "ESCAPED setuid\n";
  if (posix_kill(@WORKER_PID@, 0)) echo "ESCAPED kill\n";
  if (pcntl_unshare(CLONE_NEWUSER)) echo "ESCAPED unshare\n";
  if (stream_socket_client('tcp://127.0.0.1:@PORT@')) echo "ESCAPED the network\n";
  if (stream_socket_client('unix://@SOCKET@')) echo "ESCAPED a socket\n";
  break;
case 'daemon':
  if (pcntl_fork() === 0) { posix_setsid(); if (pcntl_fork() > 0) exit(0); while (true) sleep(600); }
  usleep(50000);
  break;
case 'disk':
  $file = fopen('/tmp/fill', 'w');
  $written = 0;
  while ($written < 64 << 20 && ($n = fwrite($file, $block)) > 0) $written += $n;
  if ($written > 32 << 20) echo "ESCAPED the disk\n";
  break;
case 'output': while (true) echo $block;
case 'memory': $held = []; while (true) $held[] = str_repeat('x', 1 << 20);
case 'processes': while (true) pcntl_fork();
default: exit(9);
}
echo "\nheld\n";`

export const php: HostileLanguage = {
  language: 'php',
  program,
  ways: everyWayWithoutThreads,
  sources: [
    shows(
      'a setting that comes first shows no file',
      (path) =>
        `<?php ini_set('auto_prepend_file', '${path}'); ini_set('open_basedir', ''); highlight_file('${path}'); echo "\\nheld\\n";`,
    ),
    shows('an include shows no file', (path) => `<?php include '${path}'; echo "\\nheld\\n";`),
  ],
}
