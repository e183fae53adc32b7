/** What can be evaluated, and why not: missing roles and samples, samples that hold, gates. */
import test from 'ava'
import { type Case, GATED, testCases } from './cases.ts'

const CASES: Case[] = [
  // ---- three values
  { title: 'a condition that never holds passes', rule: {}, rows: { sa_t: '10x24' }, spans: [], status: 'pass', coverage: 1 },
  {
    title: 'a role that is not there is missing',
    rule: { roles: GATED.roles },
    rows: { sa_t: '30x24' },
    spans: [],
    status: 'not_evaluated missing_role fan_status',
  },
  {
    title: 'a proof that is not there is missing',
    rule: { gate: 'fan_on' },
    rows: { sa_t: '30x24' },
    spans: [],
    status: 'not_evaluated missing_role fan_status',
  },
  {
    title: 'a proof for which something stands in is not',
    rule: { gate: 'first(fan_on, parent(fan_status) > 0, zones(damper, max) > 0, true)' },
    rows: { sa_t: '30x24' },
    spans: ['0-'],
    status: 'fault',
  },
  {
    title: 'a proof for which something stands in here is missing where nothing does',
    rule: { gate: 'first(fan_on, true) and fan_on' },
    rows: { sa_t: '30x24' },
    spans: [],
    status: 'not_evaluated missing_role fan_status',
  },
  {
    title: 'where all that could stand in is missing, the first is',
    rule: { gate: 'first(fan_on, pump_on)' },
    rows: { sa_t: '30x24' },
    spans: [],
    status: 'not_evaluated missing_role fan_status',
  },
  {
    title: 'what stands in need not be there when the first is',
    rule: { gate: 'first(fan_on, pump_on)' },
    rows: { sa_t: '30x24', fan_status: '1x24' },
    spans: ['0-'],
    status: 'fault',
  },
  {
    title: 'of optional roles that stand in for each other one must be there',
    rule: { optional: '{ oa_t: degC, wx_oa_t: degC }', when: 'first(oa_t, wx_oa_t) < 0' },
    rows: { sa_t: '30x24' },
    spans: [],
    status: 'not_evaluated missing_role oa_t',
  },
  {
    title: 'an optional role for which a figure stands in need not be there',
    rule: { optional: '{ oa_t: degC }', when: 'first(oa_t, -5) < 0' },
    rows: { sa_t: '30x24' },
    spans: ['0-'],
    status: 'fault',
  },
  { title: 'a role without samples has no data', rule: {}, rows: { sa_t: '_x24' }, spans: [], status: 'not_evaluated no_data' },
  { title: 'samples without a value are no data', rule: {}, rows: { sa_t: '?x24' }, spans: [], status: 'not_evaluated no_data' },
  { title: 'a point that fell silent is stale', rule: {}, rows: { sa_t: '10x3 _x21' }, spans: [], status: 'not_evaluated stale' },
  {
    title: 'a value that cannot be is out of range',
    rule: {},
    rows: { sa_t: '200x24' },
    spans: [],
    status: 'not_evaluated out_of_range',
  },
  {
    title: 'a raw rule sees a value that cannot be',
    rule: { raw: 'true' },
    rows: { sa_t: '200x24' },
    spans: ['0-'],
    status: 'fault',
  },
  {
    title: 'false and missing is not evaluated',
    rule: { roles: GATED.roles, when: 'fan_status and sa_t > 20' },
    rows: { fan_status: '0x24', sa_t: '?x24' },
    spans: [],
    status: 'not_evaluated no_data',
  },
  {
    title: 'a window without history is not evaluated',
    rule: { when: 'avg(sa_t, 4h) > 20' },
    rows: { sa_t: '30x24' },
    spans: [],
    status: 'not_evaluated insufficient_history',
  },
  {
    title: 'below the minimum coverage there is no pass',
    rule: {},
    rows: { sa_t: '10x18 ?x6' },
    spans: [],
    status: 'not_evaluated no_data',
    coverage: 0.75,
  },
  {
    title: 'at the minimum coverage there is a pass',
    rule: { min_coverage: '0.75' },
    rows: { sa_t: '10x18 ?x6' },
    spans: [],
    status: 'pass',
    coverage: 0.75,
  },
  { title: 'a fault is a fault whatever the coverage', rule: {}, rows: { sa_t: '30x2 ?x22' }, spans: ['0-'], status: 'fault' },
  // ---- holding
  { title: 'a sample holds for three intervals', rule: {}, rows: { sa_t: '30 _x2 10x9' }, spans: ['0-15'] },
  {
    title: 'after three intervals nothing is known',
    rule: { persistence: '16m' },
    rows: { sa_t: '30 _x4 30x9' },
    spans: ['25-'],
  },
  // ---- gate and settling
  {
    title: 'a shut gate is not evaluated',
    rule: GATED,
    rows: { sa_t: '30x24', fan_status: '0x24' },
    spans: [],
    status: 'not_evaluated gated',
    coverage: 0,
  },
  {
    title: 'gated time does not count for coverage',
    rule: GATED,
    rows: { sa_t: '10x12 ?x12', fan_status: '1x12 0x12' },
    spans: [],
    status: 'pass',
    coverage: 1,
  },
  {
    title: 'a gate that is not known is never open',
    rule: GATED,
    rows: { sa_t: '30x24', fan_status: '?x24' },
    spans: [],
    status: 'not_evaluated no_data',
  },
  {
    title: 'after the gate opens the rule waits',
    rule: { ...GATED, settle: '20m' },
    rows: { sa_t: '30x24', fan_status: '0x6 1x18' },
    spans: ['50-'],
  },
  {
    title: 'the wait begins anew with every opening',
    rule: { ...GATED, settle: '20m', persistence: '0' },
    rows: { sa_t: '30x24', fan_status: '1x2 0 1x3 0 1x17' },
    spans: ['55-'],
  },
]

testCases(test, CASES)
