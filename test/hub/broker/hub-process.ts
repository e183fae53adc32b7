/** A hub's ingest that runs until it is killed. */
import { startHub } from '../../support/sites/transport-site.ts'

const [certs, workspace, port] = process.argv.slice(2)
await startHub(certs!, workspace!, Number(port))
