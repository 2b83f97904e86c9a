// Real clients against the packed gateway: what their users look at.
import { agentsChecks } from './agents.mjs';
import { aiSdkChecks } from './ai-sdk.mjs';
import { finish, runChecks } from './check.mjs';
import { agents, aiSdk, openai, openaiInProcess } from './connect.mjs';
import { langchainChecks } from './langchain.mjs';
import { openaiChecks } from './openai.mjs';
import { startMock } from './scenarios.mjs';
import { startService } from './service.mjs';
import { snippetChecks } from './snippets.mjs';

const mock = await startMock();
const service = await startService({ mockUrl: `${mock.url}/v1` });
const inProcess = { ...service, baseURL: 'http://in-process/v1', fetch: service.gateway.fetch };

await runChecks('openai', openaiChecks(service, openai(service)), service.begin);
await runChecks('openai in-process', openaiChecks(service, openaiInProcess(service)), service.begin);
await runChecks('ai', aiSdkChecks(service, aiSdk(service)), service.begin);
await runChecks('ai in-process', aiSdkChecks(inProcess, aiSdk(inProcess)), service.begin);
await runChecks('agents', agentsChecks(service, agents(service)), service.begin);
await runChecks('langchain', langchainChecks(service), service.begin);
await runChecks('docs/clients.md', snippetChecks());

await service.close();
await mock.stop();
finish('clients');
