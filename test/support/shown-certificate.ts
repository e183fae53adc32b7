import { connect } from 'node:tls'
import { serialOf } from '#shared/node/pki/certificate.ts'

/** @returns the serial of the certificate that a server on loopback shows, after a handshake with these certificates, PEM */
export const serialShownBy = (port: number, own: { ca: string; cert?: string; key?: string }): Promise<string> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, ...own })
    socket.once('error', reject)
    socket.once('secureConnect', () => {
      resolve(serialOf(socket.getPeerX509Certificate()!.serialNumber))
      socket.destroy()
    })
  })
