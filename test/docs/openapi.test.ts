import { readFileSync } from 'node:fs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { Keyv } from 'keyv';
import { describe, expect, it } from 'vitest';
import { described, documentPath, writeDocument } from '../../scripts/openapi-document.ts';
import { operationTexts, parameters } from '../../scripts/openapi-texts.ts';
import { projectRoot, sourceProgram } from '../../scripts/source-program.ts';
import { type Exchange, exerciseAll } from '../support/canary/scenario.ts';
import { managementKey, testGateway, testKey } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

const file = readFileSync(`${projectRoot}/${documentPath}`, 'utf8');
const document = JSON.parse(file);
const placesOf = new Map<string, string[]>();
for (const [path, methods] of Object.entries<Record<string, { operationId: string }>>(document.paths))
  for (const [method, { operationId }] of Object.entries(methods)) placesOf.set(operationId, ['paths', path, method]);

const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
ajv.addSchema(document, 'openapi');
const validators = new Map<string, ValidateFunction | null>();

/** Follows `$ref`. @returns where it leads, as keys; null: there is nothing */
function find(keys: readonly string[]): string[] | null {
  let at: unknown = document;
  let path: string[] = [];
  for (const key of keys) {
    at = (at as Record<string, unknown>)[key];
    if (at === undefined) return null;
    path.push(key);
    const reference = (at as { $ref?: string }).$ref;
    if (reference !== undefined && !reference.includes('/schemas/')) {
      path = reference.slice(2).split('/');
      at = path.reduce((holder, name) => (holder as Record<string, object>)[name] as object, document);
    }
  }
  return path;
}

/** What is wrong with a value; null: the document has no schema there. */
function faults(keys: readonly string[], value: unknown): string[] | null {
  const name = keys.join(' ');
  if (!validators.has(name)) {
    const found = find(keys);
    const pointer = found?.map((key) => encodeURIComponent(key.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/');
    validators.set(name, found && ajv.compile({ $ref: `openapi#/${pointer}` }));
  }
  const validate = validators.get(name);
  if (!validate) return null;
  return validate(value) ? [] : (validate.errors ?? []).map((error) => `${error.instancePath}: ${error.message}`);
}

describe('docs/openapi.json', () => {
  it('is what `npm run docs` writes from the operations and their schemas', { timeout: 60_000 }, async () => {
    expect(await writeDocument(sourceProgram())).toBe(file);
  });
  it('is a valid document of OpenAPI 3.1', async () => {
    const validator = new Validator();
    expect(await validator.validate(structuredClone(document))).toEqual({ valid: true });
    expect(validator.version).toBe('3.1');
  });
  it('has every operation, and no other', () => {
    expect([...placesOf.keys()].sort()).toEqual(described.map(({ name }) => name).sort());
    expect(Object.keys(operationTexts).sort()).toEqual([...placesOf.keys()].sort());
  });
  it('says what each parameter is for, and of none that there is not', () => {
    const known = new Set<string>();
    for (const [name, place] of placesOf) {
      const path = find(place) as string[];
      const operation = path.reduce((at, key) => at[key], document);
      for (const parameter of operation.parameters) {
        known.add(parameter.name).add(`${name}.${parameter.name}`).add(`path.${parameter.name}`);
        expect(parameter.description).toMatch(/\w/);
      }
    }
    expect(Object.keys(parameters).filter((name) => !known.has(name))).toEqual([]);
  });
});

describe('GET /openapi.json', () => {
  it('is that document, for anybody, with the place where it was asked for', async () => {
    const { gateway } = testGateway();
    const response = await gateway.handle(new Request('http://gateway.test/api/llm/openapi.json'), {
      basePath: '/api/llm',
    });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ ...document, servers: [{ url: '/api/llm' }] });
    const atRoot = await gateway.handle(new Request('http://gateway.test/openapi.json'), { basePath: '/' });
    expect(((await atRoot.json()) as { servers: unknown }).servers).toEqual([{ url: '/' }]);
  });
  it('takes no query, and only GET', async () => {
    const { call } = testGateway();
    expect((await call('GET', '/openapi.json?a=1')).status).toBe(400);
    expect((await call('POST', '/openapi.json', {})).status).toBe(405);
  });
});

describe('what a Responses request may ask for', () => {
  const caller = { authorization: `Bearer ${testKey}` };
  const values = [true, false, null, 'resp_1', ''];
  const places = ['/responses', '/responses/explain', '/responses/input_tokens', '/responses/compact'];
  it.each([
    ...places.flatMap((path) => ['background', 'previous_response_id'].map((field) => [path, field] as const)),
    // A compaction is not stored.
    ...places.filter((path) => path !== '/responses/compact').map((path) => [path, 'store'] as const),
  ])('is as the document says: %s takes %s as it says', async (path, field) => {
    const keys = ['paths', path, 'post', 'requestBody', 'content', 'application/json', 'schema'];
    const { call, upstream } = testGateway({ records: { enabled: true } });
    upstream.always({ body: completion() });
    await call('PATCH', '/workspaces/default', { is_observability_io_logging_enabled: true });
    const kept = await call('POST', '/responses', { model: 'acme/fast', input: 'Hi', store: true }, caller);
    // Of the ids that an earlier response may have, one is known.
    const asked =
      field === 'previous_response_id' ? [...values.filter((one) => typeof one !== 'string'), kept.json.id] : values;
    for (const value of asked) {
      const body = { model: 'acme/fast', input: 'Hi', [field]: value };
      const { status } = await call('POST', path, body, caller);
      expect([value, status === 400 ? 'refused' : status]).toEqual([
        value,
        faults(keys, body)?.length ? 'refused' : 200,
      ]);
    }
  });
});

