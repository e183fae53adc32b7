import { connect } from 'node:tls'
import { serialOf } from '#shared/node/pki/certificate.ts'

/** @returns the serial of the certificate that an HTTPS server shows, after a handshake that trusts `ca` alone */
export const serialShownBy = (url: string, ca: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const { hostname: host, port } = new URL(url)
    const socket = connect({ host, port: Number(port), ca })
    socket.once('error', reject)
    socket.once('secureConnect', () => {
      resolve(serialOf(socket.getPeerX509Certificate()!.serialNumber))
      socket.destroy()
    })
  })
