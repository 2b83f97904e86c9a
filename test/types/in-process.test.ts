import { describe, expectTypeOf, it } from 'vitest';
import type {
  ChatChunk,
  ChatResult,
  CompletionStream,
  Gateway,
  InProcessApi,
  NewApiKey,
  ResponsesEvent,
  ResponsesResult,
  StoredApiKey,
} from '../../src/index.ts';
import type { Explanation } from '../../src/schema/chat/explanation.ts';
import type { ShownModel } from '../../src/schema/models/model.ts';
import type { ApiKey, CurrentApiKey } from '../../src/schema/tenants/api-key.ts';
import type { Budget } from '../../src/schema/tenants/budget.ts';
import type { ShownCredential } from '../../src/schema/tenants/credential.ts';
import type { Workspace } from '../../src/schema/tenants/workspace.ts';

type Of<G extends keyof InProcessApi, N extends keyof InProcessApi[G]> = InProcessApi[G][N] extends (
  ...given: infer Given
) => Promise<infer Result>
  ? { given: Given; result: Result }
  : never;

// Checked by the compiler in `npm run check`; at run time these tests only say that they were there.
describe('the types of the functions in process', () => {
  it('name every group and function', () => {
    expectTypeOf<keyof InProcessApi>().toEqualTypeOf<
      | 'workspaces'
      | 'budgets'
      | 'credentials'
      | 'guardrails'
      | 'images'
      | 'apiKeys'
      | 'models'
      | 'providers'
      | 'generations'
      | 'audit'
      | 'responses'
      | 'conversations'
      | 'embeddings'
      | 'rerank'
      | 'moderations'
      | 'decisions'
    >();
    expectTypeOf<keyof InProcessApi['workspaces']>().toEqualTypeOf<
      'create' | 'list' | 'get' | 'update' | 'put' | 'delete'
    >();
    expectTypeOf<keyof InProcessApi['budgets']>().toEqualTypeOf<'list' | 'get' | 'put' | 'delete'>();
    expectTypeOf<keyof InProcessApi['apiKeys']>().toEqualTypeOf<
      'create' | 'list' | 'get' | 'update' | 'delete' | 'current'
    >();
    expectTypeOf<keyof InProcessApi['models']>().toEqualTypeOf<
      'list' | 'listUser' | 'count' | 'get' | 'listEndpoints' | 'listAllEndpoints' | 'listZdrEndpoints' | 'retrieve'
    >();
    expectTypeOf<keyof Gateway>().toEqualTypeOf<
      | keyof InProcessApi
      | 'fetch'
      | 'handle'
      | 'upgrade'
      | 'basePath'
      | 'as'
      | 'audio'
      | 'completions'
      | 'catalog'
      | 'explain'
      | 'ready'
      | 'flush'
      | 'state'
      | 'close'
      | 'chat'
      | 'responses'
      | 'clientOptions'
      | 'languageModel'
    >();
  });
  it('are those of the responses', () => {
    expectTypeOf<Of<'workspaces', 'create'>['result']>().toEqualTypeOf<{ data: Workspace }>();
    expectTypeOf<Of<'workspaces', 'list'>['result']>().toEqualTypeOf<{ data: Workspace[]; total_count: number }>();
    expectTypeOf<Of<'budgets', 'put'>['result']>().toEqualTypeOf<{ data: Budget }>();
    expectTypeOf<Of<'credentials', 'get'>['result']>().toEqualTypeOf<{ data: ShownCredential }>();
    expectTypeOf<Of<'apiKeys', 'create'>['result']>().toEqualTypeOf<{ data: ApiKey; key: string }>();
    expectTypeOf<Of<'apiKeys', 'current'>['result']>().toEqualTypeOf<{ data: CurrentApiKey }>();
    expectTypeOf<Of<'models', 'list'>['result']>().toEqualTypeOf<{ object: 'list'; data: ShownModel[] }>();
    expectTypeOf<Of<'models', 'count'>['result']>().toEqualTypeOf<{ data: { count: number } }>();
    expectTypeOf<Of<'workspaces', 'delete'>['result']>().toEqualTypeOf<{ deleted: true }>();
    expectTypeOf<Gateway['explain']>().returns.resolves.toEqualTypeOf<Explanation>();
  });
  it('hold the parameters of the path and the fields of the body or the query', () => {
    expectTypeOf<Of<'workspaces', 'get'>['given']>().toEqualTypeOf<[given: { id: string }]>();
    const calls = (gateway: Gateway) => [
      gateway.workspaces.list(),
      gateway.workspaces.list({ limit: 10 }),
      gateway.workspaces.create({ name: 'A', slug: 'a' }),
      gateway.workspaces.update({ id: 'a', description: null }),
      gateway.budgets.put({ id: 'a', interval: 'daily', limit_usd: 1 }),
      gateway.apiKeys.list({ include_disabled: true }),
      gateway.models.list({ zdr: true, context: 1000, sort: 'newest' }),
      gateway.as({ permissions: ['inference'] }).models.list(),
      // @ts-expect-error a path needs its parameter
      gateway.workspaces.get(),
      // @ts-expect-error a path needs its parameter
      gateway.budgets.get({ id: 'a' }),
      // @ts-expect-error a body needs its fields
      gateway.workspaces.create({ name: 'A' }),
      // @ts-expect-error a body has no other fields
      gateway.workspaces.update({ id: 'a', title: 'A' }),
      // @ts-expect-error there is no such interval
      gateway.budgets.get({ id: 'a', interval: 'hourly' }),
      // @ts-expect-error there is no such order
      gateway.models.list({ sort: 'best' }),
      // @ts-expect-error a caller names its workspace by workspaceId
      gateway.as({ permissions: ['management'], workspace: 'a' }),
    ];
    expectTypeOf(calls).parameters.toEqualTypeOf<[Gateway]>();
  });
  it('of completions are those of the wire, by `stream`', () => {
    const messages = [{ role: 'user' as const, content: 'Hi' }];
    const complete = (gateway: Gateway) => gateway.chat.completions.create({ model: 'a/b', messages });
    expectTypeOf(complete).returns.resolves.toEqualTypeOf<ChatResult>();
    const streamed = (gateway: Gateway, signal: AbortSignal) =>
      gateway.as({ permissions: ['inference'] }).chat.completions.create({ messages, stream: true }, { signal });
    expectTypeOf(streamed).returns.resolves.toEqualTypeOf<CompletionStream<ChatChunk>>();
    const either = (gateway: Gateway, stream: boolean) => gateway.chat.completions.create({ messages, stream });
    expectTypeOf(either).returns.resolves.toEqualTypeOf<ChatResult | CompletionStream<ChatChunk>>();
    const response = (gateway: Gateway) => gateway.responses.create({ input: 'Hi', models: ['a/b'] });
    expectTypeOf(response).returns.resolves.toEqualTypeOf<ResponsesResult>();
    const events = (gateway: Gateway) => gateway.responses.create({ input: 'Hi', stream: true });
    expectTypeOf(events).returns.resolves.toEqualTypeOf<CompletionStream<ResponsesEvent>>();
    const wrong = (gateway: Gateway) => [
      // @ts-expect-error a request has messages
      gateway.chat.completions.create({ model: 'a/b' }),
      // @ts-expect-error there is no such role
      gateway.chat.completions.create({ messages: [{ role: 'robot', content: '' }] }),
      // @ts-expect-error there is no such option
      gateway.chat.completions.create({ messages }, { timeout: 5 }),
    ];
    expectTypeOf(wrong).parameters.toEqualTypeOf<[Gateway]>();
  });
  it('keep what the host app has for its keys', () => {
    const made = (gateway: Gateway, given: NewApiKey) => gateway.apiKeys.create(given);
    expectTypeOf(made).returns.resolves.toEqualTypeOf<{ key: string; record: StoredApiKey }>();
    const byFields = (gateway: Gateway) => gateway.apiKeys.create({ name: 'A', limit: 5 });
    expectTypeOf(byFields).returns.resolves.toEqualTypeOf<{ data: ApiKey; key: string }>();
    const deleted = (gateway: Gateway) => gateway.apiKeys.delete('hash');
    expectTypeOf(deleted).returns.resolves.toEqualTypeOf<boolean>();
    const deletedBy = (gateway: Gateway) => gateway.apiKeys.delete({ hash: 'hash' });
    expectTypeOf(deletedBy).returns.resolves.toEqualTypeOf<{ deleted: true }>();
    expectTypeOf<Gateway['credentials']>().toHaveProperty('rotate');
  });
});
