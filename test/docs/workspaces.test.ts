import { describe, expect, it } from 'vitest';
import type * as z from 'zod';
import { defaultOptions } from '../../adapters/cli/config.ts';
import { createGateway, type Gateway } from '../../src/gateway.ts';
import { operations } from '../../src/operations/index.ts';
import type { GatewayOptions } from '../../src/options.ts';
import { createApiKeySchema } from '../../src/schema/tenants/api-key.ts';
import { byokProviders } from '../../src/schema/tenants/byok-providers.ts';
import { createCredentialSchema } from '../../src/schema/tenants/credential.ts';
import { createWorkspaceSchema } from '../../src/schema/tenants/workspace.ts';
import { likeness } from './likeness.ts';
import { quoted, readDoc, tableRows } from './markdown.ts';

const doc = readDoc('docs/workspaces.md');
const rows = tableRows(doc);
const key = 'sk-the-key-that-npm-start-prints';
const secrets = { current: 'a master secret of the tests, which is long enough' };
const both = ['inference', 'management'] as const;

/** What `npm start` serves, but for where it is kept. */
function started(options: Partial<GatewayOptions> = {}): Gateway {
  return createGateway({ ...defaultOptions({}), apiKeys: [{ key, permissions: [...both] }], secrets, ...options });
}

/** Words of a shell: backslashes at the ends of lines, both kinds of quotes, and variables. */
function words(line: string, variables: Readonly<Record<string, string>>): string[] {
  const fill = (text: string) =>
    text.replace(/\$(\w+)/g, (_, name: string) => {
      if (variables[name] === undefined) throw new Error(`$${name} is set by no answer above`);
      return variables[name];
    });
  const parts = line.replaceAll('\\\n', ' ').matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g);
  return [...parts].map(([word]) =>
    word.replace(/'([^']*)'|"([^"]*)"|([^'"]+)/g, (_, plain, double, bare) => plain ?? fill(double ?? bare)),
  );
}

interface Shown {
  language: string;
  text: string;
}
const blocks: Shown[] = [...doc.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language = '', text = '']) => ({
  language,
  text,
}));

