/** Words of point names and their abbreviations, with the Haystack tags that they mean. */
import { nameTable } from '#shared/core/name-table.ts'
import type { EquipmentType } from '#shared/core/model/model.ts'

/** Tags separated by blanks; `a|b` where only the unit decides which is meant. */
export const MEANINGS = nameTable<string>({
  // the air
  'oa osa os oda odt outside outdoor outsideair outdoorair fresh ambient external': 'outside air',
  'oadb oadt odb': 'outside air temp',
  'ma mixed mix mixedair': 'mixed air',
  'ra ret return returnair extract': 'return air',
  'sa su sup supp supply supplyair da dis disc disch discharge dischargeair dsch dschg splair': 'discharge air',
  'ea exh exhaust relief rel rlf': 'exhaust air',
  'zn zone zon rm room space spc': 'zone air',
  'rmt zt ctltemp': 'zone air temp',
  'oat oatemp': 'outside air temp',
  'mat matemp': 'mixed air temp',
  'rat ratemp': 'return air temp',
  'sat dat satemp datemp': 'discharge air temp',
  'znt zonetemp roomtemp': 'zone air temp',
  air: 'air',
  'wx weather web wthr wea': 'weather air',
  // what is measured
  't temp tmp temperature tempr tmpr tem': 'temp',
  'p press pressure pres': 'pressure',
  'static stat': 'pressure|run',
  dsp: 'discharge air pressure',
  'dp diff dif differential delta difpress diffpress diffp': 'pressure delta',
  'h hum humidity humid humd hmd': 'humidity',
  // relative humidity, or a reheat coil's signal
  rh: 'humidity rh',
  'flow flo airflow cfm vol volume gpm f flw lps': 'flow',
  'co2 carbondioxide': 'co2 air zone',
  'kw power pwr watts watt': 'elec power',
  // of a meter its power, of a damper or valve its signal
  demand: 'demand',
  'amp amps current ampere amperes': 'elec current',
  'kwh energy consumption engy': 'elec energy',
  'elec electric electrical electricity': 'elec',
  'wb wetbulb': 'wetBulb temp',
  'dewpoint dewpt': 'dewPoint temp',
  'occ occupied occupancy occupy sched schedule': 'occupied',
  // what it is to the loop
  'sp spt stpt setpt setpoint stp setp': 'sp',
  spspt: 'pressure sp',
  'c cmd command commanded cmnd cs dm ctl ctrl control req': 'cmd',
  // on and off, or a signal between: said by the word where neither unit nor values say it
  'ss startstop start stop en ena enbl enable enabled bo do': 'cmd binary',
  'o out output signal sig mod modulating ao': 'cmd analog',
  's sts status proof prf run running state': 'run sensor',
  'sensor sens sen snsr ai bi di meas measured measurement reading': 'sensor',
  'fb fbk fdbk feedback': 'sensor position',
  // of a damper or valve: its command or its position
  'pos posn position': 'position',
  'act actual actv active eff effective pt point val value av bv mv pv present the of loop': '',
  'min minimum': 'min',
  minpos: 'min position',
  'max maximum': 'max',
  'spd speed vfd vsd freq frequency drive hz': 'speed',
  'pct percent percentage': '',
  // parts
  fan: 'fan',
  'sf saf supfan supplyfan sfan sfn fansu': 'discharge fan',
  'rf raf retfan returnfan rfan rfn fanex': 'return fan',
  'ef exhfan efan efn': 'exhaust fan',
  'dpr dmpr damper dampers dmp damp dampr dmper airvalve': 'damper',
  // mixing dampers and an economizer's follow the outdoor-air damper
  'mad mdmp mdmpr mixingdamper mixingdampers': 'outside air damper',
  'econ economizer': 'economizer',
  oad: 'outside air damper',
  rad: 'return air damper',
  ead: 'exhaust air damper',
  'v vlv valve vv vl valv': 'valve',
  'clg cool cooling clgv cc ccoil cl': 'cool',
  dx: 'compressor',
  'htg heat heating hc hcoil ht': 'heat',
  'steam stm': 'hot water',
  'reheat rht rhv reht': 'reheat',
  'ph preheat prht preht phtg frost': 'preheat',
  'ccv chwv clgvlv cvlv cvl cvalve': 'cool valve',
  'hcv hwv htgvlv hvlv hvl hvalve': 'heat valve',
  coil: 'coil',
  'chwc ccl': 'cool coil',
  'hwc hcl': 'heat coil',
  'filter flt filt fltr fil': 'filter air',
  'hotdeck hotduct': 'hotDeck air',
  // The cold one is the supply air that every unit has.
  'colddeck coldduct': 'discharge air',
  'bldg building': 'building air',
  'duct dct': 'duct',
  'pmp pump pu pm': 'pump',
  'cwp cdwp': 'condenser water pump',
  'chwp pchwp schwp': 'chilled water pump',
  'hwp hhwp': 'hot water pump',
  'tower twr': 'tower',
  ctf: 'tower fan',
  'chlr chiller chil chl': 'chiller',
  'blr boiler boil boi': 'boiler',
  'comp cmpr cmp compr compressor': 'compressor',
  'refrig refr refrigerant': 'refrig',
  'evap evaporator': 'evaporator',
  'cond condenser': 'condenser',
  defrost: 'defrost',
  'aux auxiliary': 'auxiliary',
  mode: 'mode',
  'stage stg': 'stage',
  reset: 'reset',
  'requests request reqs': 'requests',
  'bypass byp': 'bypass',
  'hrw wheel whl heatwheel hrwhl energywheel hru recovery erw': 'heatRecovery',
  // what is no part of the loop, whatever else the name says
  'alarm alrm alm fault trip tripped fail failure smoke freeze freezestat leak offset bias adjust adj limit lim override ovrd ovr runtime hours hrs count gain deadband delay timer trend test':
    'other',
  // a set point of other hours is not the one that is in force
  'unocc unoccupied standby stby night ngt setback nsb setup': 'other',
  // the supply of a box, as opposed to its discharge
  'primary pri prim inlet': 'primary',
  'ahu rtu mau oau doas ahs': 'airHandler',
  'vav fpb box fcu fptu tu': 'box',
  // water
  'chw chwl chilled': 'chilled water',
  'chws chwst pchws pchwst': 'chilled water leaving temp',
  'chwr chwrt pchwr pchwrt': 'chilled water entering temp',
  'cw cnd cds cdw cdwl tw': 'condenser water',
  'cwst cdws cdwst': 'condenser water entering temp',
  'cdwr cdwrt': 'condenser water leaving temp',
  cws: 'condenser water entering temp',
  'cwr cwrt': 'condenser water leaving temp',
  'hw hwl hhw lthw lphw mthw hot hotwater': 'hot water',
  'hws hwst hhws hhwst': 'hot water leaving temp',
  'hwr hwrt hhwr hhwrt': 'hot water entering temp',
  'water wtr wat': 'water',
  sw: 'discharge water',
  rw: 'return water',
  'entering ent entg ewt enter': 'entering',
  'leaving leave lvg lv lwt': 'leaving',
  'lat offcoil': 'leaving air temp',
  eat: 'entering air temp',
})

/**
 * Letters that mean a machine at the beginning of a name of a plant, `P-C`, `CH1_SS`. On other equipment they mean
 * pressure, or number the unit.
 */
const OF_PLANTS = nameTable<string>({ p: 'pump', ch: 'chiller', b: 'boiler', ct: 'tower' })
export const MACHINES_OF: Partial<Record<EquipmentType, Record<string, string>>> = {
  chw_plant: OF_PLANTS,
  hw_plant: OF_PLANTS,
  chiller: OF_PLANTS,
  boiler: OF_PLANTS,
  pump: OF_PLANTS,
  cooling_tower: OF_PLANTS,
}
