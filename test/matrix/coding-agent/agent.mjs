// Runs a coding agent that speaks nothing but Responses, without a terminal, in a folder of its own.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';

const manifestPath = join(import.meta.dirname, 'node_modules', '@openai', 'codex', 'package.json');
const { bin, optionalDependencies, version } = createRequire(import.meta.url)(manifestPath);
export const program = join(manifestPath, '..', Object.values(bin)[0]);

/** null: there is no binary of the agent for this platform. */
export const agentVersion = Object.keys(optionalDependencies).some((name) =>
  name.endsWith(`-${process.platform}-${process.arch}`),
)
  ? version
  : null;

/** An agent that hangs is stopped before its check gives up. */
const limitMs = 55_000;
const keyVariable = 'CODEX_API_KEY';

/**
 * An agent with a configuration and a folder to work in.
 * @param isMoved   true: the agent's own provider, moved to the gateway; false: a provider of the user's own
 * @param isSocket  true: its provider is said to speak over a WebSocket; its own one always does
 * @param settings  further lines of the configuration
 * @returns `run(prompt)`, which starts a conversation or, the second time, goes on with it; `read(file)`; `remove()`
 */
export function startAgent({ baseURL, apiKey, model, files, isMoved = false, isSocket = false, settings = {} }) {
  const folder = mkdtempSync(join(tmpdir(), 'model-gateway-agent-'));
  const [home, work] = ['home', 'work'].map((name) => join(folder, name));
  for (const path of [home, work]) mkdirSync(path);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(work, name), text);
  writeFileSync(
    join(home, 'config.toml'),
    isMoved ? moved({ baseURL, model, settings }) : own({ baseURL, model, isSocket, settings }),
  );
  let hasBegun = false;
  return {
    async run(prompt) {
      const args = ['exec', '--dangerously-bypass-approvals-and-sandbox', '--skip-git-repo-check', '--json'];
      const turn = hasBegun ? ['resume', '--last', prompt] : [prompt];
      hasBegun = true;
      const env = { PATH: process.env.PATH, HOME: home, CODEX_HOME: home, [keyVariable]: apiKey };
      return outcomeOf(await start([...args, ...turn], { cwd: work, env }));
    },
    read: (name) => readFileSync(join(work, name), 'utf8'),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Of TOML, whose texts and numbers are written as in JSON. */
const lines = (values) => Object.entries(values).map(([name, value]) => `${name} = ${JSON.stringify(value)}\n`);
/** Nothing is told to anybody, or asked of anybody, but the gateway. */
const silent = '[analytics]\nenabled = false\n';

function moved({ baseURL, model, settings }) {
  const values = { model, openai_base_url: baseURL, check_for_update_on_startup: false, ...settings };
  return [...lines(values), silent].join('');
}

function own({ baseURL, model, isSocket, settings }) {
  const provider = {
    name: 'Gateway',
    base_url: baseURL,
    wire_api: 'responses',
    env_key: keyVariable,
    supports_websockets: isSocket,
  };
  const values = { model, model_provider: 'gateway', check_for_update_on_startup: false, ...settings };
  return [...lines(values), '[model_providers.gateway]\n', ...lines(provider), silent].join('');
}

/**
 * @returns the exit code; `last`: the agent's last message, or null; `problems`: what it told of errors, retries among
 *   them; `transcript`: all it wrote
 */
function outcomeOf({ code, transcript }) {
  const events = transcript
    .split('\n')
    .filter((line) => line.startsWith('{"'))
    .map((line) => JSON.parse(line));
  const messages = events.filter(({ type, item }) => type === 'item.completed' && item.type === 'agent_message');
  const problems = events.filter(({ type }) => type === 'error').map(({ message }) => message);
  return { code, last: messages.at(-1)?.item.text ?? null, problems, transcript };
}

function start(args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...args], {
      ...options,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: limitMs,
    });
    let transcript = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        transcript += text;
      });
    }
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, transcript }));
  });
}
