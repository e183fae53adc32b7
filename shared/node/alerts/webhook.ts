/** Sends one alert to a web address, signed. */
import { createHmac } from 'node:crypto'
import { SECOND } from '#shared/core/time.ts'

const TIMEOUT_MS = 10 * SECOND

/**
 * The value of `X-Plenum-Signature`. A receiver computes it over the bytes that it got, compares in constant time, and refuses
 * a timestamp that is more than some minutes old.
 *
 * @param timestamp seconds since 1970 UTC, as in `X-Plenum-Timestamp`
 */
const webhookSignature = (secret: string, timestamp: number, body: string): string =>
  `v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`

type Webhook = { url: string; secret: string; delivery_id: string; body: object }
type Sending = { now: number; signal: AbortSignal }

/** @throws Error with the reason unless the receiver answers 2xx within 10 s; redirects are not followed */
export async function sendWebhook({ url, secret, delivery_id, body }: Webhook, { now, signal }: Sending): Promise<void> {
  const text = JSON.stringify(body)
  const timestamp = Math.floor(now / SECOND)
  const response = await fetch(url, {
    method: 'POST',
    redirect: 'manual',
    signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Plenum',
      'x-plenum-delivery': delivery_id,
      'x-plenum-timestamp': String(timestamp),
      'x-plenum-signature': webhookSignature(secret, timestamp, text),
    },
    body: text,
  }).catch((error: Error) => {
    const { cause } = error as { cause?: { code?: string; message?: string } }
    throw new Error(
      error.name === 'TimeoutError' ? 'no answer within 10 s' : `not reached: ${cause?.code ?? cause?.message ?? error.message}`,
      {
        cause: error,
      },
    )
  })
  await response.body?.cancel()
  if (!response.ok) throw new Error(`answered ${response.status}`)
}
