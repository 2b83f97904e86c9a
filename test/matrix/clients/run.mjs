// Real clients against the packed gateway: what their users look at.
import { agentsChecks, agentsRunner } from './agents.mjs';
import { aiSdk, aiSdkChecks } from './ai-sdk.mjs';
import { finish, runChecks } from './check.mjs';
import { langchainChecks } from './langchain.mjs';
import { inProcess, openaiChecks, overHttp } from './openai.mjs';
import { startMock } from './scenarios.mjs';
import { startService } from './service.mjs';

const mock = await startMock();
const service = await startService({ mockUrl: `${mock.url}/v1` });

await runChecks('openai', openaiChecks(service, overHttp(service)), service.begin);
await runChecks('openai in-process', openaiChecks(service, inProcess(service)), service.begin);
await runChecks('ai', aiSdkChecks(service, aiSdk(service)), service.begin);
await runChecks('agents', agentsChecks(service, agentsRunner(service)), service.begin);
await runChecks('langchain', langchainChecks(service), service.begin);

await service.close();
await mock.stop();
finish('clients');
