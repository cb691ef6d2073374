// A server and its client in one program, over the run's own network.
import type { Behaviour } from './behaviour.ts'

const request = { network: 'loopback' }

export const networkBehaviours: readonly Behaviour[] = [
  {
    name: 'an HTTP server is asked by its own program',
    request,
    expected: { stdout: '200 hello\n' },
    programs: {
      python: `
import threading, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Hello(BaseHTTPRequestHandler):
  def do_GET(self): self.send_response(200); self.end_headers(); self.wfile.write(b'hello')
  def log_message(self, *_): pass
server = ThreadingHTTPServer(('127.0.0.1', 0), Hello)
threading.Thread(target=server.serve_forever, daemon=True).start()
with urllib.request.urlopen(f'http://localhost:{server.server_port}/') as answer: print(answer.status, answer.read().decode())`,
      javascript: `
const server = require('http').createServer((_, answer) => answer.end('hello')).listen(0, async () => {
  const answer = await fetch('http://localhost:' + server.address().port)
  console.log(answer.status, await answer.text()); server.close()
})`,
      typescript: `
import { createServer } from 'node:http'
const server = createServer((_, answer) => answer.end('hello')).listen(8080, async () => {
  const answer = await fetch('http://127.0.0.1:8080/')
  console.log(answer.status, await answer.text()); server.close()
})`,
      go: `package main
import ("fmt"; "io"; "net/http"; "net/http/httptest")
func main() {
  s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") })); defer s.Close()
  a, err := http.Get(s.URL); if err != nil { panic(err) }
  b, _ := io.ReadAll(a.Body); fmt.Println(a.StatusCode, string(b))
}`,
      java: `
import com.sun.net.httpserver.HttpServer; import java.net.*; import java.net.http.*;
class Main { public static void main(String[] a) throws Exception {
  var server = HttpServer.create(new InetSocketAddress("127.0.0.1", 0), 0);
  server.createContext("/", e -> { e.sendResponseHeaders(200, 5); e.getResponseBody().write("hello".getBytes()); e.close(); });
  server.start();
  var url = URI.create("http://localhost:" + server.getAddress().getPort() + "/");
  var answer = HttpClient.newHttpClient().send(HttpRequest.newBuilder(url).build(), HttpResponse.BodyHandlers.ofString());
  System.out.println(answer.statusCode() + " " + answer.body()); server.stop(0); System.exit(0);
} }`,
      ruby: `
require 'socket'; require 'net/http'
server = TCPServer.new('127.0.0.1', 0)
Thread.new { c = server.accept; while (l = c.gets) && l != "\\r\\n" do end; c.print "HTTP/1.1 200 OK\\r\\nContent-Length: 5\\r\\n\\r\\nhello"; c.close }
answer = Net::HTTP.get_response('localhost', '/', server.addr[1]); puts "#{answer.code} #{answer.body}"`,
    },
  },
  {
    name: 'a TCP server answers its own program’s client',
    request,
    expected: { stdout: 'HELLO\n' },
    programs: {
      python: `
import asyncio
async def serve(r, w): w.write((await r.readline()).upper()); await w.drain(); w.close()
async def main():
  server = await asyncio.start_server(serve, 'localhost', 5000)
  async with server:
    r, w = await asyncio.open_connection('127.0.0.1', 5000); w.write(b'hello\\n'); print((await r.read()).decode(), end=''); w.close()
asyncio.run(main())`,
      java: `
import java.io.*; import java.net.*;
class Main { public static void main(String[] a) throws Exception {
  var server = new ServerSocket(0);
  new Thread(() -> { try (var c = server.accept()) { var l = new BufferedReader(new InputStreamReader(c.getInputStream())).readLine(); c.getOutputStream().write(l.toUpperCase().getBytes()); } catch (IOException e) { throw new UncheckedIOException(e); } }).start();
  try (var c = new Socket("localhost", server.getLocalPort())) { c.getOutputStream().write("hello\\n".getBytes()); System.out.println(new String(c.getInputStream().readAllBytes())); }
} }`,
      cpp: `
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cctype>
#include <cstdio>
#include <thread>
int main() {
  int s = socket(AF_INET, SOCK_STREAM, 0), on = 1; setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in a{}; a.sin_family = AF_INET; a.sin_port = htons(8080); a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (bind(s, (sockaddr *)&a, sizeof a) || listen(s, SOMAXCONN)) return 1;
  std::thread t([&] { int c = accept(s, nullptr, nullptr); char b[9]; int n = read(c, b, 9); for (int i = 0; i < n; i++) b[i] = toupper(b[i]); write(c, b, n); close(c); });
  int c = socket(AF_INET, SOCK_STREAM, 0); if (connect(c, (sockaddr *)&a, sizeof a)) return 2;
  write(c, "hello\\n", 6); char b[9]; write(1, b, read(c, b, 9)); t.join();
}`,
      rust: `
use std::io::*; use std::net::*;
fn main() {
  let server = TcpListener::bind("127.0.0.1:0").unwrap(); let address = server.local_addr().unwrap();
  let t = std::thread::spawn(move || { let (mut c, _) = server.accept().unwrap(); let mut b = [0; 6]; c.read_exact(&mut b).unwrap(); c.write_all(&b.to_ascii_uppercase()).unwrap(); });
  let mut c = TcpStream::connect(address).unwrap(); c.write_all(b"hello\\n").unwrap();
  let mut s = String::new(); c.read_to_string(&mut s).unwrap(); print!("{s}"); t.join().unwrap();
}`,
      php: `<?php
$server = stream_socket_server('tcp://127.0.0.1:0'); $client = stream_socket_client('tcp://' . stream_socket_get_name($server, false));
fwrite($client, "hello\\n"); $c = stream_socket_accept($server); fwrite($c, strtoupper(fgets($c))); fclose($c); echo stream_get_contents($client);`,
      perl: `
use IO::Socket::INET;
my $server = IO::Socket::INET->new(Listen => 5, LocalAddr => '127.0.0.1') or die "$@";
my $client = IO::Socket::INET->new(PeerAddr => '127.0.0.1', PeerPort => $server->sockport) or die "$@";
print $client "hello\\n"; $client->flush; my $c = $server->accept; print $c uc(<$c>); close $c; print <$client>;`,
    },
  },
  {
    name: 'the same over IPv6',
    request,
    expected: { stdout: 'HELLO\n' },
    programs: {
      python: `
import socket, socketserver, threading
class Server(socketserver.ThreadingTCPServer): address_family = socket.AF_INET6
class Handler(socketserver.StreamRequestHandler):
  def handle(self): self.wfile.write(self.rfile.readline().upper())
server = Server(('::1', 0), Handler); threading.Thread(target=server.serve_forever, daemon=True).start()
with socket.create_connection(server.server_address[:2]) as c: c.sendall(b'hello\\n'); print(c.makefile().read(), end='')`,
      javascript: `
const net = require('net')
const server = net.createServer(c => c.on('data', d => c.end(d.toString().toUpperCase()))).listen(0, '::1', () => {
  net.connect(server.address().port, '::1').on('data', d => process.stdout.write(d)).on('close', () => server.close()).write('hello\\n')
})`,
      go: `package main
import ("bufio"; "fmt"; "net"; "strings")
func main() {
  s, err := net.Listen("tcp", "[::1]:0"); if err != nil { panic(err) }
  go func() { c, _ := s.Accept(); l, _ := bufio.NewReader(c).ReadString('\\n'); fmt.Fprint(c, strings.ToUpper(l)); c.Close() }()
  c, err := net.Dial("tcp", s.Addr().String()); if err != nil { panic(err) }
  fmt.Fprintln(c, "hello"); l, _ := bufio.NewReader(c).ReadString('\\n'); fmt.Print(l)
}`,
      ruby: `
require 'socket'
server = TCPServer.new('::1', 0); t = Thread.new { c = server.accept; c.puts c.gets.upcase; c.close }
c = TCPSocket.new('::1', server.addr[1]); c.puts 'hello'; print c.gets; t.join`,
    },
  },
  {
    name: 'datagrams arrive',
    request,
    expected: { stdout: 'hello\n' },
    programs: {
      python: `
import socket
a = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); a.bind(('127.0.0.1', 0))
b = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); b.sendto(b'hello', a.getsockname()); print(a.recv(9).decode())`,
      go: `package main
import ("fmt"; "net")
func main() {
  a, err := net.ListenPacket("udp", "127.0.0.1:0"); if err != nil { panic(err) }
  b, err := net.Dial("udp", a.LocalAddr().String()); if err != nil { panic(err) }
  fmt.Fprint(b, "hello"); d := make([]byte, 9); n, _, _ := a.ReadFrom(d); fmt.Println(string(d[:n]))
}`,
      java: `
import java.net.*;
class Main { public static void main(String[] x) throws Exception {
  var a = new DatagramSocket(0, InetAddress.getLoopbackAddress()); var b = new DatagramSocket(); var d = "hello".getBytes();
  b.send(new DatagramPacket(d, 5, a.getLocalSocketAddress())); var p = new DatagramPacket(new byte[9], 9); a.receive(p);
  System.out.println(new String(p.getData(), 0, p.getLength()));
} }`,
      ruby: `
require 'socket'
a = UDPSocket.new; a.bind('127.0.0.1', 0); b = UDPSocket.new; b.send('hello', 0, '127.0.0.1', a.addr[1]); puts a.recv(9)`,
    },
  },
  {
    name: 'a hundred connections at once, and each test has a network of its own',
    request: { ...request, tests: [{}, {}] },
    expected: { tests: [{ stdout: '100\n' }, { stdout: '100\n' }] },
    programs: {
      python: `
import asyncio
count = 0
async def serve(r, w):
  global count; count += 1
  while count < 100: await asyncio.sleep(0.01)
  w.write(b'x'); w.close()
async def ask():
  r, w = await asyncio.open_connection('127.0.0.1', 7000); data = await r.read(); w.close(); return len(data)
async def main():
  async with await asyncio.start_server(serve, '127.0.0.1', 7000): print(sum(await asyncio.gather(*[ask() for _ in range(100)])))
asyncio.run(main())`,
    },
  },
  {
    name: 'listens on every port, and ends by itself',
    request,
    expected: { stdout: 'Too many open files\n' },
    programs: {
      python: `
import os, socket
held = []
try:
  for port in range(1, 65536): s = socket.socket(); s.bind(('', port)); s.listen(); held.append(s)
except OSError as error: print(os.strerror(error.errno))`,
    },
  },
]
