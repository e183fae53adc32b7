/** What the service specification says of single requests and records, each tried by itself in `conditions.test.ts`. */
export const CONDITIONS = [
  // Authentication
  'the logins admin, agent and viewer have the roles admin, operator and viewer',
  'ttl_secs is 3600 when absent, and clamped to 60 and 86400',
  'an agent token has the subject agent and the role operator, and only an admin mints it',
  'agent_login_configured is false without a password of the agent',
  'with one tenant a selection changes nothing',
  'there is no limit of requests besides that of wrong passwords and tokens',
  // Errors
  'the mapping without /import is 404',
  'an append as a ZIP is refused',
  'an append without confirm is refused',
  'a package that fails validation is rejected with agent_hints',
  'an empty mapping is a failure',
  'a viewer triggers no visit',
  // Quantities
  'a quantity has the required fields and no others',
  'property, quantity_kind, value_basis and review_status take the words of the specification',
  'a quantity without review_status is NeedsReview, and its review goes through NeedsReview',
  // Resources
  'equipment may carry roles such as zone_t',
  'the FDD run takes building_id and rule_ids, and says how many rules succeeded',
  'a series has the full span of the history',
  'SERVICE_PARQUET_ROOT is .cache/parquet in the workspace',
  // Versioning
  'the version is <major>.<minor>.<patch>+<12 hexadecimal digits>',
  'pages show the version with a short revision',
  'a manifest of svc_package_v1 is accepted, another schema is not',
] as const
