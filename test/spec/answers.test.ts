/** What the API answers is what its OpenAPI document states, without a field more: on a hub and on an appliance. */
import test from 'ava'
import { type Asked, openAsking, statedIn } from './answers/asking.ts'
import { boxAnswers, connectorAnswers } from './answers/box-answers.ts'
import { enrolmentAnswers, fleetAnswers } from './answers/hub-answers.ts'
import { importAnswers } from './answers/import-answers.ts'
import { peopleAnswers, processAnswers, restoreAnswers } from './answers/people-answers.ts'
import { ruleAnswers } from './answers/rule-answers.ts'
import { siteAnswers } from './answers/site-answers.ts'
import { openSpecHub, startSpecAppliance } from './spec-site.ts'

const asked: Asked = new Set()

test.serial('the answers of what clients ask most are as the OpenAPI document states them', async t => siteAnswers(t, asked))

test.serial('the answers about rules, parameters, baselines and prices are as stated', async t => ruleAnswers(t, asked))

test.serial('the answers of imports, of the model as a whole and of analytics are as stated', async t => {
  const { url } = await openSpecHub(t)
  const { ask } = await openAsking(t, url, asked)
  await importAnswers(t, ask)
})

test.serial('the answers about boxes that wait for a certificate are as stated', async t => enrolmentAnswers(t, asked))

test.serial('the answers about messages, overrides, updates and edges that are gone are as stated', async t =>
  fleetAnswers(t, asked),
)

test.serial('the answers about logins, users and tenants are as stated', async t => peopleAnswers(t, asked))

test.serial('the answers about tokens and the process are as stated', async t => processAnswers(t, asked))

test.serial('the answers about anomalies and a backup that is restored are as stated', async t => restoreAnswers(t, asked))

test.serial('the answers of an appliance about its devices, network, updates and hub are as stated', async t =>
  boxAnswers(t, asked),
)

test.serial('the answers of an appliance to its hub are as stated', async t => connectorAnswers(t, asked))

test.serial('a problem is as stated, with each place that is wrong and hints to an agent', async t => {
  const { url } = await openSpecHub(t)
  const { beRefused } = await openAsking(t, url, asked)
  const building = { building_id: 'b1', name: 'One', timezone: 'Nowhere', unit_system: 'si' }
  t.is((await beRefused('POST', '/api/model/buildings', { buildings: [building] })).errors.length, 1)
  t.truthy((await beRefused('GET', '/api/csv/import/package/mapping?building_id=nothing')).agent_hints)
  await beRefused('GET', '/api/fdd/findings/nothing')
})

const PRODUCTS = { hub: openSpecHub, appliance: startSpecAppliance }
for (const [product, open] of Object.entries(PRODUCTS)) {
  test.serial(`every operation of the ${product} that answers with JSON states its answer, and is asked here`, async t => {
    const { url } = await open(t)
    const { paths } = await openAsking(t, url, asked)
    const { json, unstated } = statedIn(paths)
    t.true(json.length > 100)
    t.deepEqual(unstated, [])
    t.deepEqual(
      json.filter(name => !asked.has(name)),
      [],
    )
  })
}
