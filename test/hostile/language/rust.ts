// Attacks in Rust, and through rustc.
import { aims, exhausts, shows, showsNone } from './language.ts'
import type { HostileLanguage } from './language.ts'
import { everyWay } from './ways.ts'

const raw = String.raw

const program = raw`
use std::io::{Read, Write};
extern "C" { fn syscall(number: i64, ...) -> i64; fn fork() -> i32; fn setsid() -> i32; }
const HOST: &[&str] = &[${aims.hostFiles}];
const OWN: &[&str] = &[${aims.boxFiles}];
const ROWS: &[i64] = &[${aims.calls}];
const POLICY: &[i32] = &[${aims.errors}];
fn main() {
    if std::path::Path::new("/etc/debian_version").exists() { println!("ESCAPED there is no box"); std::process::exit(1); }
    let mut way = String::new();
    std::io::stdin().read_to_string(&mut way).unwrap();
    let block = vec![120u8; 1 << 20];
    match way.trim() {
        "files" => {
            for path in HOST { if std::fs::File::open(path).is_ok() { println!("ESCAPED {}", path); } }
            for path in OWN { if let Ok(text) = std::fs::read(path) { println!("{}", String::from_utf8_lossy(&text)); } }
        }
        "calls" => for r in ROWS.chunks(7) {
            let result = unsafe { syscall(r[0], r[1], r[2], r[3], r[4], r[5], r[6]) };
            let error = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
            if result != -1 { println!("ESCAPED call {}: {}", r[0], result); }
            else if !POLICY.contains(&error) { println!("UNSURE call {}: {}", r[0], error); }
            #[cfg(target_arch = "x86_64")]
            unsafe {
                let direct: i64;
                std::arch::asm!("syscall", inlateout("rax") r[0] => direct, in("rdi") r[1], in("rsi") r[2], in("rdx") r[3], in("r10") r[4], in("r8") r[5], in("r9") r[6], lateout("rcx") _, lateout("r11") _);
                if direct >= 0 { println!("ESCAPED call {}: {}", r[0], direct); }
            }
        },
        "daemon" => unsafe {
            if fork() == 0 { setsid(); if fork() > 0 { std::process::exit(0); } loop { std::thread::sleep(std::time::Duration::from_secs(600)); } }
            std::thread::sleep(std::time::Duration::from_millis(50));
        },
        "disk" => {
            let mut file = std::fs::File::create("/tmp/fill").unwrap();
            let mut written = 0;
            while written < 64 << 20 { match file.write(&block) { Ok(n) if n > 0 => written += n, _ => break } }
            if written > 32 << 20 { println!("ESCAPED the disk"); }
        }
        "output" => loop { if std::io::stdout().write_all(&block).is_err() { break; } },
        "memory" => { let mut held = Vec::new(); loop { held.push(block.clone()); } }
        "processes" => loop { unsafe { fork(); } },
        "threads" => loop { let _ = std::thread::Builder::new().stack_size(65536).spawn(|| loop { std::thread::park(); }); },
        _ => std::process::exit(9),
    }
    println!("held");
}`

const main = '\nfn main() { println!("held"); }'

export const rust: HostileLanguage = {
  language: 'rust',
  program,
  ways: everyWay,
  sources: [
    shows(
      'include_bytes! shows no file',
      (path) =>
        `use std::io::Write; fn main() { std::io::stdout().write_all(include_bytes!("${path}")).unwrap(); println!("\\nheld"); }`,
    ),
    shows('include! shows no file', (path) => `include!("${path}");${main}`),
    shows('a module at a path shows no file', (path) => `#[path = "${path}"] mod m;${main}`),
    shows(
      'an include of its assembler shows no file',
      (path) =>
        `std::arch::global_asm!(".section .rodata", ".global start_", ".global end_", "start_: .incbin \\"${path}\\"", "end_: .byte 0", ".text");\nextern "C" { static start_: u8; static end_: u8; }\nfn main() { unsafe { let size = &end_ as *const u8 as usize - &start_ as *const u8 as usize; let text = std::slice::from_raw_parts(&start_ as *const u8, size); println!("{}\\nheld", String::from_utf8_lossy(text)); } }`,
    ),
    showsNone(
      'an environment variable at compile time holds nothing',
      () =>
        `fn main() { println!("{:?} {:?}\\nheld", option_env!("RUNLEDGER_CANARY"), option_env!("PATH")); }`,
      ['RUNLEDGER_CANARY'],
    ),
    exhausts(
      'macros that double end',
      `macro_rules! m { ($($t:tt)*) => { m!($($t)* $($t)*); } }\nm!(x y);${main}`,
    ),
    exhausts(
      'constants that are computed without end end',
      `#![feature(const_eval_limit)]\n#![const_eval_limit = "0"]\nconst fn f() -> u64 { let mut i = 0u64; while i < 1 << 60 { i += 1; } i }\nconst X: u64 = f();\nfn main() { println!("{}", X); }`,
    ),
    exhausts(
      'types that grow without end end',
      `trait T { fn f(n: u64) -> u64; }\nimpl<A> T for Vec<A> { fn f(n: u64) -> u64 { if n == 0 { 0 } else { <Vec<(Vec<A>, Vec<A>)> as T>::f(n - 1) } } }\nfn main() { println!("{}", <Vec<u8> as T>::f(9)); }`,
    ),
  ],
}
