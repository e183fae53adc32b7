/** Sentences that the core makes: the diagnosis of an economizer, and what a rule says. */
import { nameTable } from '#shared/core/name-table.ts'

export const CORE_SENTENCES_DE = nameTable<string>({
  "Half of the fan's pressure is taken to be the duct's.": 'Die Hälfte des Ventilatordrucks wird dem Kanal zugerechnet.',
  "The damper's position is taken as its share of the supply air.":
    'Die Stellung der Klappe gilt als Anteil der Außenluft an der Zuluft.',
  "Outdoor air could have done what the coil did, at most 8 K where the coil's drop is not measured.":
    'Die Außenluft hätte leisten können, was der Kühler geleistet hat; höchstens 8 K, wo dessen Abkühlung nicht gemessen wird.',
  "Heat recovery serves the outdoor air alone, whose share is taken from the damper's position; without one it is all of the supply air.":
    'Die Wärmerückgewinnung wirkt nur auf die Außenluft; ihr Anteil gilt nach der Stellung der Klappe, ohne Klappe ist es die ganze Zuluft.',
  'A chiller takes a fortieth more power for each kelvin of lift, as at a lift of 40 K.':
    'Eine Kältemaschine braucht je Kelvin Hub ein Vierzigstel mehr Leistung, wie bei einem Hub von 40 K.',
  'At the difference of temperatures that is usual, as much less water would have to be moved.':
    'Bei der üblichen Temperaturdifferenz müsste entsprechend weniger Wasser umgewälzt werden.',
  'A condensing boiler that does not condense burns about 8 % more.':
    'Ein Brennwertkessel, der nicht kondensiert, verbraucht etwa 8 % mehr.',
  'The smaller of the two runs in full.': 'Die kleinere der beiden Leistungen läuft ganz mit.',
  'For {0} of the time the mixed air is outside of what outdoor and return air can make: one of the three sensors is wrong.':
    '{0} der Zeit liegt die Mischluft außerhalb dessen, was Außenluft und Abluft ergeben können: Einer der drei Fühler ist falsch.',
  'The fan did not run, so there is no result.': 'Der Ventilator lief nicht, darum gibt es kein Ergebnis.',
  'a needed value is missing': 'ein benötigter Wert fehlt',
  'outdoor and return air are closer than {0} K': 'Außenluft und Abluft liegen näher als {0} K beieinander',
  'the damper moves too much': 'die Klappe bewegt sich zu stark',
  'the fan has just started': 'der Ventilator ist gerade angelaufen',
  ', mostly because {0}': ', meist wegen: {0}',
  'Too little data: {0} of {1} of running are identifiable{2}.': 'Zu wenige Daten: {0} von {1} Betrieb sind bestimmbar{2}.',
  'Outdoor air does not follow its damper: {0} of the mixed air below a position of {1}, {2} above {3}.':
    'Die Außenluft folgt ihrer Klappe nicht: {0} der Mischluft unter einer Stellung von {1}, {2} über {3}.',
  'The shut damper still lets in {0} of outdoor air.': 'Die geschlossene Klappe lässt noch {0} Außenluft ein.',
  'The wide-open damper lets in only {0} of outdoor air.': 'Die voll offene Klappe lässt nur {0} Außenluft ein.',
  'The damper, more than half open, lets in {0} of outdoor air at a position of {1}.':
    'Die mehr als halb offene Klappe lässt {0} Außenluft ein, bei einer Stellung von {1}.',
  'Outdoor air above {0} °C was let in for {1} of {2}.': 'Außenluft über {0} °C wurde {1} von {2} eingelassen.',
  'The damper lets in {0} less of outdoor air than its position says.':
    'Die Klappe lässt {0} weniger Außenluft ein, als ihre Stellung sagt.',
  'The damper lets in {0} more of outdoor air than its position says.':
    'Die Klappe lässt {0} mehr Außenluft ein, als ihre Stellung sagt.',
  'Outdoor air would have cooled for {0}; for {1} of them the cooling valve was open and the damper less than half.':
    'Außenluft hätte {0} gekühlt; davon war {1} das Kühlventil offen und die Klappe weniger als halb.',
  'The damper was always at {0}: there it lets in {1} less of outdoor air than its position indicates; whether outdoor air follows the damper is not known.':
    'Die Klappe stand immer bei {0}: Dort lässt sie {1} weniger Außenluft ein, als ihre Stellung anzeigt; ob die Außenluft der Klappe folgt, ist nicht bekannt.',
  'The damper was always at {0}: there it lets in {1} more of outdoor air than its position indicates; whether outdoor air follows the damper is not known.':
    'Die Klappe stand immer bei {0}: Dort lässt sie {1} mehr Außenluft ein, als ihre Stellung anzeigt; ob die Außenluft der Klappe folgt, ist nicht bekannt.',
  'Outdoor air follows its damper: {0} less than its position says, as the median of {1}.':
    'Die Außenluft folgt ihrer Klappe: {0} weniger, als ihre Stellung sagt, als Median von {1}.',
  'Outdoor air follows its damper: {0} more than its position says, as the median of {1}.':
    'Die Außenluft folgt ihrer Klappe: {0} mehr, als ihre Stellung sagt, als Median von {1}.',
  'A {0} rule for {1}, severity {2} ({3}). Source: {4}.': 'Eine Regel der Art {0} für {1}, Schwere {2} ({3}). Quelle: {4}.',
  'It needs: {0}.': 'Sie braucht: {0}.',
  'It needs one of: {0}.': 'Sie braucht eines von: {0}.',
  'In it {0} stands for: {1}.': 'Darin steht {0} für: {1}.',
  'Optional: {0}.': 'Wahlweise: {0}.',
  'Points to: {0}.': 'Weist hin auf: {0}.',
  'Suppresses: {0}.': 'Unterdrückt: {0}.',
  'It runs once for every {0}role, called {1} here.': 'Sie läuft einmal für jede Rolle {0}, hier {1} genannt.',
  'While {0}, fault when: {1}.': 'Solange {0}, Störung, wenn: {1}.',
  'Otherwise, fault when: {0}.': 'Sonst Störung, wenn: {0}.',
  'Fault when: {0}.': 'Störung, wenn: {0}.',
  'The result is "pass" only when {0} % of the gated time could be evaluated; otherwise "not evaluated".':
    'Das Ergebnis ist nur dann „bestanden“, wenn {0} % der betrachteten Zeit auswertbar waren; sonst „nicht ausgewertet“.',
  'Named as the likely cause of findings of: {0}.': 'Als wahrscheinliche Ursache genannt bei Befunden von: {0}.',
  'It wastes {0}: {1}.': 'Sie vergeudet {0}: {1}.',
  'It wastes {0}.': 'Sie vergeudet {0}.',
  'every rule that reads the role': 'jede Regel, die die Rolle liest',
  'every rule that reads {0}': 'jede Regel, die {0} liest',
  'Also gated while outdoor and return air are less than 3 K apart.':
    'Auch nicht betrachtet, solange Außenluft und Abluft weniger als 3 K auseinander liegen.',
  'Evaluated only while: {0}.': 'Ausgewertet nur, solange: {0}.',
  "in the role's own unit": 'in der eigenen Einheit der Rolle',
  'a physical value stands in': 'gilt ein physikalischer Wert',
  'the rule is not evaluated': 'wird die Regel nicht ausgewertet',
  'the rule goes by limits that need no history': 'gelten Grenzen, die keinen Verlauf brauchen',
  'what a model fitted to': 'das, was ein Modell aus',
  'the median of': 'der Median von',
  ' expects for the moment': ' für den Augenblick erwartet',
  '  base({0}) is {1} up to {2} past days of this equipment{3}; until there are {4}, {5}.':
    '  base({0}) ist {1} bis zu {2} vergangenen Tagen dieser Anlage{3}; bis es {4} sind, {5}.',
  'Numbers are averaged over {0}.': 'Zahlen werden über {0} gemittelt.',
  'After the gate opens it waits {0}.': 'Nach Beginn der Betrachtung wartet sie {0}.',
  'The fault must last {0} without a break.': 'Die Störung muss {0} ohne Unterbrechung bestehen.',
  'It must add up to {0} within a building day.': 'Sie muss an einem Gebäudetag zusammen {0} ergeben.',
  'It ends when it has been away for {0}.': 'Sie endet, wenn sie {0} fort war.',
  'It needs samples every {0} or more often.': 'Sie braucht alle {0} oder öfter einen Messwert.',
  'Findings that begin within {0} of each other are one outage.': 'Befunde, die innerhalb von {0} beginnen, sind ein Ausfall.',
  // Updates of boxes
  'it has started and is watched': 'sie ist gestartet und wird beobachtet',
  'the power was cut while it was installed; send it again':
    'der Strom fiel aus, während es installiert wurde; schicken Sie es noch einmal',
  'it did not start': 'sie startete nicht',
  'it was not healthy for {0} s: {1}': 'sie war {0} s lang nicht gesund: {1}',
  'it was stopped by {0}': 'von {0} angehalten',
  'it refused the update': 'sie hat das Update abgelehnt',
  'it could not install the update': 'sie konnte das Update nicht installieren',
  'it went back to the version before': 'sie ist zur Version davor zurückgekehrt',
  'ran it already': 'lief schon damit',
  'it did not come back healthy within {0} min': 'sie kam nicht innerhalb von {0} min gesund zurück',
})
