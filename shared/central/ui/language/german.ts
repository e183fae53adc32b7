/** The German texts of pages. A text without an entry stays English. */
import { IMPACT_KINDS, impactKindSpec } from '#shared/core/impact/kinds.ts'
import type { PageLanguage } from '#shared/node/http/language.ts'
import { madeTexts } from './made-texts.ts'
import { ACCESS_DE } from './de/access-de.ts'
import { ANALYTICS_DE } from './de/analytics-de.ts'
import { APPLIANCE_DE } from './de/appliance-de.ts'
import { BACNET_DE } from './de/bacnet-de.ts'
import { COMMISSION_DE } from './de/commission-de.ts'
import { CSV_CHECKS_DE } from './de/csv-checks-de.ts'
import { DEVICES_DE } from './de/devices-de.ts'
import { EQUIPMENT_DE } from './de/equipment-de.ts'
import { FAULTS_DE } from './de/faults-de.ts'
import { FLEET_DE } from './de/fleet-de.ts'
import { FRAME_DE } from './de/frame-de.ts'
import { HUB_DE } from './de/hub-de.ts'
import { IMPORT_DE } from './de/import-de.ts'
import { MODBUS_DE } from './de/modbus-de.ts'
import { NETWORK_COMPLAINTS_DE, NETWORK_DE } from './de/network-de.ts'
import { OVERRIDES_DE } from './de/overrides-de.ts'
import { RULES_DE } from './de/rules-de.ts'
import { SCRIPTS_DE } from './de/scripts-de.ts'
import { SETTINGS_DE } from './de/settings-de.ts'
import { SYSTEM_DE } from './de/system-de.ts'
import { TRENDS_DE } from './de/trends-de.ts'
import { WORDS_DE } from './de/words-de.ts'
import { ROLES_DE } from './de/roles-de.ts'
import { COMPONENTS_DE } from './de/rules/components-de.ts'
import { PROBLEM_DETAILS_DE } from './de/problem-details-de.ts'
import { PROBLEMS_DE } from './de/problems-de.ts'
import { RULE_CHECKS_DE } from './de/rules/rule-checks-de.ts'
import { SCHEMA_CHECKS_DE } from './de/rules/schema-checks-de.ts'
import { RULE_TITLES_DE } from './de/rules/rule-titles-de.ts'
import { AIR_SENTENCES_DE } from './de/rules/air-sentences-de.ts'
import { PLANT_SENTENCES_DE } from './de/rules/plant-sentences-de.ts'
import { FUNCTIONS_DE } from './de/rules/functions-de.ts'
import { CORE_SENTENCES_DE } from './de/rules/core-sentences-de.ts'

const AREAS = [
  RULE_CHECKS_DE,
  SCHEMA_CHECKS_DE,
  CORE_SENTENCES_DE,
  FUNCTIONS_DE,
  PLANT_SENTENCES_DE,
  AIR_SENTENCES_DE,
  RULE_TITLES_DE,
  CSV_CHECKS_DE,
  PROBLEM_DETAILS_DE,
  PROBLEMS_DE,
  COMPONENTS_DE,
  ROLES_DE,
  BACNET_DE,
  MODBUS_DE,
  NETWORK_DE,
  NETWORK_COMPLAINTS_DE,
  DEVICES_DE,
  APPLIANCE_DE,
  FLEET_DE,
  HUB_DE,
  ACCESS_DE,
  ANALYTICS_DE,
  COMMISSION_DE,
  EQUIPMENT_DE,
  FAULTS_DE,
  IMPORT_DE,
  RULES_DE,
  SCRIPTS_DE,
  SETTINGS_DE,
  SYSTEM_DE,
  TRENDS_DE,
  FRAME_DE,
  OVERRIDES_DE,
  WORDS_DE,
]
/** German by English, as `scripts/language` lists what is missing. */
export const GERMAN_MESSAGES: ReadonlyMap<string, string> = new Map(AREAS.flatMap(area => Object.entries(area)))

/** With and without the field before it and the given value behind it. */
function withField([check, german]: [string, string]): [string, string][] {
  const later = (text: string) => `{0} ${text.replaceAll(/\{(\d)\}/g, (_, place: string) => `{${Number(place) + 1}}`)}`
  return [
    [check, german],
    [later(check), later(german)],
  ].flatMap(([english, translated]): [string, string][] => {
    const value = `{${english!.match(/\{\d\}/g)?.length ?? 0}}`
    return [
      [`${english}, not ${value}`, `${translated}, nicht ${value}`],
      [english!, translated!],
    ]
  })
}

/** What the core makes in English, so that it is recognised by its text. */
export const MADE: ReadonlyMap<string, string> = new Map(
  [
    ...[AIR_SENTENCES_DE, PLANT_SENTENCES_DE, CORE_SENTENCES_DE, PROBLEM_DETAILS_DE, CSV_CHECKS_DE, NETWORK_COMPLAINTS_DE],
    RULE_CHECKS_DE,
  ]
    .flatMap(area => Object.entries(area))
    .concat(Object.entries(SCHEMA_CHECKS_DE).flatMap(withField))
    .concat(IMPACT_KINDS.map(impactKindSpec).flatMap(({ words }) => [[words, GERMAN_MESSAGES.get(words) ?? words]])),
)

const DECIMAL = ','
const THOUSANDS = '.'
export const GERMAN: PageLanguage = {
  language: 'de',
  translate: message => GERMAN_MESSAGES.get(message),
  translateMade: madeTexts(MADE, english => english.replace(/[.,]/g, sign => (sign === '.' ? DECIMAL : THOUSANDS))),
  decimal: DECIMAL,
  thousands: THOUSANDS,
}
