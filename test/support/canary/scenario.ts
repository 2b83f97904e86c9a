import { inspect } from 'node:util';
import { createGateway, type Gateway } from '../../../src/gateway.ts';
import { operations } from '../../../src/operations/index.ts';
import type { GatewayOptions } from '../../../src/options.ts';
import type { StoreOption } from '../../../src/setup/stores.ts';
import type { Transport, TransportRequest, TransportResponse } from '../../../src/transport/transport.ts';
import { nativeMessage, nativeResponse } from '../ask-responses.ts';
import { completion, type Piece, partsOf } from '../upstream.ts';
import { escapedJson, nativePlaces, places, placesAt, spellings } from './places.ts';

/** In every secret of the scenario, away from the characters a label shows. */
export const mark = 'Canary5e1f7a9c3b';

/** With what URLs, JSON and base64 spell otherwise. */
const secret = (name: string) => `sk-${name}-${mark}+/="\\~&<${mark}-end`;
const secrets = {
  north: secret('north'),
  south: secret('south'),
  west: secret('west'),
  groq: secret('groq'),
  inference: secret('inference').replaceAll('"', "'"),
  management: secret('management').replaceAll('"', "'"),
  own: secret('own'),
  replaced: secret('replaced'),
  account: JSON.stringify({ type: 'service_account', private_key: `-----BEGIN-----\n${mark}\n-----END-----` }),
  master: `master-one-${mark}-0123456789-0123456789`,
  nextMaster: `master-two-${mark}-0123456789-0123456789`,
};

/** Everything that anybody was told, and where. */
export interface Told {
  where: string;
  text: string;
}

export interface Heard {
  told: Told[];
  /** Secrets that were made on the way: shown once, to whoever asked for them. */
  made: string[];
  /** The operations that have succeeded at least once. */
  succeeded: Set<string>;
}

/** Says what it was sent, in the spelling and at the place that the first message names; fails as networks do. */
function echoTransport(heard: Heard): Transport & { sentKeys: Set<string> } {
  const sentKeys = new Set<string>();
  return {
    sentKeys,
    async send(request: TransportRequest): Promise<TransportResponse> {
      const text = typeof request.body === 'string' ? request.body : new TextDecoder().decode(request.body);
      const body = text.startsWith('--') ? { form: text } : JSON.parse(text);
      const key = (request.headers.authorization ?? '').replace('Bearer ', '');
      sentKeys.add(key);
      // It is for the header alone.
      heard.told.push({ where: 'a body sent upstream', text: JSON.stringify(body) });
      const ofTask = taskAnswer(request.url, key);
      const [spelling = '', place = ''] =
        ofTask !== null ? [] : textOf((body.messages ?? body.input)[0].content).split(' at ');
      if (spelling === 'throw') throw new TypeError(`Headers.append: "Bearer ${key}" is an invalid header value`);
      if (spelling === 'reset') throw Object.assign(new Error(`connect ECONNRESET ${key}`), { code: 'ECONNRESET' });
      const isNative = request.url.endsWith('/responses');
      const spell = spellings[spelling];
      const answer =
        spell && placesAt(request.url)[place]?.(spell(key), place === 'answer' ? escapedJson : JSON.stringify);
      const { headers, pieces } = partsOf({
        body: answer?.body ?? ofTask ?? (isNative ? nativeResponse([nativeMessage('Hello')]) : completion()),
        ...(answer?.headers ? { headers: answer.headers } : {}),
      });
      if (answer && !answer.body[0]?.toString().startsWith('data:')) headers['content-type'] = 'application/json';
      const rest = [...pieces] as Piece[];
      return {
        status: answer?.status ?? 200,
        headers,
        body: {
          async read() {
            const piece = rest.shift();
            if (piece === undefined) return null;
            if (typeof piece !== 'string')
              throw Object.assign(new Error(`read ECONNRESET ${key}`), { code: 'ECONNRESET' });
            return new TextEncoder().encode(piece);
          },
          cancel: () => undefined,
        },
      };
    },
  };
}

