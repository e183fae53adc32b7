/** The agent tool server as a real process, and the official client. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { COMPILED } from '#scripts/lib-start/process.ts'

type Test = { teardown(end: () => Promise<void>): void }
type Answer = { text: string; isError: boolean }
type McpClient = {
  client: Client
  /** Calls a tool. */
  call(name: string, given?: Record<string, unknown>): Promise<Answer>
}

const create = () => new Client({ name: 'test', version: '1.0.0' })

function asClient(client: Client): McpClient {
  return {
    client,
    async call(name, given = {}) {
      const { content, isError = false } = await client.callTool({ name, arguments: given })
      const [first] = content as { type: string; text: string }[]
      return { text: first!.text, isError: isError === true }
    },
  }
}

/** A client that starts `main` and uses its standard input and output. */
export async function stdioClient(t: Test, main: string, env: Record<string, string>): Promise<McpClient> {
  const client = create()
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [main],
    env: { ...COMPILED, ...env, SERVICE_LOG_LEVEL: 'error' },
  })
  await client.connect(transport)
  t.teardown(() => client.close())
  return asClient(client)
}

/** Starts `main` with the transport http. @returns its address, and a client of it for a token */
export async function httpServer(t: Test, main: string, env: Record<string, string>) {
  const own = { ...env, SERVICE_MCP_TRANSPORT: 'http', SERVICE_LOG_LEVEL: 'info' }
  const child = spawn(process.execPath, [main], {
    env: { PATH: process.env['PATH'], ...COMPILED, ...own },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  const exit = once(child, 'close')
  t.teardown(async () => {
    if (child.exitCode === null) child.kill('SIGTERM')
    await exit
  })
  const lines: string[] = []
  const listening = new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', line => {
      lines.push(line)
      if (line.includes('"mcp listens"')) resolve((JSON.parse(line) as { url: string }).url)
    })
    exit.then(() => reject(new Error(`the server ended: ${lines.join('\n')}`)))
  })
  const url = `${await listening}/mcp`
  return {
    url,
    lines,
    async connect(token?: string): Promise<McpClient> {
      const client = create()
      const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
      t.teardown(() => client.close())
      return asClient(client)
    },
  }
}

/** Signs in at central as a program does. */
export async function tokenFor(url: string, username: string, password: string): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${url}/api/auth/login`, { method: 'POST', headers, body: JSON.stringify({ username, password }) })
  return ((await answer.json()) as { token: string }).token
}
