/** Kinds of equipment in words. */
import type { EquipmentType } from '#shared/core/model/model.ts'
import { words } from '#shared/node/http/language.ts'

/** One of a kind, and several. */
export const EQUIPMENT_WORDS: Record<EquipmentType, readonly [one: string, many: string]> = words({
  ahu: ['Air handler', 'Air handlers'],
  vav: ['VAV box', 'VAV boxes'],
  zone: ['Zone', 'Zones'],
  fcu: ['Fan coil unit', 'Fan coil units'],
  rtu: ['Rooftop unit', 'Rooftop units'],
  heat_pump: ['Heat pump', 'Heat pumps'],
  chiller: ['Chiller', 'Chillers'],
  chw_plant: ['Chilled water plant', 'Chilled water plants'],
  cooling_tower: ['Cooling tower', 'Cooling towers'],
  boiler: ['Boiler', 'Boilers'],
  hw_plant: ['Hot water plant', 'Hot water plants'],
  pump: ['Pump', 'Pumps'],
  fan: ['Fan', 'Fans'],
  meter: ['Meter', 'Meters'],
  weather: ['Weather station', 'Weather stations'],
})
