// Clients that are made for Anthropic's messages, unmodified behind the packed gateway, over an upstream of each wire:
// Anthropic's own library, the AI SDK, LangChain, and a coding agent.
import process from 'node:process';
import { createTask, isThought as isThoughtOfTask } from '../agents/task.mjs';
import { finish, runChecks } from '../clients/check.mjs';
import { startAll } from '../upstreams/gateway.mjs';
import { answerTo, isThought } from '../upstreams/weather.mjs';
import { agentChecks, hasAgent } from './agent.mjs';
import { aiSdkChecks } from './ai-sdk.mjs';
import { langchainChecks } from './langchain.mjs';
import { sdkChecks, serviceChecks, wanderingCheck } from './sdk.mjs';

/** An agent takes a few seconds, on a busy machine a minute. */
const agentLimitMs = 180_000;

const { root, upstreams, close } = await startAll({ answerTo, isThought });
const clients = {
  '@anthropic-ai/sdk': sdkChecks,
  '@ai-sdk/anthropic': aiSdkChecks,
  '@langchain/anthropic': langchainChecks,
};
await runChecks('@anthropic-ai/sdk', { ...serviceChecks({ root }), ...wanderingCheck({ root, upstreams }) });
for (const [client, checksOf] of Object.entries(clients))
  for (const [dialect, upstream] of Object.entries(upstreams))
    await runChecks(`${client} over ${dialect}`, checksOf({ root, upstream, dialect }), () => upstream.begin());
await close();

if (hasAgent) {
  const task = createTask();
  const script = { answerTo: task.answerTo, isThought: isThoughtOfTask };
  const all = await startAll(script);
  const impatient = await startAll(script, { retry: { maxAttempts: 1 } });
  task.begin();
  for (const name of Object.keys(all.upstreams))
    await runChecks(
      `@anthropic-ai/claude-code over ${name}`,
      agentChecks({ all, impatient, task, name }),
      undefined,
      agentLimitMs,
    );
  await all.close();
  await impatient.close();
  task.remove();
} else process.stdout.write(`SKIPPED: the agent has no binary for ${process.platform}-${process.arch}\n`);
finish('messages');
