// Real clients against the packed gateway: what their users look at.
import { agentsChecks } from './agents.mjs';
import { agentsResponsesOver } from './agents-responses.mjs';
import { aiSdkChecks } from './ai-sdk.mjs';
import { aiSdkResponsesOver } from './ai-sdk-responses.mjs';
import { finish, runChecks } from './check.mjs';
import { agents, agentsResponses, aiSdk, aiSdkResponses, openai, openaiInProcess } from './connect.mjs';
import { dialects, startDialects } from './dialects.mjs';
import { inProcessChecks } from './in-process.mjs';
import { langchainChecks } from './langchain.mjs';
import { languageModelChecks } from './language-model.mjs';
import { openaiChecks } from './openai.mjs';
import { openaiResponsesChecks, openaiResponsesOver } from './openai-responses.mjs';
import { startMock } from './scenarios.mjs';
import { startService } from './service.mjs';
import { snippetChecks } from './snippets.mjs';
import { taskChecks } from './tasks.mjs';

const mock = await startMock();
const { sent, providers, models, stop } = await startDialects();
const service = await startService({ mockUrl: `${mock.url}/v1`, providers, models });
const inProcess = { ...service, baseURL: 'http://in-process/v1', fetch: service.gateway.fetch };

await runChecks('openai', openaiChecks(service, openai(service)), service.begin);
await runChecks('openai in-process', openaiChecks(service, openaiInProcess(service)), service.begin);
await runChecks('ai', aiSdkChecks(service, aiSdk(service)), service.begin);
await runChecks('ai in-process', aiSdkChecks(inProcess, aiSdk(inProcess)), service.begin);
await runChecks('clientOptions', inProcessChecks(service), service.begin);
await runChecks('languageModel', languageModelChecks(service), service.begin);
await runChecks('agents', agentsChecks(service, agents(service)), service.begin);
await runChecks('langchain', langchainChecks(service), service.begin);

await runChecks('tasks', taskChecks(service), service.begin);

await runChecks('openai responses', openaiResponsesChecks(service, openai(service)), service.begin);
for (const dialect of Object.keys(dialects)) {
  const ask = { service, sent };
  for (const [client, checks] of [
    ['openai', openaiResponsesOver(dialect, { ...ask, client: openai(service) })],
    ['agents', agentsResponsesOver(dialect, { ...ask, runner: agentsResponses(service) })],
    ['ai', aiSdkResponsesOver(dialect, { ...ask, provider: aiSdkResponses(service) })],
    ['languageModel', aiSdkResponsesOver(dialect, { ...ask, provider: (slug) => service.gateway.languageModel(slug) })],
  ])
    await runChecks(`${client} responses over ${dialect}`, checks, service.begin);
}
await runChecks('docs/clients.md', snippetChecks());

await service.close();
await mock.stop();
await stop();
finish('clients');
