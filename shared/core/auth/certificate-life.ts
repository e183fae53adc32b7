/** From when until when a certificate is valid, ms since 1970 UTC. */
export type CertificateLife = { from: number; to: number }

/** Whether two thirds of a certificate's life are over, so that a third is left in which renewal may fail. @source contract §9 */
export const isRenewalDue = ({ from, to }: CertificateLife, now: number): boolean => now - from > ((to - from) * 2) / 3
