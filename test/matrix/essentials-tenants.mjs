// Workspaces with budgets, keys and provider credentials of their own, on every runtime.
import { check, completion, equal, json, usage } from './essentials-support.mjs';

const managementKey = 'management-key';
const ownKey = 'sk-workspace-0123456789abcdef';
const secrets = { current: 'a master secret of forty characters, one' };
/** USD per token. Prompts hardly cost anything: what is held for one is much more than it has. */
const pricing = { prompt: '0.0000001', completion: '0.001' };
/** What one completion costs, and the most that may be spent on all. */
const costUsd = usage.prompt_tokens * 0.0000001 + usage.completion_tokens * 0.001;
const limitUsd = 0.05;

export const tenantChecks = {
  async 'serves a workspace with its own provider key, until its budget is spent'(context) {
    const { gateway, sent } = tenantGateway(context);
    const { key } = await makeTenant(gateway);
    const served = await askUntilRefused(gateway, key);
    check(served > 3, `some requests are served: ${served}`);
    equal(sent.length, served, 'requests upstream');
    equal(new Set(sent).size === 1 && sent[0], `Bearer ${ownKey}`, 'keys upstream');
    await gateway.close();
  },

  async 'holds the budget of requests at the same moment'(context) {
    const { gateway, sent } = tenantGateway(context);
    const { workspaceId, key } = await makeTenant(gateway);
    const statuses = await Promise.all(Array.from({ length: 40 }, async () => (await ask(gateway, key)).status));
    const served = statuses.filter((status) => status === 200).length;
    equal(statuses.filter((status) => status === 402).length, 40 - served, 'the others are refused');
    check(served > 0 && served * costUsd <= limitUsd, `no more is spent than the limit: ${served} served`);
    equal(sent.length, served, 'requests upstream');
    await setBudget(gateway, workspaceId, 2 * limitUsd);
    const body = await answerOf(ask(gateway, key), 200);
    equal(body.usage.is_byok, true, 'is_byok');
    await gateway.close();
  },

  async 'shows of a key and of a provider key no more than its ends'(context) {
    const { gateway } = tenantGateway(context);
    const { workspaceId, key, hash } = await makeTenant(gateway);
    const shown = [`/byok?workspace_id=${workspaceId}`, `/keys?workspace_id=${workspaceId}`, `/keys/${hash}`];
    for (const path of shown) {
      const text = JSON.stringify(await answerOf(send(gateway, 'GET', path), 200));
      check(!text.includes(ownKey) && !text.includes(key), `${path} holds no secret`);
      check(text.includes('"label":"'), `${path} holds a label`);
    }
    await gateway.close();
  },

  async 'knows a key no more once it is switched off, and the operator’s again without a credential'(context) {
    const { gateway, sent } = tenantGateway(context);
    const { key, hash, credentialId } = await makeTenant(gateway);
    await answerOf(send(gateway, 'DELETE', `/byok/${credentialId}`), 200);
    equal((await answerOf(ask(gateway, key), 200)).usage.is_byok, false, 'is_byok');
    equal(sent.at(-1), 'Bearer upstream-key-of-the-operator', 'key upstream');
    await answerOf(send(gateway, 'PATCH', `/keys/${hash}`, { disabled: true }), 200);
    await answerOf(ask(gateway, key), 401);
    await gateway.close();
  },

  async 'takes no provider key without a secret to seal it with, and says so'(context) {
    const { gateway } = tenantGateway(context, { secrets: undefined });
    const { error } = await answerOf(send(gateway, 'POST', '/byok', { provider: 'groq', key: ownKey }), 503);
    check(error.message.includes('secrets'), `it names the option: ${error.message}`);
    await gateway.close();
  },

  async 'finds a tenant again through any Keyv adapter, its provider key under a new master secret'(context) {
    const store = new Map();
    const before = tenantGateway(context, { store });
    const { key } = await makeTenant(before.gateway);
    await before.gateway.close();
    check(![...store.values()].some((value) => JSON.stringify(value).includes(ownKey)), 'the store holds no secret');
    const renewed = { current: 'a master secret of forty characters, two', previous: [secrets.current] };
    const { gateway, sent } = tenantGateway(context, { store, secrets: renewed });
    equal((await gateway.credentials.rotate()).resealed, 1, 'sealed anew');
    equal((await answerOf(ask(gateway, key), 200)).usage.is_byok, true, 'is_byok');
    equal(sent.at(-1), `Bearer ${ownKey}`, 'key upstream');
    await gateway.close();
  },
};

