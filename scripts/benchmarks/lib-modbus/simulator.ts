/** A Modbus TCP server in a process of its own: holding register pairs that hold `floatAt` as float32. Sends its port as a message. */
import { createServer } from 'node:net'
import { floatAt, REGISTERS } from './registers.ts'

const REQUEST_BYTES = 12

const image = Buffer.alloc(2 * REGISTERS)
for (let i = 0; i < REGISTERS / 2; i++) image.writeFloatBE(floatAt(i), 4 * i)

function answer(request: Buffer): Buffer {
  const address = request.readUInt16BE(8)
  const count = request.readUInt16BE(10)
  const frame = Buffer.allocUnsafe(9 + 2 * count)
  request.copy(frame, 0, 0, 8)
  frame.writeUInt16BE(3 + 2 * count, 4)
  frame[8] = 2 * count
  image.copy(frame, 9, 2 * address, 2 * (address + count))
  return frame
}

const server = createServer({ noDelay: true }, socket => {
  let rest: Buffer = Buffer.alloc(0)
  socket.on('error', () => socket.destroy())
  socket.on('data', chunk => {
    rest = rest.length ? Buffer.concat([rest, chunk]) : chunk
    for (; rest.length >= REQUEST_BYTES; rest = rest.subarray(REQUEST_BYTES)) socket.write(answer(rest))
  })
})
server.listen(0, '127.0.0.1', () => process.send!((server.address() as { port: number }).port))
process.on('disconnect', () => process.exit())
