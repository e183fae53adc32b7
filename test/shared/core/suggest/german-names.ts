/** Point names in the habits of German building systems, each with the role that it is meant to be; null: none of ours. */
import type { EquipmentType, PointKind } from '#shared/core/model/model.ts'

type Line = readonly [name: string, unit: string, kind: PointKind, role: string | null]
const t = (name: string, role: string | null): Line => [name, 'degC', 'number', role]
const pct = (name: string, role: string | null): Line => [name, 'percent', 'number', role]
const flag = (name: string, role: string | null): Line => [name, 'bool', 'bool', role]
const flow = (name: string, role: string | null): Line => [name, 'm3/h', 'number', role]
const pa = (name: string, role: string | null): Line => [name, 'Pa', 'number', role]

export const GERMAN_NAMES: Partial<Record<EquipmentType, readonly (readonly Line[])[]>> = {
  ahu: [
    // compound words, with umlauts
    [
      t('Außentemperatur', 'oa_t'),
      t('Mischlufttemperatur', 'ma_t'),
      t('Ablufttemperatur', 'ra_t'),
      t('Zulufttemperatur', 'sa_t'),
      t('Sollwert Zulufttemperatur', 'sa_t_sp'),
      pa('Kanaldruck Zuluft', 'duct_static'),
      pa('Sollwert Kanaldruck Zuluft', 'duct_static_sp'),
      pa('Filterdifferenzdruck', 'filter_dp'),
      flow('Volumenstrom Zuluft', 'sa_flow'),
      flag('Zuluftventilator Freigabe', 'fan_cmd'),
      flag('Zuluftventilator Betriebsmeldung', 'fan_status'),
      flag('Zuluftventilator Störung', null),
      pct('Zuluftventilator Drehzahl', 'fan_speed'),
      pct('Abluftventilator Drehzahl', 'return_fan_speed'),
      pct('Außenluftklappe', 'oa_damper'),
      pct('Umluftklappe', 'ra_damper'),
      pct('Fortluftklappe', 'ea_damper'),
      pct('Kühlventil', 'clg_valve'),
      pct('Heizventil Stellsignal', 'htg_valve'),
      pct('Heizventil Rückmeldung', 'htg_valve_pos'),
      pct('Abluftfeuchte', 'ra_rh'),
      flag('Frostschutzwächter', null),
      t('Vorlauftemperatur Erhitzer', null),
    ],
    // short forms with a path
    [
      t('RLT01_AUL_TMP_MW', 'oa_t'),
      t('RLT01_ABL_TMP_MW', 'ra_t'),
      t('RLT01_ZUL_TMP_MW', 'sa_t'),
      t('RLT01_ZUL_TMP_SW', 'sa_t_sp'),
      pa('RLT01_ZUL_DRUCK_MW', 'duct_static'),
      pct('RLT01_LE_VENTIL', 'htg_valve'),
      pct('RLT01_LK_VENTIL', 'clg_valve'),
      flag('RLT01_ZUL_VENT_BM', 'fan_status'),
      pct('RLT01_ABL_RF', 'ra_rh'),
      flag('RLT01_WRG_BM', 'hr_status'),
      flag('RLT01_FROST_SM', null),
    ],
    // component and function, as lists of functions name them
    [
      t('Außenluft Messwert Temperatur', 'oa_t'),
      t('Zuluft Messwert Temperatur', 'sa_t'),
      pa('Zuluft Messwert Druck', 'duct_static'),
      flag('Zuluftventilator Schaltbefehl', 'fan_cmd'),
      flag('Zuluftventilator Rückmeldung Betrieb', 'fan_status'),
      pct('Zuluftventilator Stellbefehl', 'fan_speed'),
      flag('Abluftventilator Rückmeldung Betrieb', 'return_fan_status'),
      flag('Abluftventilator Störmeldung', null),
      pct('Außenluftklappe Stellbefehl', 'oa_damper'),
      pct('Außenluftklappe Rückmeldung Stellsignal', 'oa_damper_pos'),
      pct('Erhitzer Stellbefehl', 'htg_valve'),
      pct('Kühler Stellbefehl', 'clg_valve'),
      pct('Befeuchter Stellbefehl', null),
      t('Temperatur nach Vorheizregister', 'preheat_t'),
    ],
    // symbols
    [t('T_AU', 'oa_t'), t('T_ZU', 'sa_t'), t('T_AB', 'ra_t'), t('T_MI', 'ma_t'), pa('dp_Filter_ZU', 'filter_dp')],
    // capitals without umlauts
    [
      t('AUSSENLUFT TEMPERATUR', 'oa_t'),
      t('ZULUFT TEMPERATUR IST', 'sa_t'),
      t('ZULUFT TEMPERATUR SOLL', 'sa_t_sp'),
      pct('VORERHITZER VENTIL STELLUNG', 'preheat_valve'),
      pct('LUFTKUEHLER VENTIL ANSTEUERUNG', 'clg_valve'),
      pct('ZULUFT VENTILATOR FU', 'fan_speed'),
      flag('ZULUFT VENTILATOR EIN', 'fan_cmd'),
      flag('SAMMELSTÖRUNG', null),
    ],
  ],
  vav: [
    [
      t('T_Raum', 'zone_t'),
      t('Raum Sollwert', 'zone_t_sp'),
      flow('Istwert Volumenstrom', 'zone_flow'),
      pct('Klappenstellung', 'damper_pos'),
    ],
    [
      t('Raumtemperatur', 'zone_t'),
      t('Raumtemperatur Sollwert', 'zone_t_sp'),
      t('Sollwert Heizen Raum', 'zone_t_sp_heat'),
      t('Sollwert Kühlen Raum', 'zone_t_sp_cool'),
      flow('Volumenstrom Istwert', 'zone_flow'),
      flow('Volumenstrom Sollwert', 'zone_flow_sp'),
      pct('Klappe Ansteuerung', 'damper'),
      pct('Klappe Rückmeldung', 'damper_pos'),
      pct('Nacherhitzer Ventil', 'reheat_valve'),
      t('Raumtemperatur Sollwertkorrektur', null),
      flag('Präsenz', 'occ'),
    ],
  ],
  hw_plant: [
    [
      t('Vorlauftemperatur', 'hw_supply_t'),
      t('Rücklauftemperatur', 'hw_return_t'),
      t('Vorlauftemperatur Sollwert', 'hw_supply_t_sp'),
      flag('Kessel Freigabe', 'boiler_cmd'),
      flag('Kessel Betriebsmeldung', 'boiler_status'),
      flag('Umwälzpumpe Betriebsmeldung', 'pump_status'),
      pct('Umwälzpumpe Drehzahl', 'pump_speed'),
      t('Trinkwarmwassertemperatur', null),
    ],
    [t('T_VL', 'hw_supply_t'), t('T_RL', 'hw_return_t'), flag('Heizungspumpe Ein', 'pump_cmd')],
    [t('HK_VL_TMP', 'hw_supply_t'), t('HK_RL_TMP', 'hw_return_t'), t('HK_VL_TMP_SW', 'hw_supply_t_sp')],
  ],
  chw_plant: [
    [
      t('Kaltwasser Vorlauf', 'chw_supply_t'),
      t('Kaltwasser Rücklauf', 'chw_return_t'),
      t('Kaltwasser Vorlauf Sollwert', 'chw_supply_t_sp'),
      t('Kühlwasser Vorlauf', 'cw_supply_t'),
      t('Kühlwasser Rücklauf', 'cw_return_t'),
      flag('Kältemaschine Freigabe', 'chiller_cmd'),
      flag('Kältemaschine Betriebsmeldung', 'chiller_status'),
      flag('Kältemaschine Störmeldung', null),
    ],
  ],
  meter: [
    [
      ['Wirkleistung', 'kW', 'number', 'kw'],
      ['Wirkarbeit', 'kWh', 'number', 'kwh'],
    ],
  ],
}
