/**
 * Why the system of a box left an update, or what it does with one, as its scripts write it into the state of the update (`confirm` in
 * `image/root/usr/lib/plenum`), with values as `{0}`. Pages say them in the language of the reader.
 */
export const BOX_REASONS: readonly string[] = [
  'it has started and is watched',
  'the power was cut while it was installed; send it again',
  'it did not start',
  'it was not healthy for {0} s: {1}',
]
