import { Value } from '@sinclair/typebox/value'
import test from 'ava'
import { CatalogueFile } from '#appliance/store/catalogue-schema.ts'
import { SiteFile } from '#appliance/store/site.ts'
import { DAY, HOUR, MINUTE } from '#shared/core/time.ts'
import { openSimulation, SITE_START } from '#scripts/simulator/building/building.ts'
import { siteCatalogue } from '#scripts/simulator/building/catalogue.ts'
import { SCRIPT, type ScheduledFault } from '#scripts/simulator/building/faults.ts'
import { POINTS, type SimPoint } from '#scripts/simulator/building/points.ts'

const pointOf = (point_id: string): SimPoint => POINTS.find(point => point.point_id === point_id)!

/** Values of points at an hour after the site's start, in the points' own units (°F, cfm, percent). */
function valuesAt(script: readonly ScheduledFault[], hours: number, ...points: string[]): number[] {
  const simulation = openSimulation(script)
  return points.map(point_id => simulation.read(pointOf(point_id), SITE_START + hours * HOUR))
}

/** The fault alone, from the start on. */
const only = (fault: ScheduledFault['fault']): ScheduledFault[] => {
  const { to: _, ...known } = SCRIPT.find(one => one.fault === fault)!
  return [{ ...known, from: 0 }]
}

test('what the building shows at a moment does not depend on how often it was asked before', t => {
  const [eager, lazy] = [openSimulation(), openSimulation()]
  const end = SITE_START + 3 * HOUR
  for (let ms = SITE_START; ms < end; ms += 7 * 1000) eager.at(ms)
  for (const point of POINTS) t.is(eager.read(point, end), lazy.read(point, end), point.point_id)
})

test('a healthy building keeps its set points through three days', t => {
  const simulation = openSimulation([])
  const read = (point_id: string, ms: number) => simulation.read(pointOf(point_id), ms)
  for (let ms = SITE_START; ms < SITE_START + 3 * DAY; ms += 5 * MINUTE) {
    const hour = (11 + (ms - SITE_START) / HOUR) % 24
    if (hour < 6.5 || hour >= 20) continue
    const at = new Date(ms).toISOString()
    t.true(Math.abs(read('AHU-1.sa_t', ms) - 55) < 1.5, `supply air at ${at}: ${read('AHU-1.sa_t', ms)}`)
    t.true(Math.abs(read('AHU-1.duct_static', ms) - 0.5) < 0.06, `static pressure at ${at}`)
    for (const box of ['VAV-101', 'VAV-102', 'VAV-103', 'VAV-104']) {
      const zone = read(`${box}.zone_t`, ms)
      t.true(zone > 68.5 && zone < 76, `${box} at ${at}: ${zone}`)
      t.true(read(`${box}.damper`, ms) < 90, `${box} damper at ${at}`)
      t.true(Math.abs(read(`${box}.zone_flow`, ms) - read(`${box}.zone_flow_sp`, ms)) < 150, `${box} flow at ${at}`)
    }
  }
})

test('every fault leaves its mark where it is', t => {
  const [flow, damper] = valuesAt(only('vav_flow_dead'), 2, 'VAV-102.zone_flow', 'VAV-102.damper')
  t.true(Math.abs(flow!) < 30 && damper === 100)

  const [discharge, supply, reheat] = valuesAt(
    only('vav_reheat_leak'),
    2,
    'VAV-103.discharge_t',
    'AHU-1.sa_t',
    'VAV-103.reheat_valve',
  )
  t.true(discharge! - supply! > 5.5 && reheat === 0)

  t.deepEqual(valuesAt(only('exhaust_fan_off'), 2, 'EF-1.fan_cmd', 'EF-1.fan_status'), [1, 0])

  const [mixed, outdoor, returned, command] = valuesAt(
    only('oa_damper_stuck'),
    3,
    'AHU-1.ma_t',
    'AHU-1.oa_t',
    'AHU-1.ra_t',
    'AHU-1.oa_damper',
  )
  t.true((mixed! - returned!) / (outdoor! - returned!) > 0.6 && command === 20)

  const [warm, valve] = valuesAt(only('clg_valve_stuck'), 3, 'AHU-1.sa_t', 'AHU-1.clg_valve')
  t.true(warm! > 58 && valve === 100)

  const [, healthy] = valuesAt([], 3, 'AHU-1.sa_t', 'AHU-1.clg_valve')
  const [kept, harder] = valuesAt(only('htg_valve_leak'), 3, 'AHU-1.sa_t', 'AHU-1.clg_valve')
  t.true(Math.abs(kept! - 55) < 1.5 && harder! > healthy! * 1.1)
})

test('the catalogue and the site fit what the appliance reads', t => {
  const { fieldDevices, site } = structuredClone(siteCatalogue(9000))
  t.deepEqual([...Value.Errors(CatalogueFile, fieldDevices)], [])
  t.deepEqual([...Value.Errors(SiteFile, site)], [])
  t.is(fieldDevices.devices.flatMap(({ points }) => points).length, POINTS.length)
})