describe('the live tail of requests', () => {
  it('has the 429 of the document where too many follow it', async () => {
    const { gateway } = testGateway({ records: { enabled: true, tailWatchers: 1 } });
    const headers = { authorization: `Bearer ${managementKey}` };
    const follow = () => gateway.fetch(new Request('http://gateway.test/v1/requests/stream', { headers }));
    const responses = [await follow(), await follow()];
    expect(responses.map(({ status }) => status)).toEqual([200, 429]);
    const keys = ['paths', '/requests/stream', 'get', 'responses', '429', 'content', 'application/json', 'schema'];
    expect(faults(keys, await responses[1]?.json())).toEqual([]);
    await gateway.close();
  });
});

describe('the headers of a request', () => {
  const caller = { authorization: `Bearer ${testKey}` };
  const bodies: Record<string, object> = {
    createChatCompletion: { model: 'acme/fast', messages: [{ role: 'user', content: 'Hi' }] },
    explainChatCompletion: { model: 'acme/fast', messages: [{ role: 'user', content: 'Hi' }] },
    createCompletion: { model: 'acme/fast', prompt: 'Hi' },
    explainCompletion: { model: 'acme/fast', prompt: 'Hi' },
    createResponse: { model: 'acme/fast', input: 'Hi' },
    explainResponse: { model: 'acme/fast', input: 'Hi' },
    compactResponse: { model: 'acme/fast', input: 'Hi' },
    countInputTokens: { model: 'acme/fast', input: 'Hi' },
    createMessage: { model: 'acme/fast', messages: [{ role: 'user', content: 'Hi' }] },
    explainMessage: { model: 'acme/fast', messages: [{ role: 'user', content: 'Hi' }] },
    countMessageTokens: { model: 'acme/fast', messages: [{ role: 'user', content: 'Hi' }] },
    generateContent: { contents: [{ parts: [{ text: 'Hi' }] }] },
    streamGenerateContent: { contents: [{ parts: [{ text: 'Hi' }] }] },
    countTokens: { contents: [{ parts: [{ text: 'Hi' }] }] },
    explainContent: { contents: [{ parts: [{ text: 'Hi' }] }] },
  };
  it.each(Object.keys(bodies))('act on %s where the document names them', async (name) => {
    const [, path = ''] = placesOf.get(name) ?? [];
    const named: string[] = document.paths[path].post.parameters.map((one: { name: string }) => one.name);
    const ask = async (headers: Record<string, string>) => {
      const { call, upstream } = testGateway();
      upstream.answer({ body: completion() });
      return await call('POST', path.replace('{model}', 'acme/fast'), bodies[name], { ...caller, ...headers });
    };
    const shown = await ask({ 'X-Service-Metadata': 'enabled' });
    expect([shown.status, shown.text.includes('"service_metadata"')]).toEqual([
      200,
      named.includes('X-Service-Metadata'),
    ]);
    expect('service_metadata' in (await ask({ 'X-Service-Metadata': 'disabled' })).json).toBe(false);
    const long = await ask({ 'X-Session-Id': 'x'.repeat(257) });
    expect(long.status === 400).toBe(named.includes('X-Session-Id'));
    expect((await ask({ 'X-Service-Timeout-Ms': '0' })).status === 400).toBe(named.includes('X-Service-Timeout-Ms'));
  });
});

describe('requests and responses of every operation', { timeout: 120_000 }, () => {
  it('are as the document says', async () => {
    const { exchanges } = await exercised();
    const wrong: unknown[] = [];
    for (const exchange of exchanges) {
      const place = placesOf.get(exchange.operation);
      if (!place) continue;
      const found = responseFaults(exchange, place);
      if (found.length > 0) wrong.push([exchange.operation, exchange.status, found.slice(0, 5)]);
    }
    expect(wrong).toEqual([]);
    expect(exchanges.length).toBeGreaterThan(200);
  });
  it('succeed as the document says at least once, of each', async () => {
    const { exchanges } = await exercised();
    const succeeded = exchanges.filter(({ status }) => status < 300).map(({ operation }) => operation);
    expect([...placesOf.keys()].filter((name) => !succeeded.includes(name))).toEqual([]);
  });
  it('are taken only where the document would take them', async () => {
    const { exchanges } = await exercised();
    const wrong: unknown[] = [];
    for (const { operation, sent, status } of exchanges) {
      const place = placesOf.get(operation);
      if (!place || sent === undefined || typeof sent === 'string' || status >= 300) continue;
      const found = faults(
        [...place, 'requestBody', 'content', 'application/json', 'schema'],
        JSON.parse(JSON.stringify(sent)),
      );
      if (found === null || found.length > 0) wrong.push([operation, sent, found]);
    }
    expect(wrong).toEqual([]);
  });
});

let running: Promise<{ exchanges: Exchange[] }> | undefined;

function exercised(): Promise<{ exchanges: Exchange[] }> {
  running ??= (async () => {
    const exchanges: Exchange[] = [];
    await exerciseAll(new Keyv(), (exchange) => void exchanges.push(exchange));
    return { exchanges };
  })();
  return running;
}

function responseFaults({ status, contentType, text }: Exchange, place: readonly string[]): string[] {
  const type = contentType.split(';')[0] as string;
  const keys = [...place, 'responses', `${status}`, 'content', type, 'schema'];
  const values = type === 'text/event-stream' ? events(text) : [JSON.parse(text)];
  return values.flatMap((value) => faults(keys, value) ?? [`no schema for ${status} ${type}`]);
}

function events(text: string): unknown[] {
  const data = [...text.matchAll(/^data: (.*)$/gm)].map(([, one]) => one as string);
  return data.filter((one) => one !== '[DONE]').map((one) => JSON.parse(one));
}