export const sqliteChecks = {
  async 'keeps what is written in an SQLite file, or says which runtime could'({ sqliteStore }) {
    const path = newFile();
    const store = openSqlite(sqliteStore, path);
    if (store === null) return;
    equal(await store.set('key', 'Grüße'), true, 'set');
    await store.disconnect();
    const again = sqliteStore(path);
    equal(await again.get('key'), 'Grüße', 'value');
    equal(await again.get('none'), undefined, 'no value');
    await again.database.transact(() => again.database.exec("UPDATE keyv SET value = 'x'"));
    const undone = await again.database
      .transact(() => {
        again.database.exec("UPDATE keyv SET value = 'y'");
        throw new Error('mine');
      })
      .catch(({ message }) => message);
    equal(undone, 'mine', 'reason');
    equal(await again.get('key'), 'x', 'value after what was undone');
    await again.disconnect();
    equal(await again.get('key').catch(({ message }) => message), 'sqliteStore: the database is closed', 'once closed');
  },

  async 'keeps a tenant and what it has spent in an SQLite file'(context) {
    const path = newFile();
    let store = openSqlite(context.sqliteStore, path);
    if (store === null) return;
    const before = tenantGateway(context, { store });
    const { workspaceId, key } = await makeTenant(before.gateway);
    await answerOf(ask(before.gateway, key), 200);
    await before.gateway.close();
    await store.disconnect();
    store = context.sqliteStore(path);
    const { gateway, sent } = tenantGateway(context, { store });
    await askUntilRefused(gateway, key, 1);
    equal(sent.at(-1), `Bearer ${ownKey}`, 'key upstream');
    await setBudget(gateway, workspaceId, 2 * limitUsd);
    await answerOf(ask(gateway, key), 200);
    await gateway.close();
    await store.disconnect();
  },
};

/** A gateway whose only upstream is a function. @returns it, and the `authorization` of each request upstream */
function tenantGateway({ createGateway }, options = {}) {
  const sent = [];
  const gateway = createGateway({
    providers: { groq: { baseUrl: 'https://groq.invalid/v1', apiKey: 'upstream-key-of-the-operator', byok: true } },
    models: [{ slug: 'acme/fast', endpoints: [{ provider: 'groq', model: 'fast-1', pricing }] }],
    apiKeys: [{ key: managementKey, permissions: ['management'] }],
    secrets,
    budgets: { includeByok: true },
    // Runtimes take longer to start a first piece of work than a store may.
    storeTimeoutMs: 5000,
    async fetch(input, init) {
      sent.push(new Request(input, init).headers.get('authorization'));
      return json(completion('Hello'));
    },
    ...options,
  });
  return { gateway, sent };
}

/** A workspace with a budget of a lifetime, so that midnight changes nothing, a key and a credential. */
async function makeTenant(gateway) {
  const make = async (path, body) => answerOf(send(gateway, 'POST', path, body), 201);
  const workspaceId = (await make('/workspaces', { name: 'Ünï', slug: 'uni' })).data.id;
  await setBudget(gateway, workspaceId, limitUsd);
  const { key, data } = await make('/keys', { name: 'Key', workspace_id: workspaceId });
  const credential = await make('/byok', { provider: 'groq', key: ownKey, workspace_id: workspaceId });
  return { workspaceId, key, hash: data.hash, credentialId: credential.data.id };
}

async function setBudget(gateway, workspaceId, usd) {
  await answerOf(send(gateway, 'PUT', `/workspaces/${workspaceId}/budgets/lifetime`, { limit_usd: usd }), 200);
}

/**
 * Spends the budget, one request after the other, and checks what the refusal says.
 * @param before  requests that were served before
 * @returns       how many were served here
 */
async function askUntilRefused(gateway, key, before = 0) {
  let served = 0;
  let response = await ask(gateway, key);
  while (response.status === 200 && served < 100) {
    const body = await response.json();
    equal(body.usage.is_byok, true, 'is_byok');
    served++;
    response = await ask(gateway, key);
  }
  const { error } = await answerOf(response, 402);
  equal(error.code, 402, 'error.code');
  const { scope, interval, limit_usd: limit, spent_usd: spent, held_usd: held } = error.metadata;
  equal([scope, interval, limit, held].join(' '), `workspace lifetime ${limitUsd} 0`, 'what is spent');
  equal(spent.toFixed(9), ((before + served) * costUsd).toFixed(9), 'spent');
  const current = await answerOf(send(gateway, 'GET', '/key', undefined, key), 200);
  equal(current.data.byok_usage.toFixed(9), spent.toFixed(9), 'usage of the key');
  return served;
}

function ask(gateway, key) {
  const body = { model: 'acme/fast', messages: [{ role: 'user', content: 'Hi' }], max_tokens: 20 };
  return send(gateway, 'POST', '/chat/completions', body, key);
}

function send(gateway, method, path, body, key = managementKey) {
  return gateway.fetch(`https://gateway.invalid/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    body: body && JSON.stringify(body),
  });
}

/** The body of an answer that has to have this status. */
async function answerOf(answer, status) {
  const response = await answer;
  const text = await response.text();
  check(response.status === status, `the status is ${status}: it is ${response.status}, ${text}`);
  return JSON.parse(text);
}

function newFile() {
  return `essentials-${crypto.randomUUID()}.db`;
}

/** null: the runtime has no SQLite, and was told which has. */
function openSqlite(sqliteStore, path) {
  try {
    return sqliteStore(path);
  } catch (error) {
    // Node and Deno have it.
    check(globalThis.Bun !== undefined, error.message);
    check(/^sqliteStore needs node:sqlite.*Node 22/.test(error.message), `it says so: ${error.message}`);
    return null;
  }
}
