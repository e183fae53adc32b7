/** y = intercept + slope × x, by least squares, and the share of the spread of y that it explains. */
export type Line = { slope: number; intercept: number; r2: number }

/** @returns null for fewer than two points, or when all have the same x; `r2` is 1 when all have the same y */
export function lineThrough(points: readonly (readonly [x: number, y: number])[]): Line | null {
  const n = points.length
  const meanX = points.reduce((sum, [x]) => sum + x, 0) / n
  const meanY = points.reduce((sum, [, y]) => sum + y, 0) / n
  let [xx, xy, yy] = [0, 0, 0]
  for (const [x, y] of points) {
    xx += (x - meanX) ** 2
    xy += (x - meanX) * (y - meanY)
    yy += (y - meanY) ** 2
  }
  if (n < 2 || xx <= n * 1e-18) return null
  const slope = xy / xx
  return { slope, intercept: meanY - slope * meanX, r2: yy === 0 ? 1 : xy ** 2 / (xx * yy) }
}
