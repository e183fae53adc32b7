/**
 * What the service specification says besides its endpoints and variables: how components, recipes, states, files and limits
 * behave. Each row names the test that shows it.
 */
type Shown = { file: string; title: string }
type Statement = { section: string; text: string; shownBy: Shown }

const by = (file: string, title: string): { shownBy: Shown } => ({ shownBy: { file, title } })
const CLOSURE = by('architecture/closure', 'reaches what it is for and nothing that its image must not hold')
const SPLIT = 'e2e/split-edge'
const HISTORY = 'appliance/priority/history-service'
const CONNECTORS = 'hub/connectors/connectors'
const RETRIEVAL = 'hub/retrieval/retrieval'

export const STATEMENTS: Statement[] = [
  // Components
  {
    section: 'Components',
    text: 'central serves the API and runs the rules',
    ...by('e2e/components', 'central run once over an empty workspace exits 0'),
  },
  {
    section: 'Components',
    text: 'web proxies /api and /twins of the same origin to central',
    ...by('hub/web/web', 'API, twins and pages are forwarded to central with the caller’s cookie and host'),
  },
  {
    section: 'Components',
    text: 'fieldbus polls BACnet/IP and publishes by MQTTS',
    ...by(SPLIT, 'both ways, through kills of edge, central and hub: both hold the same, once'),
  },
  {
    section: 'Components',
    text: 'bacnet-modbus is a process of its own',
    ...by('appliance/services/split-edge', 'devices of both protocols are read on schedule'),
  },
  {
    section: 'Components',
    text: 'haystack takes a key and an endpoint, and refuses a blank endpoint',
    ...by('appliance/drivers/haystack/main', 'a blank endpoint, or one that is no HTTP address, prevents the start'),
  },
  {
    section: 'Components',
    text: 'mqtt accepts MQTTS only',
    ...by('hub/broker/broker', 'a certificate of another authority, none at all, and the broker’s own are refused'),
  },
  {
    section: 'Components',
    text: 'mcp speaks to central with a token of the operator',
    ...by('hub/mcp/mcp', 'over HTTP each caller is central to its own token, and without one nobody is let in'),
  },
  // Recipes
  {
    section: 'Recipes',
    text: 'the images of recipe 1 are linux/amd64, those of recipe 2 both',
    ...by('image/recipes', 'the images of the cloud hub are linux/amd64'),
  },
  {
    section: 'Recipes',
    text: 'ingest goes from the protocol process to central on the box without a broker',
    ...by(SPLIT, 'to the central on the box without a broker: readings, model and poll status, through kills of both'),
  },
  {
    section: 'Recipes',
    text: 'with SERVICE_MQTT_ENABLED=0 central starts without a broker',
    ...by('e2e/components', 'central and web as two processes: a browser signs in through web and sees the fleet'),
  },
  { section: 'Recipes', text: 'hub recipes start no BACnet, Modbus or Haystack process', ...CLOSURE },
  { section: 'Recipes', text: 'each split edge contains only its own protocol', ...CLOSURE },
  {
    section: 'Recipes',
    text: 'cloud recipes create no edge store and no priority scanner',
    ...by('appliance/priority/priority-history', 'while visits are switched off, nothing is read and no file is created'),
  },
  // Deployment
  {
    section: 'Deployment order',
    text: 'web resolves central at the first request, not at its start',
    ...by(
      'hub/web/web',
      'web that starts before central answers 502, logs the reason once, and forwards as soon as central runs',
    ),
  },
  {
    section: 'Deployment order',
    text: 'data of a workspace is there after a restart',
    ...by('shared/central/fdd/schedule', 'a workspace survives a restart with its model and its tokens'),
  },
  {
    section: 'Deployment order',
    text: 'nothing is ever written to equipment',
    ...by('appliance/priority/read-only', 'a visit sends only reads of listed objects to the device, whatever it answers'),
  },
  // Behaviours
  {
    section: 'Behaviours',
    text: 'runs are scheduled or asked for, over a lookback of data',
    ...by('shared/central/fdd/fdd', 'without a span a run looks back from the end of history, with every active rule'),
  },
  {
    section: 'Behaviours',
    text: 'the journal of priorities is append-only and fsynced',
    ...by(
      'appliance/priority/journal-lossy',
      'no acknowledged record is lost by power cuts on a disk where one fsync in ten fails',
    ),
  },
  {
    section: 'Behaviours',
    text: 'the journal is bounded and loses no record within its retention',
    ...by('appliance/priority/journal-kill', 'while segments are written, begun and dropped'),
  },
  {
    section: 'Behaviours',
    text: 'a torn last line is repaired at a restart',
    ...by('appliance/priority/journal-tail', 'is repaired, and the lost records are reported once'),
  },
  {
    section: 'Behaviours',
    text: 'damage elsewhere disables the history and polling goes on',
    ...by('e2e/priority', 'a damaged history stops only the visits'),
  },
  // States
  {
    section: 'States',
    text: 'the timer of rule_interval_hours starts a run',
    ...by('shared/central/fdd/schedule', 'a schedule ${what}'),
  },
  {
    section: 'States',
    text: 'a trigger starts one run at once',
    ...by('shared/central/fdd/schedule', 'a trigger is told from the schedule, and one trigger makes one run'),
  },
  {
    section: 'States',
    text: 'the trigger file is deleted before the run',
    ...by('shared/central/fdd/schedule', 'the trigger file is gone before the run begins'),
  },
  {
    section: 'States',
    text: 'rules are read afresh for each run',
    ...by(
      'shared/central/fdd/rules-kept',
      'a file that appears in the folder, and one that goes, are on every page at the next request',
    ),
  },
  {
    section: 'States',
    text: 'one run without the loop ends the process',
    ...by('e2e/components', 'central run once over an empty workspace exits 0'),
  },
  {
    section: 'States',
    text: 'the priority scheduler is off by default',
    ...by(
      'appliance/priority/priority-history',
      'visits are off by default, and hourly with a hundred points when they are switched on',
    ),
  },
  {
    section: 'States',
    text: 'it visits one device after the other, with the delay after each visit',
    ...by('appliance/flow/run-visits', 'one device is visited at a time, and an interval passes after each visit'),
  },
  {
    section: 'States',
    text: 'after a restart it goes on where it was, without catching up',
    ...by('appliance/flow/run-visits', 'a restart continues the schedule: no visit is early, and none is made up for'),
  },
  {
    section: 'States',
    text: 'a trigger makes one visit, only while the scheduler is on and none is under way',
    ...by(CONNECTORS, 'pages while 2,000 records arrive, a trigger, its visit, and the problems of the edge'),
  },
  // Connectors
  {
    section: 'Connectors',
    text: 'POST /api/connector/priority-history answers the token of the edge alone',
    ...by('appliance/priority/connector-routes', 'the token of the edge opens its routes, and nothing else does'),
  },
  {
    section: 'Connectors',
    text: 'POST /api/connectors/{edge_id}/priority-history shows the history of an edge',
    ...by(CONNECTORS, 'pages while 2,000 records arrive, a trigger, its visit, and the problems of the edge'),
  },
  {
    section: 'Connectors',
    text: 'POST /api/connectors/{edge_id}/priority-history/trigger is refused to a viewer before the edge is asked',
    ...by(CONNECTORS, 'a trigger by a viewer is refused before a packet leaves the hub, over HTTPS and over the broker'),
  },
  {
    section: 'Connectors',
    text: 'a page ends after its last record and one more that says whether it goes on',
    ...by('appliance/priority/priority-journal', 'a page filters by point, start and position, and says whether there is more'),
  },
  {
    section: 'Connectors',
    text: 'a cursor cannot address beyond the retained 100,000 records',
    ...by(HISTORY, 'a cursor beyond the retention, or of a journal that was set aside, has expired'),
  },
  {
    section: 'Connectors',
    text: 'the page of operations gives an edge kit as a ZIP',
    ...by('hub/enrol/enrol', 'a kit of the page opens the broker under the intermediate authority, until it is revoked'),
  },
  {
    section: 'Connectors',
    text: 'an edge kit never contains the key of the authority',
    ...by('provisioning/provisioning', 'a kit holds six files and no key but the edge’s own'),
  },
  // Retrieval and agents
  {
    section: 'Retrieval service',
    text: 'GET /health says whether there is an index',
    ...by(RETRIEVAL, 'health and manifest say what there is, and each tool of the manifest is a route'),
  },
  {
    section: 'Retrieval service',
    text: 'GET /manifest names the tools',
    ...by(RETRIEVAL, 'health and manifest say what there is, and each tool of the manifest is a route'),
  },
  {
    section: 'Retrieval service',
    text: 'POST /tools/search_docs finds sections of documents',
    ...by(RETRIEVAL, 'a question finds its section, which names its source and can be read whole'),
  },
  {
    section: 'Retrieval service',
    text: 'POST /tools/get_doc_section answers a section',
    ...by(RETRIEVAL, 'a question finds its section, which names its source and can be read whole'),
  },
  {
    section: 'Retrieval service',
    text: 'POST /tools/search_api_capabilities finds routes',
    ...by(RETRIEVAL, 'routes of the API and playbooks are answered with their source'),
  },
  {
    section: 'Retrieval service',
    text: 'POST /tools/get_operator_playbook answers a playbook',
    ...by(RETRIEVAL, 'routes of the API and playbooks are answered with their source'),
  },
  {
    section: 'Retrieval service',
    text: 'guarded action tools are off unless SERVICE_MCP_ENABLE_ACTION_TOOLS is true',
    ...by(RETRIEVAL, 'guarded actions answer 403 until the setting allows them'),
  },
  {
    section: 'Agent tool server',
    text: 'openfdd_csv_import_preflight and openfdd_csv_package_append are there',
    ...by('hub/mcp/mcp', 'with writes allowed a chunk is appended once it is confirmed, and needs a token that may'),
  },
  // Authentication
  {
    section: 'Authentication',
    text: 'a secret of fewer than 32 characters, or equal passwords of agent and admin, end the start',
    ...by('shared/node/auth/auth', 'settings with ${what} raise ${complaints.length} complaints'),
  },
  {
    section: 'Authentication',
    text: 'another agent password ends the tokens that were minted before',
    ...by('shared/node/auth/auth', 'a changed password ends the tokens of its user and of nobody else'),
  },
  {
    section: 'Authentication',
    text: 'secrets may be in auth.env.local with the permissions 600',
    ...by('shared/node/settings', 'secrets of auth.env.local in the workspace count after the environment'),
  },
  {
    section: 'Authentication',
    text: 'with tenants, me and select carry the tenant of the session',
    ...by(
      'hub/tenants/tenants',
      'a user enters the tenants of which an admin of the hub has made a member, and changes between them',
    ),
  },
  // Events
  {
    section: 'Events',
    text: 'after a restart of the broker central subscribes again, and everything arrives',
    ...by('hub/broker/mosquitto', 'all messages arrive across a restart, and no edge reaches topics of another'),
  },
  {
    section: 'Events',
    text: 'an edge cannot publish below another site',
    ...by('hub/broker/broker', 'an edge cannot publish or subscribe outside its own prefix, nor in the wrong direction'),
  },
  {
    section: 'Events',
    text: 'with tenants topics are built and parsed by one builder that knows them',
    ...by(
      'hub/ingest/tenants',
      'edges of two tenants and of the hub itself under one site and edge id store and are acknowledged apart',
    ),
  },
  {
    section: 'Events',
    text: 'the monitor streams what the broker and the hub exchange',
    ...by('hub/monitor/monitor-routes', 'what an edge publishes through the broker, and what the hub answers, is seen'),
  },
  {
    section: 'Events',
    text: 'the stream is resumed, and polled each second where it cannot be opened',
    ...by('hub/monitor/monitor-routes', 'the stream sends new messages, and after a lost connection those since the last one'),
  },
  // Errors
  {
    section: 'Errors',
    text: 'a results folder that a restart empties ends the start',
    ...by('e2e/components', '${main} exits 78 and says so when it ${why}'),
  },
  {
    section: 'Errors',
    text: 'applying the move of buildings into a tenant is refused over HTTPS, and its dry run is not',
    ...by('hub/tenants/migrate', 'a dry run over HTTP says what would move, and applying is refused there'),
  },
  {
    section: 'Errors',
    text: 'an invalid variable ends the start with every complaint and exit code 78',
    ...by('hub/web/web', 'invalid settings end the start with every error listed and exit code 78'),
  },
  // Limits
  {
    section: 'Limits',
    text: 'records of priorities have the sixteen slots P1 to P16',
    ...by(HISTORY, 'a page follows the contract: newest first, 16 slots, with the state of the scanner'),
  },
  {
    section: 'Limits',
    text: 'polls are paced by their configured intervals',
    ...by('appliance/flow/poll-scale', '1,000 devices of 10 points, 100 dead and 50 slow: no late cycle'),
  },
  {
    section: 'Limits',
    text: 'a query that needs more memory than it may have fails alone',
    ...by(
      'shared/central/fdd/run-control',
      'a run that needs more memory than it may have fails alone, and says how much it was',
    ),
  },
  // Versioning
  {
    section: 'Versioning',
    text: 'image tags are nightly, sha-<7 hex> and versions, by SERVICE_IMAGE_TAG',
    ...by('image/containers', 'a tag says what an image was built from, or there is none'),
  },
  {
    section: 'Versioning',
    text: 'migrations are applied in the order of their file names, once',
    ...by(
      'shared/node/store/small-stores',
      'a database is safe at every commit, made in a new folder, and opened again as it is',
    ),
  },
]
