import { ID_REGEXP } from '#shared/core/model/model.ts'
import type { VariableTable } from '#shared/core/env.ts'
import { AUTH_VARIABLES } from '#shared/node/auth/auth-settings.ts'

/** Settings of every process with central. */
export const CENTRAL_VARIABLES = {
  SERVICE_CENTRAL_BIND: { kind: 'text', default: '0.0.0.0', doc: 'address to listen on' },
  SERVICE_CENTRAL_PORT: { kind: 'integer', default: 8080, min: 1, max: 65_535, doc: 'port to listen on' },
  SERVICE_TLS_DIR: {
    kind: 'text',
    doc: 'folder with cert.pem and key.pem: pages and API are then served over HTTPS alone. Files that are replaced are used at once',
  },
  SERVICE_WORKSPACE: { kind: 'text', default: '/workspace', doc: 'folder of everything that is kept' },
  SERVICE_PARQUET_ROOT: { kind: 'text', doc: 'folder of sealed history; by default .cache/parquet in the workspace' },
  SERVICE_HISTORY_MAX_MB: {
    kind: 'integer',
    min: 16,
    max: 1_000_000_000,
    doc: 'space of sealed history; beyond it old months are thinned to 15 minutes, then dropped, MB. Half of the disk when absent',
  },
  SERVICE_HISTORY_BUILDING_MAX_MB: {
    kind: 'integer',
    min: 16,
    max: 1_000_000_000,
    doc: 'space of sealed history of one building; beyond it its own old months are thinned to 15 minutes, then dropped, MB. When absent, buildings above an equal share go first when all history is full',
  },
  SERVICE_RULE_RESULTS_DIR: {
    kind: 'text',
    doc: 'folder of a file for each run with what it found; it must outlast a restart. Without it results are in the workspace alone',
  },
  SERVICE_RULE_MAX_SECS: {
    kind: 'integer',
    default: 30,
    min: 1,
    max: 3600,
    doc: 'how long one rule may take on one equipment in one run; beyond that it fails alone, s',
  },
  SERVICE_SITE_ID: { kind: 'text', default: 'local', pattern: ID_REGEXP, doc: 'the site' },
  SERVICE_SUPERVISED: {
    kind: 'flag',
    default: false,
    doc: '1: whoever runs this process starts it again when it ends, as systemd does, so its pages may restart it',
  },
  SERVICE_LOG_LEVEL: { kind: 'choice', choices: ['debug', 'info', 'warn', 'error'], default: 'info', doc: 'how much is logged' },
  SERVICE_SIM_CLOCK: {
    kind: 'text',
    pattern: /^\d+(\.\d+)?@\d+@\d+$/,
    doc: 'a simulated clock, as speed@epoch ms@wall ms; only on loopback',
  },
  SERVICE_LOCAL_INGEST_TOKEN: {
    kind: 'text',
    secret: true,
    minLength: 32,
    pattern: /^[\x21-\x7e]+$/,
    doc: 'protocol processes on this box that know it may write readings over HTTP; at least 32 characters of ASCII, no spaces',
  },
  SERVICE_METRICS_BIND: {
    kind: 'text',
    pattern: /^[^\s:]+:\d{1,5}$/,
    doc: 'address:port at which Prometheus may ask for GET /metrics; off when absent, and open to whoever reaches it',
  },
  SERVICE_BACKUP_DIR: {
    kind: 'text',
    doc: 'folder in which scheduled backups are stored, best on another disk; no backups are scheduled without it',
  },
  SERVICE_BACKUP_PASSPHRASE: {
    kind: 'text',
    secret: true,
    minLength: 12,
    doc: 'encrypts scheduled backups, at least 12 characters; without it they cannot be restored',
  },
  SERVICE_BACKUP_HOURS: { kind: 'integer', default: 24, min: 1, max: 744, doc: 'time between scheduled backups, h' },
  SERVICE_BACKUP_KEEP: { kind: 'integer', default: 7, min: 1, max: 1000, doc: 'how many scheduled backups stay' },
  SERVICE_SMTP_URL: {
    kind: 'text',
    secret: true,
    pattern: /^smtps?:\/\/[^\s/@]+(@[^\s/@]+)?\/?$/,
    doc: 'mail server of alerts, as smtp://user:password@host:587; no alerts are mailed without it',
  },
  SERVICE_SMTP_FROM: { kind: 'text', pattern: /^[^\s@<>,;]+@[^\s@<>,;]+$/, doc: 'sender of mailed alerts' },
  SERVICE_SQL_ANOMALY_SCREENING: {
    kind: 'flag',
    default: false,
    doc: '1: hours of measured points are compared with the same hours of past weeks when somebody asks',
  },
  ...AUTH_VARIABLES,
} as const satisfies VariableTable
