/** Faults of servers and proxies: what they send instead of an answer. */
import type { ServerResponse } from 'node:http'
import { gzipSync } from 'node:zlib'

const ROW = '@p:demo:r:a1,21°C\n'
const HEAD = 'ver:"3.0"\nid,curVal\n'
const zinc = { 'content-type': 'text/zinc; charset=utf-8' }
const page = { 'content-type': 'text/html; charset=utf-8' }

const send = (status: number, headers: Record<string, string>, body: string | Buffer) => (response: ServerResponse) =>
  void response.writeHead(status, headers).end(body)

export const HTTP_FAULTS = {
  silent: () => undefined,
  reset: response => void response.socket?.resetAndDestroy(),
  'no HTTP': response => void response.socket?.end('SSH-2.0-OpenSSH_9.9\r\n'),
  'headers without end': response => void response.socket?.end(`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}\r\n\r\n`),
  'status 500 with a page': send(500, page, '<html><h1>Internal error</h1></html>'),
  'status 503 without a body': send(503, {}, ''),
  'a page instead of a grid': send(200, page, '<!DOCTYPE html><html><body>Log in</body></html>'),
  'a wrong content type': send(200, { 'content-type': 'image/png' }, `${HEAD}${ROW}`),
  'no content type': send(200, {}, `${HEAD}${ROW}`),
  'an error grid': send(200, zinc, 'ver:"3.0" err dis:"sys::Err: the database is\\nclosed" errTrace:"at line 1"\nempty\n'),
  'an error grid with status 400': send(400, zinc, 'ver:"3.0" err dis:"haystack::UnknownOpErr: no such op"\nempty\n'),
  forbidden: send(403, {}, 'you may not'),
  'not found': send(404, page, '<html>404</html>'),
  'a redirect to another host': send(302, { location: 'https://other.example/api/demo/about?key=1' }, ''),
  'a redirect to the login page': send(302, { location: '/user/login' }, ''),
  'a body that is cut off': response => {
    response.writeHead(200, { ...zinc, 'content-length': '5000' })
    response.write(`${HEAD}${ROW}`, () => response.socket?.destroy())
  },
  'a grid that ends within a row': send(200, zinc, `${HEAD}@p:demo:r:a1,2`),
  'invalid UTF-8': send(
    200,
    zinc,
    Buffer.concat([Buffer.from(`${HEAD}@p:demo:r:a1 "`), Buffer.of(0xff, 0xfe), Buffer.from('",1\n')]),
  ),
  'no grid at all': send(200, zinc, 'null\n'),
  'two columns of one name': send(200, zinc, 'ver:"3.0"\nid,id\n@a,@b\n'),
  'JSON of Haystack 3': send(
    200,
    { 'content-type': 'application/json' },
    '{"meta":{"ver":"3.0"},"cols":[{"name":"id"}],"rows":[{"id":"r:a"}]}',
  ),
  'half a JSON': send(200, { 'content-type': 'application/vnd.haystack+json' }, '{"_kind":"grid","cols":[{"na'),
  'lists as deep as the sea': send(200, zinc, `ver:"3.0"\nid\n${'['.repeat(50_000)}\n`),
  'damaged gzip': send(200, { ...zinc, 'content-encoding': 'gzip' }, gzipSync(HEAD + ROW).subarray(0, 30)),
  'an unknown packing': send(200, { ...zinc, 'content-encoding': 'br' }, 'x'),
  'a gzip bomb': send(200, { ...zinc, 'content-encoding': 'gzip' }, gzipSync(HEAD + '\n'.repeat(20_000_000))),
  'a body without end': response => {
    const pour = () => {
      while (!response.destroyed && response.write(ROW.repeat(4000))) continue
    }
    response
      .writeHead(200, zinc)
      .on('drain', pour)
      .on('error', () => undefined)
    response.write(HEAD)
    pour()
  },
  'a body drop by drop': response => {
    response.writeHead(200, zinc)
    response.write(HEAD)
    const drip = setInterval(() => response.write(' '), 20)
    response.on('close', () => clearInterval(drip))
  },
  'headers, then nothing': response => {
    response.writeHead(200, zinc)
    response.write(HEAD)
  },
} as const satisfies Record<string, (response: ServerResponse) => void>

export type HttpFault = keyof typeof HTTP_FAULTS
