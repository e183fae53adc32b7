/** What the scripts of pages write themselves. */
import { nameTable } from '#shared/core/name-table.ts'

export const SCRIPTS_DE = nameTable<string>({
  'worst {0}': 'am schlimmsten {0}',
  '{0} to {1}, {2}': '{0} bis {1}, {2}',
  'The session has ended. What you typed stays; the password is asked for when you send it.':
    'Die Sitzung ist beendet. Was Sie eingegeben haben, bleibt; beim Senden wird nach dem Kennwort gefragt.',
  'No answer since then: this page is old.': 'Seitdem keine Antwort: Diese Seite ist veraltet.',
  'from the edge, {0} bytes': 'vom Edge, {0} Byte',
  'to the edge, {0} bytes': 'zum Edge, {0} Byte',
  'Go on ({0} waiting)': 'Weiter ({0} warten)',
  'Connected to the broker.': 'Mit dem Broker verbunden.',
  'Not connected to the broker.': 'Nicht mit dem Broker verbunden.',
  '{0} messages since the start': '{0} Nachrichten seit dem Start',
  '{0} messages since the start, {1} not shown because too many came at once':
    '{0} Nachrichten seit dem Start, {1} nicht gezeigt, weil zu viele auf einmal kamen',
  'No answer from the hub.': 'Keine Antwort vom Hub.',
  '{0} least': '{0} Kleinstwert',
  '{0} greatest': '{0} Größtwert',
  'This time could not be loaded. Try again, or load the page anew.':
    'Diese Zeit konnte nicht geladen werden. Versuchen Sie es erneut oder laden Sie die Seite neu.',
})
