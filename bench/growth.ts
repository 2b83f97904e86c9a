import process from 'node:process';
import type { Gateway, GatewayOptions } from '../src/index.ts';
import { apiKey, chatResponse } from './bodies.ts';
import { type Built, loadBuilt } from './built.ts';
import { measuring, serveParent } from './control.ts';

/**
 * Measures how the CPU of a request grows with what is configured, stored or sent: `gateway.fetch` with a transport that
 * responds from memory. A cost that grows in step with its cause has the exponent 1; one that does not care, 0.
 */

/** The growth of one cost with one cause. */
export interface Growth {
  /** The cause, such as "models in the catalogue". */
  cause: string;
  /** The sizes of the cause, ascending. */
  sizes: readonly number[];
  /** CPU of a request at each size, in microseconds. */
  costsUs: readonly number[];
  /** The largest slope of the cost over the size, both as logarithms, between two neighbouring sizes. */
  exponent: number;
}

const { createGateway, textGuardrail }: Built = await loadBuilt();
const url = 'http://127.0.0.1/v1/chat/completions';
const managementKey = 'bench-management-key-0123456789';

/** A response to a request of so many characters: the gateway counts the tokens itself where the usage cannot be true. */
function responseTo(characters: number): Uint8Array {
  const response = JSON.parse(chatResponse);
  const prompt = Math.ceil(characters / 4);
  response.usage = { prompt_tokens: prompt, completion_tokens: 98, total_tokens: prompt + 98 };
  return Buffer.from(JSON.stringify(response));
}

/** One measured gateway: how it is asked once, and how it ends. */
interface Subject {
  ask(): Promise<void>;
  close(): Promise<void>;
}

interface Cause {
  cause: string;
  sizes: readonly number[];
  /** The number of requests in one turn. */
  calls(size: number): number;
  subject(size: number): Promise<Subject>;
}

const models = (count: number, endpoints = 1): GatewayOptions['models'] =>
  Array.from({ length: count }, (_, at) => ({
    slug: `bench/model-${at}`,
    endpoints: Array.from({ length: endpoints }, (__, place) => ({
      provider: `p${place}`,
      model: `bench-model-${at}`,
      pricing: { prompt: '0.000001', completion: '0.000002' },
      contextLength: 10_000_000,
      maxCompletionTokens: 16_384,
    })),
  }));

const providers = (count: number): GatewayOptions['providers'] =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`p${at}`, { baseUrl: 'http://127.0.0.1:9/v1', apiKey: `key-${at}` }]),
  );

/** Responses are made once: their making is no work of the gateway. */
const responses = new Map<number, Uint8Array>();

function responseOf(characters: number): Uint8Array {
  const known = responses.get(characters) ?? responseTo(characters);
  responses.set(characters, known);
  return known;
}

function gatewayWith(options: Partial<GatewayOptions>, stalls = { isOn: false }): Gateway {
  return createGateway({
    apiKeys: [{ key: apiKey }, { key: managementKey, permissions: ['management'] }],
    providers: providers(1),
    models: models(1),
    random: () => 0,
    limits: { bodyBytes: 64 * 1024 * 1024, jsonValues: 1_000_000 },
    transport: {
      async send({ body }) {
        if (stalls.isOn) return openStream();
        const json = responseOf(body?.length ?? 0);
        let isRead = false;
        const read = async () => {
          if (isRead) return null;
          isRead = true;
          return json;
        };
        return {
          status: 200,
          headers: { 'content-type': 'application/json' },
          body: { read, cancel: () => undefined },
        };
      },
    },
    ...options,
  });
}

/** A stream that has begun, and says nothing more until it is closed. */
function openStream() {
  let isOpen = false;
  const first = Buffer.from('data: {"choices":[{"index":0,"delta":{"content":"Hi"}}]}\n\n');
  let end: (value: null) => void = () => undefined;
  const never = new Promise<null>((resolve) => {
    end = resolve;
  });
  const read = async () => {
    if (isOpen) return never;
    isOpen = true;
    return first;
  };
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    body: { read, cancel: () => end(null) },
  };
}

function requestOf(body: string, key = apiKey): Request {
  return new Request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
    body,
  });
}

async function served(gateway: Gateway, body: string, key?: string): Promise<void> {
  const response = await gateway.fetch(requestOf(body, key));
  const text = await response.text();
  if (response.status !== 200) throw new Error(text);
}

const bodyOf = (more: object = {}) =>
  JSON.stringify({ model: 'bench/model-0', messages: [{ role: 'user', content: 'Hello there' }], ...more });

/** The same request each time. */
async function simple(gateway: Gateway, body = bodyOf()): Promise<Subject> {
  return { ask: () => served(gateway, body), close: () => gateway.close() };
}

const many = () => 1_000;

