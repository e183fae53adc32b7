/** The language of pages in which tests look at German. */
import { GERMAN_MESSAGES } from '#shared/central/ui/language/german.ts'

export const IN_GERMAN = {
  language: 'de',
  translate: (message: string): string | undefined => GERMAN_MESSAGES.get(message),
  translateMade: (): string | undefined => undefined,
  decimal: ',',
  thousands: '.',
}
