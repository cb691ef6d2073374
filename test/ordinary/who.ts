// The user and the host that a program sees: a user with a name, a writable home, a host that reveals nothing.
import type { Behaviour } from './behaviour.ts'

export const whoBehaviours: readonly Behaviour[] = [
  {
    name: 'the user has a name and a home',
    programs: {
      python: `
import getpass, grp, os, pathlib, pwd
one = pwd.getpwuid(os.getuid())
print(getpass.getuser(), one.pw_name, one.pw_dir, pathlib.Path.home(), os.path.expanduser("~"), grp.getgrgid(os.getgid()).gr_name)`,
      c: `
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(void) {
  struct passwd *one = getpwuid(getuid());
  printf("%s %s %s %s %s %s\\n", getenv("USER"), one->pw_name, one->pw_dir, getenv("HOME"), getpwnam("runner")->pw_dir, getgrgid(getgid())->gr_name);
}`,
      java: `
public class Main {
  public static void main(String[] args) {
    String home = System.getProperty("user.home"), name = System.getProperty("user.name");
    System.out.println(String.join(" ", System.getenv("USER"), name, home, System.getenv("HOME"), System.getProperty("user.dir"), System.getenv("LOGNAME")));
  }
}`,
      javascript: `
const os = require('os')
const { username, homedir, uid } = os.userInfo()
console.log(process.env.USER, username, homedir, os.homedir(), process.cwd(), uid === process.getuid() ? 'runner' : uid)`,
      go: `
package main
import ("fmt"; "os"; "os/user")
func main() {
  one, err := user.Current()
  if err != nil { panic(err) }
  home, _ := os.UserHomeDir()
  here, _ := os.Getwd()
  group, _ := user.LookupGroupId(one.Gid)
  fmt.Println(os.Getenv("USER"), one.Username, one.HomeDir, home, here, group.Name)
}`,
      objectivec: `
#import <Foundation/Foundation.h>
#include <grp.h>
int main(void) {
  @autoreleasepool {
    NSDictionary *variables = [[NSProcessInfo processInfo] environment];
    NSString *here = [[NSFileManager defaultManager] currentDirectoryPath];
    printf("%s %s %s %s %s %s\\n", [[variables objectForKey:@"USER"] UTF8String], [NSUserName() UTF8String], [NSHomeDirectory() UTF8String],
      [[@"~" stringByExpandingTildeInPath] UTF8String], [here UTF8String], getgrgid(getgid())->gr_name);
  }
}`,
      ruby: `
require 'etc'
one = Etc.getpwuid
puts [Etc.getlogin || ENV['USER'], one.name, one.dir, Dir.home, File.expand_path('~'), Etc.getgrgid(one.gid).name].join(' ')`,
      bash: 'cd ~; echo "$USER $(whoami) $HOME $PWD $(echo ~runner) $(id -gn)"',
      perl: 'my @one = getpwuid($<); print join(" ", $ENV{USER}, $one[0], $one[7], $ENV{HOME}, glob("~"), scalar getgrgid($()), "\\n";',
      php: '<?php $one = posix_getpwuid(posix_getuid()); echo implode(" ", [get_current_user(), $one["name"], $one["dir"], getenv("HOME"), getcwd(), posix_getgrgid(posix_getgid())["name"]]), "\\n";',
    },
    expected: { stdout: 'runner runner /box /box /box runner\n' },
  },
  {
    name: 'nobody of the host is told of',
    programs: {
      python: `
import grp, pwd
print([one.pw_name for one in pwd.getpwall()], [one.gr_name for one in grp.getgrall()])`,
      bash: "cut -d: -f1 /etc/passwd /etc/group | tr '\\n' ' '; hostname",
    },
    expected: { stdout: /^(\['runner'\] \['runner'\]|runner runner box)\n$/ },
  },
  {
    name: 'settings and caches are kept below the home',
    programs: {
      python: `
import os, pathlib, tempfile
for place in (pathlib.Path.home() / ".config/lib", pathlib.Path.home() / ".cache/lib", pathlib.Path(tempfile.gettempdir()) / "x"):
    place.mkdir(parents=True)
    (place / "f").write_text("kept")
print((pathlib.Path.home() / ".cache/lib/f").read_text())`,
      javascript: `
const { mkdirSync, readFileSync, writeFileSync } = require('fs')
const place = require('os').homedir() + '/.cache/lib'
mkdirSync(place, { recursive: true })
writeFileSync(place + '/f', 'kept')
console.log(readFileSync(place + '/f', 'utf8'))`,
      bash: 'mkdir -p ~/.cache/lib && echo kept >~/.cache/lib/f && cat ~/.cache/lib/f',
    },
    expected: { stdout: 'kept\n' },
  },
  {
    name: 'as many processors as it may run on, at least one, however it asks',
    programs: {
      python: `
import os, multiprocessing
print(len({os.cpu_count(), multiprocessing.cpu_count(), len(os.sched_getaffinity(0))}) == 1, os.cpu_count() >= 1)`,
      javascript: `
const os = require('os')
console.log(os.cpus().length === os.availableParallelism(), os.cpus()[0].times.user >= 0 && os.loadavg().length === 3)`,
      cpp: `
#include <iostream>
#include <thread>
#include <unistd.h>
int main() {
  auto count = std::thread::hardware_concurrency();
  std::cout << (count == sysconf(_SC_NPROCESSORS_ONLN) ? "True" : "False") << " " << (count >= 1 ? "True" : "False") << "\\n";
}`,
      java: `
public class Main {
  public static void main(String[] args) {
    int count = Runtime.getRuntime().availableProcessors();
    System.out.println((count == java.util.concurrent.ForkJoinPool.getCommonPoolParallelism() + (count > 1 ? 1 : 0)) + " " + (count >= 1));
  }
}`,
      go: `
package main
import ("fmt"; "runtime")
func main() { fmt.Println(runtime.NumCPU() == runtime.GOMAXPROCS(0), runtime.NumCPU() >= 1) }`,
      objectivec: `
#import <Foundation/Foundation.h>
#include <unistd.h>
int main(void) {
  @autoreleasepool {
    long count = sysconf(_SC_NPROCESSORS_ONLN), told = [[NSProcessInfo processInfo] activeProcessorCount];
    printf("%s %s\\n", told == count ? "true" : "false", told >= 1 ? "true" : "false");
  }
}`,
      r: `
library(parallel)
count <- as.integer(system("getconf _NPROCESSORS_ONLN", TRUE))
cat(detectCores() == count && parallel::detectCores(logical = FALSE) == count, detectCores() >= 1)
cat("\\n")`,
      rust: `
fn main() { let count = std::thread::available_parallelism().unwrap().get(); println!("{} {}", count > 0, count >= 1); }`,
      bash: '[ "$(nproc)" = "$(getconf _NPROCESSORS_ONLN)" ] && [ "$(nproc)" -ge 1 ] && echo true true',
    },
    expected: { stdout: /^true true\n$/i },
  },
]
