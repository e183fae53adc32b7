import test from 'ava'
import { historyWords } from '#shared/central/pages/setup.view.ts'

const GB = 1e9

for (const [extent, words] of [
  [{ bytes: 0, max_bytes: 40 * GB, whole_from: null, thinned_from: null }, 'No history is older than a day yet.'],
  [
    { bytes: 0.25 * GB, max_bytes: 40 * GB, whole_from: '2026-03', thinned_from: null },
    'History takes 250 MB of at most 40.0 GB: every sample since 2026-03.',
  ],
  [
    { bytes: 39.96 * GB, max_bytes: 40 * GB, whole_from: '2026-03', thinned_from: '2021-07' },
    'History takes 40.0 GB of at most 40.0 GB: every sample since 2026-03, one value for 15 minutes since 2021-07.',
  ],
  [
    { bytes: 2 * GB, max_bytes: Infinity, whole_from: '2026-03', thinned_from: null },
    'History takes 2.0 GB: every sample since 2026-03.',
  ],
] as const) {
  test(words, t => t.is(historyWords(extent), words))
}
