/** German words of point names and their abbreviations, with the Haystack tags that they mean. */
import { nameTable } from '#shared/core/name-table.ts'

/**
 * Tags separated by blanks, as in `MEANINGS`. Umlauts are written `ae`, `oe`, `ue`, as `plainGerman` writes them. Words whose
 * meaning in an English name is another one count only here: `VL` is a flow pipe, and not a valve.
 */
export const GERMAN_MEANINGS = nameTable<string>({
  // the air; short forms of DIN EN 16798-3 and of VDI 3814
  'aussenluft aussen aussenl aul au frischluft': 'outside air',
  'mischluft misch mil mi': 'mixed air',
  'abluft abl ab umluft uml um': 'return air',
  'zuluft zul zu': 'discharge air',
  'fortluft fol fo': 'exhaust air',
  'raumluft raum': 'zone air',
  luft: 'air',
  'wetter wetterstation': 'weather air',
  // what is measured
  'temperatur temperaturfuehler tmp': 'temp',
  druck: 'pressure',
  kanaldruck: 'duct pressure',
  'differenzdruck druckdifferenz diffdruck': 'pressure delta',
  'feuchte feuchtigkeit luftfeuchte luftfeuchtigkeit relativfeuchte relfeuchte rf': 'humidity',
  'volumenstrom volstrom luftmenge durchfluss luftdurchsatz luftvolumenstrom': 'flow',
  'leistung wirkleistung leistungsaufnahme': 'elec power',
  'energie energiezaehler wirkarbeit stromzaehler zaehlerstand verbrauch': 'elec energy',
  'strom stromaufnahme motorstrom': 'elec current',
  'belegung belegt praesenz anwesenheit nutzung': 'occupied',
  // what it is to the loop
  'sollwert soll sw': 'sp',
  'istwert ist messwert iw mw fuehler aktuell aktueller': 'sensor',
  'befehl schaltbefehl freigabe anforderung einaus ein': 'cmd binary',
  'stellsignal stellgroesse stellbefehl ansteuerung ausgang': 'cmd analog',
  'betriebsmeldung betrieb laufmeldung bm zustand': 'run sensor',
  'rueckmeldung stellungsrueckmeldung rueckfuehrung rm rueckmeldungstellsignal': 'sensor position',
  'stellung oeffnung oeffnungsgrad': 'position',
  'minimal minimum mindest': 'min',
  'maximal maximum hoechst': 'max',
  'drehzahl umrichter frequenzumrichter fu': 'speed',
  'prozent wert von der die das des im in fuer und anlage rlt rltanlage lueftung': '',
  // parts
  'ventilator luefter': 'fan',
  'klappe klappen': 'damper',
  ventil: 'valve',
  register: 'coil',
  'kuehler kuehlung kuehlen kuehl kaelte luftkuehler lk': 'cool',
  'erhitzer heizung heizungs heizen heiz waerme lufterhitzer nacherhitzer nachheiz nachheizer le ne': 'heat',
  'vorerhitzer vorheiz vorheizer ve': 'preheat',
  'pumpe pumpen umwaelzpumpe': 'pump',
  'kuehlturm rueckkuehler rueckkuehlwerk': 'tower',
  'kaeltemaschine kaelteerzeuger': 'chiller',
  'kessel heizkessel': 'boiler',
  'verdichter kompressor': 'compressor',
  'verdampfer verdampfungs': 'evaporator',
  'verfluessiger kondensator': 'condenser',
  abtauung: 'defrost',
  betriebsart: 'mode',
  stufe: 'stage',
  'waermerueckgewinnung wrg rotationswaermetauscher': 'heatRecovery',
  'austritt nach': 'leaving',
  'eintritt vor': 'entering',
  // water: what flows to the consumers, and what comes back
  'vorlauf vl': 'water discharge',
  'ruecklauf rl': 'water return',
  tvl: 'water discharge temp',
  trl: 'water return temp',
  kaltwasser: 'chilled water',
  'kuehlwasser rueckkuehl': 'condenser water',
  'heizwasser heizkreis heisswasser': 'hot water',
  wasser: 'water',
  // what is no part of the loop, whatever else the name says
  'stoerung stoermeldung sammelstoerung fehler alarm alarmmeldung warnmeldung wartungsmeldung laufueberwachung grenzwert frostschutz frost rauch brandschutz wartung reparaturschalter betriebsstunden laufzeit hand handbetrieb handschaltung vorort korrektur abweichung hysterese kennlinie warmwasser trinkwarmwasser tww':
    'other',
  'nacht absenkung absenkbetrieb standby reduziert bereitschaft': 'other',
})

/** Parts of words that no English name has. */
const MARKS =
  /luft|temperatur(?!e)|ventil(?!at)|druck|raum|soll|klappe|kuehl|heiz|feucht|vorlauf|ruecklauf|pumpe|kessel|stoer|drehzahl|luefter|freigabe|meldung|aussen|betrieb|waerme|kaelte|stellung|sammel|leistung|wirk|zaehler/
/** Short forms; one of them may be in an English name by chance. */
const SHORT = /(?<![a-z])(zul?|abl?|aul?|fol?|mil|wrg|bm|rm|sw|iw|t[-_ .]?[vr]l|[vr]l[-_ .]?te?m?p?)(?![a-z])/g
/** Different short forms that make the names of one equipment German. */
const SHORT_MIN = 2

const TWO_LETTERS = nameTable<string>({ ä: 'ae', ö: 'oe', ü: 'ue' })

/** @returns the text with umlauts and sharp s in two letters, capitals where the letter after it is one; other accents are unchanged */
export const plainGerman = (text: string): string =>
  text
    .normalize('NFC')
    .replace(/[äöü]/g, letter => TWO_LETTERS[letter]!)
    .replace(/([ÄÖÜ])(?=\p{Ll})/gu, letter => capital(TWO_LETTERS[letter.toLowerCase()]!))
    .replace(/[ÄÖÜ]/g, letter => TWO_LETTERS[letter.toLowerCase()]!.toUpperCase())
    .replaceAll('ß', 'ss')

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)

/** @returns whether the names of one equipment are German, so that its words are read before the English ones */
export function areGerman(names: readonly string[]): boolean {
  const text = names.map(name => plainGerman(name).toLowerCase()).join('\n')
  return MARKS.test(text) || new Set([...text.matchAll(SHORT)].map(([short]) => short)).size >= SHORT_MIN
}
