/** Numbers in text: thousands with a comma, a true minus sign. */

/** @returns `1,204.5`; a negative value that rounds to zero is written without a sign */
export function formatNumber(value: number, decimals: number): string {
  const fixed = Math.abs(value).toFixed(decimals)
  const [whole = '0', part] = fixed.split('.')
  const sign = value < 0 && Number(fixed) !== 0 ? '−' : ''
  return sign + whole.replace(/\B(?=(\d{3})+$)/g, ',') + (part === undefined ? '' : `.${part}`)
}

/** @returns `18,204` */
export const formatCount = (n: number): string => formatNumber(n, 0)

/** @returns `1 message`, `4,120 messages` */
export const countOf = (n: number, noun: string): string => `${formatCount(n)} ${noun}${n === 1 ? '' : 's'}`
