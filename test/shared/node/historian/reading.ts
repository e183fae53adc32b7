import type { Buckets } from '#shared/core/series/series.ts'

/** Libraries that this process has loaded. */
export const libraries = (): string[] => (process.report.getReport() as { sharedObjects?: string[] }).sharedObjects ?? []
/** Whether this process has ever read a sealed file. */
export const isDuckLoaded = (): boolean => libraries().some(name => name.includes('duckdb'))

/** Buckets without the last digits of the mean, which depend on the order of its samples. */
export const rounded = ({ mean, ...rest }: Buckets) => ({ ...rest, mean: Array.from(mean, one => one.toFixed(9)) })