/** A response to another task than chat, which repeats the key where it can; null: it is chat. */
function taskAnswer(url: string, key: string): object | null {
  if (url.endsWith('/embeddings'))
    return { data: [{ object: 'embedding', index: 0, embedding: [1, 0] }], usage: { prompt_tokens: 1 } };
  if (/\/images\/(?:generations|edits)$/.test(url))
    return { created: 1, data: [{ b64_json: 'eA==', revised_prompt: key }], size: key };
  if (url.endsWith('/rerank')) return { results: [{ index: 0, relevance_score: 1 }], usage: { total_tokens: 2 } };
  if (url.endsWith('/decisions'))
    return { answers: [{ type: 'predicate', probability: 1, note: key }], usage: { input_tokens: 1 } };
  if (url.endsWith('/audio/speech')) return { audio: 'AAAA', note: key };
  if (url.includes('/audio/')) return { text: `said ${key}`, note: key };
  if (!url.endsWith('/moderations')) return null;
  return { id: key, results: [{ flagged: false, categories: { [key]: false }, note: key }] };
}

/** Of a message: a text, or parts of it. */
function textOf(content: string | { text: string }[]): string {
  return typeof content === 'string' ? content : content.map(({ text }) => text).join('');
}

/** A request and its response. */
export interface Exchange {
  /** Name of the operation; the path for what is none. */
  operation: string;
  sent: unknown;
  status: number;
  contentType: string;
  text: string;
}

/**
 * Exercises every operation, and everything that may go wrong with one, on a store. Secrets are in all places for them.
 */
