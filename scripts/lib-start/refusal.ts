/** A start that cannot be, in a sentence for the person who asked for it. */
export class Refusal extends Error {
  override name = 'Refusal'
}