const causes: readonly Cause[] = [
  {
    cause: 'models in the catalogue',
    sizes: [50, 500, 5_000],
    calls: many,
    subject: (size) => simple(gatewayWith({ models: models(size) })),
  },
  {
    cause: 'endpoints of the model',
    sizes: [1, 10, 50],
    calls: many,
    subject: (size) => simple(gatewayWith({ providers: providers(size), models: models(1, size) })),
  },
  {
    cause: 'models that the request names',
    sizes: [1, 5, 20],
    calls: many,
    subject: (size) =>
      simple(
        gatewayWith({ models: models(20) }),
        bodyOf({ model: undefined, models: Array.from({ length: size }, (_, at) => `bench/model-${at}`) }),
      ),
  },
  {
    cause: 'workspaces that ask in turns, each with a budget and a key',
    sizes: [10, 1_000, 100_000],
    calls: many,
    subject: tenants,
  },
  {
    cause: 'patterns of a guardrail',
    sizes: [1, 10, 100],
    calls: many,
    subject: (size) => {
      const patterns = Array.from({ length: size }, (_, at) => ({
        literal: `forbidden word ${at}`,
        name: `word-${at}`,
        action: 'block' as const,
      }));
      return simple(gatewayWith({ guardrails: [textGuardrail({ id: 'words', patterns })] }));
    },
  },
  {
    cause: 'messages of the conversation',
    sizes: [1, 100, 2_000],
    calls: (size) => (size > 100 ? 60 : 1_000),
    subject: (size) => {
      const messages = Array.from({ length: size }, (_, at) => ({
        role: at % 2 === 0 ? 'user' : 'assistant',
        content: `Message ${at} of a conversation that goes on and on.`,
      }));
      if (messages.length > 1) messages.push({ role: 'user', content: 'And now?' });
      return simple(gatewayWith({}), bodyOf({ messages }));
    },
  },
  {
    cause: 'bytes of the body',
    sizes: [1_000, 100_000, 10_000_000],
    calls: (size) => (size > 1e6 ? 3 : size > 10_000 ? 200 : 1_000),
    subject: (size) =>
      simple(gatewayWith({}), bodyOf({ messages: [{ role: 'user', content: 'Bonjour. '.repeat(size / 9) }] })),
  },
  {
    cause: 'streams that are open beside',
    sizes: [10, 1_000, 5_000],
    calls: many,
    subject: besideStreams,
  },
];

/** So many workspaces in memory, which ask one after the other. */
async function tenants(size: number): Promise<Subject> {
  const gateway = gatewayWith({});
  const keys: string[] = [];
  for (let at = 0; at < size; at++) {
    const { data: workspace } = await gateway.workspaces.create({ name: `W${at}`, slug: `w-${at}` });
    await gateway.budgets.put({ id: workspace.id, interval: 'monthly', limit_usd: 1_000 });
    keys.push((await gateway.apiKeys.create({ name: 'K', workspace_id: workspace.id })).key);
  }
  let next = 0;
  const body = bodyOf();
  // Far apart, so that none is asked twice soon.
  const ask = () => {
    next = (next + 7_919) % keys.length;
    return served(gateway, body, keys[next]);
  };
  return { ask, close: () => gateway.close() };
}

async function besideStreams(size: number): Promise<Subject> {
  const stalls = { isOn: true };
  const gateway = gatewayWith({ timeouts: { firstEventMs: 600_000, idleMs: 600_000, totalMs: 600_000 } }, stalls);
  const readers: ReadableStreamDefaultReader<Uint8Array>[] = [];
  for (let at = 0; at < size; at++) {
    const { body, status } = await gateway.fetch(requestOf(bodyOf({ stream: true })));
    if (body === null || status !== 200) throw new Error(`A stream was answered with ${status}`);
    const reader = body.getReader();
    await reader.read();
    readers.push(reader);
  }
  stalls.isOn = false;
  return {
    ask: () => served(gateway, bodyOf()),
    async close() {
      for (const reader of readers) await reader.cancel();
      await gateway.close();
    },
  };
}

/** CPU of one request, the best of a few turns: other processes can only make a turn slower. */
async function costUs({ ask }: Subject, calls: number): Promise<number> {
  const turn = async () => {
    const start = process.cpuUsage();
    for (let done = 0; done < calls; done++) await ask();
    const { user, system } = process.cpuUsage(start);
    return (user + system) / calls;
  };
  await turn();
  const turns: number[] = [];
  for (let at = 0; at < 5; at++) turns.push(await turn());
  return Math.min(...turns);
}

/** The largest slope between two neighbouring sizes. */
export function exponentOf(sizes: readonly number[], costs: readonly number[]): number {
  const slopes = sizes.slice(1).map((size, at) => {
    const [cost, before] = [costs[at + 1] as number, costs[at] as number];
    return Math.log(cost / before) / Math.log(size / (sizes[at] as number));
  });
  return Math.max(...slopes);
}

async function measure(): Promise<Growth[]> {
  // Warm-up: V8 still compiles after tens of thousands of requests.
  const warm = await simple(gatewayWith({}));
  for (let done = 0; done < 20_000; done++) await warm.ask();
  await warm.close();
  const found: Growth[] = [];
  for (const { cause, sizes, calls, subject } of causes) {
    const costsUs: number[] = [];
    for (const size of sizes) {
      const one = await subject(size);
      costsUs.push(await costUs(one, calls(size)));
      await one.close();
    }
    found.push({ cause, sizes, costsUs, exponent: exponentOf(sizes, costsUs) });
  }
  return found;
}

serveParent({ ...measuring, port: () => 0, measure });
