/** Sends mail by SMTP. */
import { createTransport } from 'nodemailer'
import { SECOND } from '#shared/core/time.ts'

const CONNECT_MS = 10 * SECOND
const IDLE_MS = 30 * SECOND

export type MailSettings = {
  /** `smtp://user:password@host:port` (STARTTLS where the server offers it) or `smtps://…`. */
  url: string
  from: string
}
type Mail = { delivery_id: string; to: string[]; subject: string; text: string }

/** @throws Error with what the server answered, or when `signal` aborts */
export async function sendMail({ url, from }: MailSettings, { delivery_id, ...mail }: Mail, signal: AbortSignal): Promise<void> {
  const transport = createTransport({ url, connectionTimeout: CONNECT_MS, socketTimeout: IDLE_MS, greetingTimeout: CONNECT_MS })
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
  try {
    await Promise.race([transport.sendMail({ from, ...mail, headers: { 'X-Plenum-Delivery': delivery_id } }), aborted])
  } finally {
    transport.close()
  }
}