export async function exerciseAll(store: StoreOption, onExchange?: (exchange: Exchange) => void): Promise<Heard> {
  const heard: Heard = { told: [], made: [], succeeded: new Set() };
  const tell = (where: string, what: unknown) =>
    // All of it: also what an error holds, and why.
    void heard.told.push({
      where,
      text: inspect(what, { depth: 20, showHidden: true, maxStringLength: null, breakLength: 1e9 }),
    });
  const log = (level: string) => (fields: object, message: string) => {
    tell(`log, ${level}`, [fields, message]);
    tell(
      `log, ${level}, as JSON`,
      JSON.stringify([fields, message, fields && 'error' in fields ? plainError(fields.error) : null]),
    );
  };
  const logger = {
    ...Object.fromEntries(['trace', 'debug', 'fatal'].map((level) => [level, log(level)])),
    info: log('info'),
    warn: log('warn'),
    error: log('error'),
  };
  const transport = echoTransport(heard);
  const open = (options: Partial<GatewayOptions> = {}) =>
    createGateway({
      store,
      logger,
      transport,
      onRecord: (record) => tell('record', record),
      apiKeys: [{ key: secrets.inference }, { key: secrets.management, permissions: ['management'] }],
      providers: {
        north: { baseUrl: 'https://north.test/v1', apiKey: secrets.north },
        south: { baseUrl: 'https://south.test/v1', apiKey: secrets.south },
        west: { baseUrl: 'https://west.test/v1', apiKey: secrets.west, dialect: 'openai-responses' },
        groq: { apiKey: secrets.groq },
      },
      models: [
        ...[
          'embeddings',
          'rerank',
          'moderations',
          'decisions',
          'images',
          'speech',
          'transcriptions',
          'translations',
        ].map((task) => ({
          slug: `canary/${task}`,
          endpoints: [
            {
              provider: 'north',
              model: 'whisper',
              tasks: [task as 'embeddings'],
              pricing: { prompt: '0.000001', imageOutput: '0.000001', character: '0', second: '0' },
            },
          ],
        })),
        {
          slug: 'canary/two',
          endpoints: ['north', 'south'].map((provider) => ({
            provider,
            model: 'm',
            pricing: { prompt: '0', completion: '0.000001' },
          })),
        },
        {
          slug: 'canary/west',
          endpoints: [{ provider: 'west', model: 'm', pricing: { prompt: '0', completion: '0.000001' } }],
        },
        {
          slug: 'canary/own',
          endpoints: [{ provider: 'groq', model: 'm', pricing: { prompt: '0', completion: '0.000001' } }],
        },
      ],
      secrets: { current: secrets.master },
      retry: { baseDelayMs: 1, maxDelayMs: 1, cooldownMs: 0, maxRetryAfterMs: 10 },
      // What fails on purpose is to be asked again.
      health: { failuresToCooldown: 1_000_000 },
      storeTimeoutMs: 20_000,
      records: { enabled: true },
      audit: { enabled: true },
      ...options,
    });
  const gateway = open();

  async function call(
    method: string,
    path: string,
    body?: unknown,
    key = secrets.management,
    headers = {},
    to: Gateway = gateway,
  ) {
    const response = await to.fetch(`http://gateway.test/v1${path}`, {
      method,
      headers: {
        ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const copy = response.clone();
    let text = await response.text();
    const json = text.startsWith('{') ? JSON.parse(text) : null;
    if (typeof json?.key === 'string' && response.status === 201) {
      // The one time that it is shown.
      heard.made.push(json.key);
      text = text.replace(json.key, '');
    }
    tell(`${method} ${path.slice(0, 60)} ${response.status}`, [text, [...response.headers], response.statusText]);
    const operation = operationOf(method, path);
    if (response.ok) heard.succeeded.add(operation);
    const contentType = response.headers.get('content-type') ?? '';
    onExchange?.({ operation, sent: body, status: response.status, contentType, text: await copy.text() });
    return { status: response.status, json };
  }
  const chat = (content: string, fields: object = {}, key = secrets.inference, to?: Gateway) =>
    call(
      'POST',
      '/chat/completions',
      { model: 'canary/two', messages: [{ role: 'user', content }], max_tokens: 20, ...fields },
      key,
      { 'x-service-metadata': 'enabled' },
      to,
    );
  const respond = (path: string, content: string, fields: object = {}) =>
    call(
      'POST',
      path,
      { model: 'canary/two', input: [{ role: 'user', content }], max_output_tokens: 20, ...fields },
      secrets.inference,
      { 'x-service-metadata': 'enabled' },
    );

  // Every operation.
  const workspace = (await call('POST', '/workspaces', { name: 'Canary', slug: 'canary' })).json.data;
  await call('GET', '/workspaces');
  await call('GET', '/workspaces/canary');
  await call('PATCH', `/workspaces/${workspace.id}`, { name: 'Canaries' });
  await call('PUT', '/workspaces/canary', { description: 'Sings' });
  for (const of of ['default', workspace.id])
    await call('PUT', `/workspaces/${of}/budgets/daily`, { limit_usd: 1_000 });
  await call('PUT', `/workspaces/${workspace.id}/budgets/monthly`, { limit_usd: 0.000000001 });
  await call('GET', `/workspaces/${workspace.id}/budgets`);
  await call('GET', `/workspaces/${workspace.id}/budgets/monthly`);
  const made = (await call('POST', '/keys', { name: 'Made', workspace_id: workspace.id, limit: 5 })).json;
  const manager = (await call('POST', '/keys', { name: 'Manager', permissions: ['management', 'inference'] })).json;
  await call('GET', '/keys');
  await call('GET', `/keys/${made.data.hash}`);
  await call('PATCH', `/keys/${made.data.hash}`, { name: 'Renamed' });
  await call('GET', '/key', undefined, made.key);
  const credential = (await call('POST', '/byok', { provider: 'groq', key: secrets.own })).json.data;
  const second = (await call('POST', '/byok', { provider: 'mistral', key: secrets.account, name: 'A file' })).json.data;
  await call('GET', '/byok');
  await call('GET', `/byok/${credential.id}`);
  const guardrails = await call('POST', '/guardrails', {
    name: 'Canary',
    workspace_id: workspace.id,
    content_filter_builtins: [{ slug: 'api-key', action: 'block' }],
  });
  const guardrail = `/guardrails/${guardrails.json.data.id}`;
  await call('GET', `/guardrails?workspace_id=${workspace.id}`);
  await call('GET', guardrail);
  await call('PATCH', guardrail, { description: 'Of the canary' });
  for (const [kind, body] of [
    ['keys', { key_hashes: [made.data.hash] }],
    ['workspaces', { workspace_ids: [workspace.id] }],
  ] as const) {
    await call('POST', `${guardrail}/assignments/${kind}`, body);
    await call('GET', `${guardrail}/assignments/keys`);
    await chat(`plain ${mark}`, {}, made.key);
    await call('POST', `${guardrail}/assignments/${kind}/remove`, body);
  }
  await call('DELETE', guardrail);
  await call('GET', '/audit');
  for (const path of ['/models', '/models/user', '/models/count', '/providers', '/endpoints', '/endpoints/zdr'])
    await call('GET', path);
  for (const path of ['/model/canary/own', '/models/canary/own', '/models/canary/own/endpoints'])
    await call('GET', path);
  await call('POST', '/chat/completions/explain', {
    model: 'canary/own',
    messages: [{ role: 'user', content: 'hello' }],
  });

  const ofTasks = {
    embeddings: { input: 'a' },
    rerank: { query: 'a', documents: ['b'] },
    moderations: { input: 'a' },
    decisions: { input: 'a', questions: [{ type: 'predicate', instructions: 'b' }] },
  };
  for (const [task, body] of Object.entries(ofTasks))
    for (const path of [`/${task}`, `/${task}/explain`])
      await call('POST', path, { model: `canary/${task}`, ...body }, secrets.inference);
  const sound = { input_audio: { data: 'AAAA', format: 'mp3' } };
  for (const [path, body] of Object.entries({
    speech: { model: 'canary/speech', input: 'a', stream_format: 'sse' },
    'speech/explain': { model: 'canary/speech', input: 'a' },
    transcriptions: { model: 'canary/transcriptions', ...sound },
    'transcriptions/explain': { model: 'canary/transcriptions', ...sound },
    translations: { model: 'canary/translations', ...sound },
    'translations/explain': { model: 'canary/translations', ...sound },
  }))
    await call('POST', `/audio/${path}`, body, secrets.inference);
  const ofImages = {
    '/images/generations': {},
    '/images/edits': { images: [{ image_url: 'https://pictures.example/a.png' }] },
    '/images': {},
  };
  for (const [path, body] of Object.entries(ofImages))
    for (const place of [path, `${path}/explain`])
      await call('POST', place, { model: 'canary/images', prompt: 'a', ...body }, secrets.inference);
  const ofGemini = { content: { parts: [{ text: 'a' }] } };
  await call('POST', '/models/canary/embeddings:embedContent', ofGemini, secrets.inference);
  await call('POST', '/models/canary/embeddings:batchEmbedContents', { requests: [ofGemini] }, secrets.inference);
  await call('GET', '/embeddings/models');

  // From here on no prompt holds the mark, so that prompts and responses may be kept.
  for (const of of ['default', workspace.id])
    await call('PATCH', `/workspaces/${of}`, { is_observability_io_logging_enabled: true });

  // Everything that providers may show, through the operator's keys and through the workspace's own.
  const both = ['canary/two', 'canary/own'];
  const shown = Object.keys(spellings).flatMap((spelling) =>
    Object.keys(places).map((place) => `${spelling} at ${place}`),
  );
  for (const model of both) {
    for (const stream of [false, true]) {
      for (const content of ['hello', 'throw', 'reset', ...shown]) {
        await chat(
          content,
          { model, stream, debug: { echo_upstream_body: true } },
          content.length % 2 ? manager.key : secrets.inference,
        );
      }
    }
  }
  const shownNatively = Object.keys(spellings).flatMap((spelling) =>
    Object.keys(nativePlaces).map((place) => `${spelling} at ${place}`),
  );
  for (const stream of [false, true])
    for (const prompt of ['hello', 'reset', ...shown])
      await call('POST', '/completions', { model: 'canary/two', prompt, stream, logprobs: 1 }, secrets.inference);
  for (const model of [...both, 'canary/west']) {
    for (const stream of [false, true]) {
      const asked = model === 'canary/west' ? [...shown, ...shownNatively] : shown;
      for (const content of ['hello', 'throw', 'reset', ...asked])
        await respond('/responses', content, { model, stream, debug: { echo_upstream_body: true } });
    }
    for (const path of ['/completions', '/completions/explain'])
      await call('POST', path, { model, prompt: 'hello', max_tokens: 100 }, secrets.inference);
    for (const path of ['/messages', '/messages/count_tokens', '/messages/explain'])
      await call(
        'POST',
        path,
        { model, max_tokens: 100, messages: [{ role: 'user', content: 'hello' }] },
        secrets.inference,
      );
    for (const method of ['generateContent', 'streamGenerateContent', 'countTokens', 'explain'])
      await call(
        'POST',
        `/models/${model}:${method}`,
        { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] },
        secrets.inference,
      );
    for (const path of ['/responses/compact', '/responses/input_tokens', '/responses/explain'])
      for (const content of ['hello', ...shown.filter((one) => one.startsWith('plain'))])
        await respond(path, content, { model });
  }
  const asked = { model: 'canary/two', input: 'hello', store: true };
  const { id } = (await call('POST', '/responses', asked, secrets.inference)).json;
  await call('POST', '/responses', { ...asked, previous_response_id: id }, secrets.inference);
  await call('GET', `/responses/${id}/input_items`, undefined, secrets.inference);
  await call('GET', `/responses/${id}`, undefined, secrets.inference);
  await call('DELETE', `/responses/${id}`, undefined, secrets.inference);
  const items = [{ role: 'user', content: 'hello' }];
  const conversation = (await call('POST', '/conversations', { items }, secrets.inference)).json.id;
  const inIt = `/conversations/${conversation}`;
  await call('POST', '/responses', { ...asked, conversation }, secrets.inference);
  await call('POST', `${inIt}/items`, { items }, secrets.inference);
  const [item] = (await call('GET', `${inIt}/items`, undefined, secrets.inference)).json.data;
  await call('GET', `${inIt}/items/${item.id}`, undefined, secrets.inference);
  await call('DELETE', `${inIt}/items/${item.id}`, undefined, secrets.inference);
  await call('POST', inIt, { metadata: { topic: 'hello' } }, secrets.inference);
  await call('GET', inIt, undefined, secrets.inference);
  await call('DELETE', inIt, undefined, secrets.inference);
  const watched = call('GET', '/requests/stream?limit=2');
  const kept = (await call('GET', '/generations?limit=100')).json.data;
  for (const { id } of kept) {
    await call('GET', `/generation?id=${id}`);
    await call('GET', `/generation/content?id=${id}`);
  }
  await call('GET', '/activity');
  for (const content of ['plain at answer', 'hello']) await chat(content);
  await watched;
  await call('PATCH', `/byok/${credential.id}`, { key: secrets.replaced });
  for (const content of shown.filter((one) => one.startsWith('plain'))) await chat(content, { model: 'canary/own' });

  // Wrong keys, wrong places, wrong bodies.
  const wrong = secret('wrong').replaceAll('"', "'");
  await chat('hello', {}, wrong);
  await chat('hello', {}, made.key);
  await call('GET', '/workspaces', undefined, '', { authorization: `Basic ${Buffer.from(wrong).toString('base64')}` });
  await call('GET', '/workspaces', undefined, '', { authorization: wrong });
  for (const misplaced of [wrong, made.key, secrets.own]) {
    const inPath = encodeURIComponent(misplaced);
    for (const path of [
      `/keys/${inPath}`,
      `/byok/${inPath}`,
      `/workspaces/${inPath}`,
      `/${inPath}`,
      `/keys?offset=${inPath}`,
      `/models?q=${inPath}`,
      `/models/${inPath}/${inPath}/endpoints`,
    ]) {
      await call('GET', path);
    }
    for (const body of [
      { provider: 'groq', key: `${misplaced}\n${misplaced}` },
      { provider: misplaced, key: misplaced },
      { provider: 'groq', keys: misplaced },
      { provider: 'groq', key: { secret: misplaced } },
      `{"provider": "groq", "key": "${misplaced.replaceAll('\\', '').replaceAll('"', '')}" oops`,
      `${misplaced}`,
    ]) {
      await call('POST', '/byok', body);
      await call('PATCH', `/byok/${credential.id}`, typeof body === 'string' ? body : { ...body, provider: undefined });
      await call('POST', '/keys', body);
      await call('POST', '/chat/completions', body, secrets.inference);
      await call('POST', '/chat/completions/explain', body, secrets.inference);
      await call('POST', '/responses', body, secrets.inference);
    }
  }

  // Another master key: rotated to, and without the one before.
  const next = open({ secrets: { current: secrets.nextMaster, previous: [secrets.master] } });
  await chat('plain at answer', { model: 'canary/own' }, secrets.inference, next);
  tell('rotation', await next.credentials.rotate());
  await next.close();
  const without = open({ secrets: { current: `${secrets.nextMaster} of somebody else` } });
  await chat('plain at answer', { model: 'canary/own' }, secrets.inference, without);
  tell('rotation without the key', await without.credentials.rotate().catch((error: unknown) => error));
  await without.close();
  const unsealed = open({ secrets: undefined });
  await call('POST', '/byok', { provider: 'groq', key: secrets.own }, secrets.management, {}, unsealed);
  await chat('plain at answer', { model: 'canary/own' }, secrets.inference, unsealed);
  await unsealed.close();

  // What nobody has foreseen.
  const failing = open({
    apiKeys: undefined,
    authenticate: () => {
      throw new Error('The directory of users is gone');
    },
  });
  await chat('hello', {}, secrets.inference, failing);
  await failing.close();

  // Options that are refused.
  for (const options of [
    { secrets: { current: mark } },
    { secrets: { current: secrets.master, previous: [mark] } },
    { apiKeys: [{ key: secrets.inference, permissions: [secrets.inference] }] },
    { providers: { north: { baseUrl: `ftp://user:${mark}@north.test`, apiKey: secrets.north } } },
    { providers: { north: { baseUrl: 'https://north.test', apiKey: [secrets.north] } } },
    {
      providers: {
        [`No Slug ${mark}`.replace(mark, '')]: { apiKey: secrets.north, headers: { 'x-key': `${mark}\n` } },
      },
    },
    { models: [{ slug: 'canary/two', endpoints: [{ provider: 'nobody', model: secrets.north }] }] },
  ]) {
    try {
      open(options as never);
      tell('options that should have been refused', inspect(mark));
    } catch (error) {
      tell('options', error);
    }
  }

  tell('a key for the host app', (await gateway.apiKeys.create({ name: 'Embedder' })).record);
  tell('the gateway itself', gateway);
  // Deleted at last, so that what is deleted has been there.
  const third = (await call('POST', '/byok', { provider: 'groq', key: secrets.own, disabled: true })).json.data;
  await call('DELETE', `/byok/${third.id}`);
  await call('GET', `/byok/${second.id}`);
  const gone = (await call('POST', '/keys', { name: 'Gone' })).json;
  await call('DELETE', `/keys/${gone.data.hash}`);
  await call('GET', '/key', undefined, gone.key);
  await call('DELETE', `/workspaces/${workspace.id}/budgets/monthly`);
  const empty = (await call('POST', '/workspaces', { name: 'Empty', slug: 'empty' })).json.data;
  await call('DELETE', `/workspaces/${empty.id}`);
  await call('GET', '/openapi.json', undefined, '');
  await call('GET', '/api/hello', undefined, '');
  await gateway.close();
  const unsent = [secrets.north, secrets.south, secrets.west, secrets.groq, secrets.own, secrets.replaced].filter(
    (key) => !transport.sentKeys.has(key),
  );
  if (unsent.length > 0) throw new Error(`${unsent.length} keys were never used, so nothing is proved of them`);
  return heard;
}

/** What a logger that writes JSON makes of an error. */
function plainError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  return { ...error, message: error.message, stack: error.stack, cause: plainError(error.cause) };
}

const all = operations({ brand: 'service' } as never);

/** By name, such as `createWorkspace`; the path itself for what is none. */
function operationOf(method: string, path: string): string {
  const parts = path.replace(/\?.*/, '').split('/');
  const found = all.find((one) => {
    const [, suffix] = one.path.split('[:]');
    // The call stands behind the last colon.
    if (suffix !== undefined) return one.method === method && path.endsWith(`:${suffix}`);
    const pattern = one.path.split('/');
    // The last of them may stand for several parts.
    const isOfLength = one.path.endsWith('+') ? pattern.length <= parts.length : pattern.length === parts.length;
    return (
      one.method === method && isOfLength && pattern.every((part, at) => part.startsWith(':') || part === parts[at])
    );
  });
  return found?.name ?? path;
}

export const operationNames = all.map(({ name }) => name);
