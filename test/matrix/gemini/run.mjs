// Clients that are made for Google's generateContent, unmodified behind the packed gateway, over an upstream of each
// wire: Google's own library, the AI SDK, and a coding agent.
import { createTask, isThought as isThoughtOfTask } from '../agents/task.mjs';
import { finish, runChecks } from '../clients/check.mjs';
import { startAll } from '../upstreams/gateway.mjs';
import { answerTo, isThought } from '../upstreams/weather.mjs';
import { agentChecks, spentCheck } from './agent.mjs';
import { aiSdkChecks } from './ai-sdk.mjs';
import { sdkChecks, serviceChecks, spentChecks, wanderingCheck } from './sdk.mjs';

/** An agent takes a few seconds, on a busy machine a minute. */
const agentLimitMs = 180_000;

const { root, spentKey, failures, upstreams, close } = await startAll({ answerTo, isThought });
const places = {
  'the root': { baseUrl: root },
  'the root, with v1beta': { baseUrl: root, apiVersion: 'v1beta' },
  'the mount': { baseUrl: `${root}/v1` },
};
for (const [place, httpOptions] of Object.entries(places))
  await runChecks(`@google/genai at ${place}`, serviceChecks(httpOptions));
await runChecks('@google/genai', {
  ...wanderingCheck({ root, upstreams }),
  ...spentChecks({ root, apiKey: spentKey, failures }),
});
for (const [client, checksOf] of Object.entries({ '@google/genai': sdkChecks, '@ai-sdk/google': aiSdkChecks }))
  for (const [dialect, upstream] of Object.entries(upstreams))
    await runChecks(`${client} over ${dialect}`, checksOf({ root, upstream, dialect }), () => upstream.begin());
await close();

const task = createTask();
const all = await startAll({ answerTo: task.answerTo, isThought: isThoughtOfTask });
for (const name of Object.keys(all.upstreams))
  await runChecks(`@google/gemini-cli over ${name}`, agentChecks({ all, task, name }), undefined, agentLimitMs);
await runChecks('@google/gemini-cli', spentCheck({ all, task }), undefined, agentLimitMs);
await all.close();
task.remove();
finish('gemini');
