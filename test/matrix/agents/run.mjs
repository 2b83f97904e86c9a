// Coding agents that speak chat completions, each as docs/coding-agents.md says, unmodified behind the packed gateway.
// They are too large for every run: this part runs only where it is named.
import { join } from 'node:path';
import { finish, runChecks } from '../clients/check.mjs';
import { startAll } from '../upstreams/gateway.mjs';
import { checkTask } from './checks.mjs';
import { createTask, isThought } from './task.mjs';

/** An agent takes a few seconds, on a busy machine a minute. */
const limitMs = 180_000;
const bin = join(import.meta.dirname, 'node_modules/.bin');

/** What keeps the agents from calling anybody but the gateway; `forgets`: it sends no thoughts of the model back. */
const agents = {
  opencode: { env: { OPENCODE_DISABLE_MODELS_FETCH: '1', OPENCODE_DISABLE_LSP_DOWNLOAD: '1' } },
  'Qwen Code': { env: { QWEN_TELEMETRY_ENABLED: 'false' } },
  Cline: { env: { CLINE_TELEMETRY_DISABLED: '1', CLINE_NO_AUTO_UPDATE: '1' } },
  Continue: { env: { CONTINUE_TELEMETRY_ENABLED: '0' }, forgets: true },
  pi: { env: { PI_OFFLINE: '1', PI_SKIP_VERSION_CHECK: '1' } },
};

for (const [title, agent] of Object.entries(agents)) {
  const task = createTask();
  const all = await startAll({ answerTo: task.answerTo, isThought });
  const check = () => checkTask({ all, task, name: 'chat', agent: { title, bin, ...agent } });
  await runChecks(title, { 'reads, edits, runs and answers': check }, undefined, limitMs);
  await all.close();
  task.remove();
}
finish('agents');