describe('docs/workspaces.md', () => {
  it('shows commands that do what it says, one after the other', async () => {
    const gateway = started();
    const variables: Record<string, string> = { GATEWAY_API_KEY: key };
    const statuses: number[] = [];
    let last: unknown;
    for (const { language, text } of blocks) {
      if (language === 'json') {
        expect(last).toEqual(likeness(JSON.parse(text)));
        continue;
      }
      expect(language).toBe('sh');
      for (const line of text.trim().split(/(?<!\\)\n/)) {
        const [program, ...args] = words(line, variables);
        expect(program).toBe('curl');
        const { url, ...init } = requestOf(args);
        const response = await gateway.fetch(url, init);
        statuses.push(response.status);
        last = await response.json();
        Object.assign(variables, variablesOf(new URL(url).pathname, last));
      }
    }
    expect(statuses).toEqual([201, 200, 201, 200, 402, 200, 201, 200, 200, 200, 200, 200, 200]);
  });

  it('has a row for every operation, and no other', () => {
    const named = rows
      .filter(({ columns }) => columns[0] === 'Operation')
      .map(({ cells }) => quoted(cells[0] as string)[0]);
    const known = operations({ brand: 'service' } as never).map(
      ({ method, path }) => `${method} ${path.replace(/:(\w+)/g, '{$1}')}`,
    );
    const others =
      /\/chat\/|\/completions\b|\/responses\b|\/conversations\b|\/messages\b|\/embeddings\b|\/rerank\b|\/moderations\b|\/decisions\b|\/images\b|\/audio\/|\/models?\b|\/endpoints\b|\/providers\b|\/api\/hello/;
    expect(named.toSorted()).toEqual(known.filter((name) => !others.test(name)).toSorted());
  });
  it.each<[string, z.ZodObject]>([
    ['Fields of a workspace', createWorkspaceSchema()],
    ['Fields of a key', createApiKeySchema()],
    ['Fields of a credential', createCredentialSchema()],
  ])('%s: has a row for each, with its default', (heading, schema) => {
    const fields = rows.filter(({ headings }) => headings.at(-1) === heading).map(({ cells }) => cells as string[]);
    expect(fields.map(([name]) => quoted(name as string)[0]).toSorted()).toEqual(Object.keys(schema.shape).toSorted());
    for (const [cell = '', said = ''] of fields) {
      const name = quoted(cell)[0] as string;
      const field = schema.shape[name] as z.ZodType;
      const without = field.safeParse(undefined);
      expect([name, said === 'required']).toEqual([name, !without.success]);
      if (without.success && without.data !== undefined) {
        expect([name, JSON.parse(quoted(said)[0] as string)]).toEqual([name, without.data]);
      }
    }
  });
  it('knows how many providers there are, and how long texts may be', () => {
    expect(Number(/(\d+) slugs/.exec(doc)?.[1])).toBe(byokProviders.length);
    const longest: [string, z.ZodObject, object][] = [
      ['Fields of a workspace', createWorkspaceSchema(), { name: 'x', slug: 'x' }],
      ['Fields of a key', createApiKeySchema(), { name: 'x' }],
      ['Fields of a credential', createCredentialSchema(), { provider: 'openai', key: 'x' }],
    ];
    let checked = 0;
    for (const [heading, schema, least] of longest) {
      for (const { cells } of rows.filter(({ headings }) => headings.at(-1) === heading)) {
        const [, digits] = /up to ([\d,]+)/.exec(cells[2] as string) ?? [];
        if (digits === undefined) continue;
        const length = Number(digits.replaceAll(',', ''));
        const isTaken = (of: number) =>
          schema.safeParse({ ...least, [quoted(cells[0] as string)[0] as string]: 'x'.repeat(of) }).success;
        expect([cells[0], isTaken(length), isTaken(length + 1)]).toEqual([cells[0], true, false]);
        checked++;
      }
    }
    expect(checked).toBe(6);
  });

  describe('who may manage what', () => {
    const team = '0f0e0d0c-0b0a-4908-8706-050403020100';
    const said = rows.filter(({ columns }) => columns[0] === 'Caller').map(({ cells }) => cells as string[]);
    const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
    const named = (caller: object) => async () => {
      const gateway = started({ apiKeys: undefined, authenticate: () => ({ permissions: both, ...caller }) });
      return { gateway, headers: {}, own: 'workspaceId' in caller ? team : 'default' };
    };
    const callers: (() => Promise<{ gateway: Gateway; headers: Record<string, string>; own: string }>)[] = [
      async () => ({ gateway: started(), headers: bearer(key), own: 'default' }),
      async () => {
        const apiKeys = [{ key, permissions: [...both], workspaceId: team }];
        return { gateway: started({ apiKeys }), headers: bearer(key), own: team };
      },
      async () => {
        const gateway = started();
        const { data } = await ask(gateway, bearer(key), 'POST', '/workspaces', { name: 'x', slug: 'x' });
        const made = await gateway.apiKeys.create({ workspaceId: data.id, permissions: [...both] });
        return { gateway, headers: bearer(made.key), own: data.id };
      },
      named({}),
      named({ workspaceId: team }),
      named({ workspaceId: team, managesAll: true }),
    ];

    it('has a row for each', () => {
      expect(said).toHaveLength(callers.length);
    });
    it.each(said.map(([who = '', worksFor = '', manages = ''], at) => ({ who, worksFor, manages, at })))(
      '$who: $manages',
      async ({ worksFor, manages, at }) => {
        const { gateway, headers, own } = await (callers[at] as (typeof callers)[number])();
        const call = (method: string, path: string, body?: object) => ask(gateway, headers, method, path, body);
        expect(own === 'default').toBe(worksFor === 'the default workspace');
        // A credential shows for which workspace whoever names none works.
        const made = await call('POST', '/byok', { provider: 'openai', key: 'sk-0123456789' });
        expect(made.data.workspace_id).toBe(own === 'default' ? '00000000-0000-4000-8000-000000000001' : own);
        const reachesAll = manages.startsWith('all');
        const other = own === 'default' ? 'other' : 'default';
        expect((await call('POST', '/workspaces', { name: 'Other', slug: 'other' })).status).toBe(
          reachesAll ? 201 : 403,
        );
        expect((await call('GET', `/workspaces/${other}/budgets`)).status).toBe(reachesAll ? 200 : 404);
        expect((await call('GET', `/byok/${made.data.id}`)).status).toBe(200);
      },
    );
  });
});

interface Answered {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: of any operation, for a test to look into
  data: any;
}

async function ask(
  gateway: Gateway,
  headers: Record<string, string>,
  method: string,
  path: string,
  body?: object,
): Promise<Answered> {
  const declared = { ...headers, 'content-type': 'application/json' };
  const init = { method, headers: declared, ...(body ? { body: JSON.stringify(body) } : {}) };
  const response = await gateway.fetch(`http://127.0.0.1:8787/v1${path}`, init);
  return { status: response.status, ...(await response.json()) };
}

/** What curl makes of its arguments. */
function requestOf(args: readonly string[]): RequestInit & { url: string } {
  let url = '';
  let method: string | undefined;
  let body: string | undefined;
  const headers: Record<string, string> = {};
  for (let at = 0; at < args.length; at++) {
    const word = args[at] as string;
    if (word === '-X') method = args[++at];
    else if (word === '-d') {
      body = args[++at];
      headers['content-type'] ??= 'application/x-www-form-urlencoded';
    } else if (word === '--json') {
      body = args[++at];
      headers['content-type'] = 'application/json';
    } else if (word === '-H') {
      const [name = '', value = ''] = (args[++at] as string).split(/: (.*)/s);
      headers[name] = value;
    } else url = word;
  }
  return {
    url,
    method: method ?? (body === undefined ? 'GET' : 'POST'),
    headers,
    ...(body === undefined ? {} : { body }),
  };
}

/** The variables that the text takes from answers. */
function variablesOf(path: string, answer: unknown): Record<string, string> {
  const { data, key } = answer as { data?: { id: string; hash: string }; key?: string };
  if (path === '/v1/workspaces' && data) return { WORKSPACE: data.id };
  if (path === '/v1/keys' && data && key) return { KEY: key, HASH: data.hash };
  if (path === '/v1/byok' && data) return { CREDENTIAL: data.id };
  return {};
}
