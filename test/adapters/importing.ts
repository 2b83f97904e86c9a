import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseEnv } from 'node:util';
import { afterEach, beforeEach } from 'vitest';
import { type ImportFlags, importConfig } from '../../adapters/cli/import-command.ts';
import { createGateway, type GatewayOptions } from '../../src/index.ts';
import { root } from '../docs/markdown.ts';

/** What a run of the command printed. */
export interface Run {
  out: string;
  /** Places of the problems, warnings and notes, in order, such as `problem model_list[0]`. */
  places: string[];
  /** The summary. */
  summary: string;
  /** The message of the error; null: it ended with 0. */
  error: string | null;
}

let loads = 0;

/** A folder for each test, in which the command runs. */
export function importing() {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'model-gateway-import-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const written = (name: string) => readFileSync(join(folder, name), 'utf8');

  return {
    get folder() {
      return folder;
    },
    written,
    put: (name: string, text: string) => writeFileSync(join(folder, name), text),
    /** Runs the command in this process. Throws where nothing was written. */
    async run(name: string, text: string, flags: ImportFlags = {}): Promise<Run> {
      writeFileSync(join(folder, name), text);
      let out = '';
      const print = (more: string) => {
        out += more;
      };
      let error: string | null = null;
      try {
        await importConfig({ args: [], folder, env: {}, print } as never, name, flags);
      } catch (caught) {
        error = (caught as Error).message;
        if (!/^There (?:is|are) \d+ problems?\.$/.test(error)) throw caught;
      }
      const places = [...out.matchAll(/^(problem|warning|note) +(.*?): /gm)].map(
        ([, level, place]) => `${level} ${place}`,
      );
      return { out, places, summary: out.split('\n', 1)[0] ?? '', error };
    },
    /** The config as the process of the gateway sees it, with the variables of `.env` and some more. */
    async options(more: Record<string, string> = {}): Promise<GatewayOptions> {
      const source = (path: string) => `'${pathToFileURL(join(root, path)).href}'`;
      const text = written('gateway.config.mjs')
        .replace("sqliteStore('gateway.db')", 'undefined')
        .replace("'model-gateway/sqlite'", source('adapters/sqlite/sqlite.ts'))
        .replace("'model-gateway/otel'", source('adapters/otel/otel.ts'))
        .replace("'model-gateway/search'", source('src/entries/search.ts'))
        .replace("'model-gateway'", source('src/index.ts'))
        .replace("'@opentelemetry/api'", source('node_modules/@opentelemetry/api/dist/index.mjs'))
        .replace(/import Keyv(?:Redis|Postgres) from .*\n/, '')
        .replace(/store: new Keyv(?:Redis|Postgres)\(.*\),/, 'store: undefined,');
      const file = join(folder, `config-${++loads}.mjs`);
      const env = JSON.stringify({ ...parseEnv(written('.env')), ...more });
      writeFileSync(file, text.replace('/** @type', `const process = { env: ${env} };\n/** @type`));
      return ((await import(/* @vite-ignore */ pathToFileURL(file).href)) as { default: GatewayOptions }).default;
    },
  };
}

/** What a provider was asked. */
export interface Sent {
  url: string;
  headers: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: of any dialect, for a test to look into
  body: any;
}

/** A gateway of imported options, whose providers are played. @param fails  tells which of them fail */
export function played(options: GatewayOptions, { fails = () => false, random }: Played = {}) {
  const sent: Sent[] = [];
  const gateway = createGateway({
    ...options,
    ...(random === undefined ? {} : { random }),
    retry: { ...options.retry, baseDelayMs: 0 },
    fetch: async (url, init) => {
      const headers = Object.fromEntries(new Headers(init?.headers).entries());
      const one = { url: String(url), headers, body: JSON.parse(String(init?.body)) };
      sent.push(one);
      if (fails(one)) return Response.json({ error: { message: 'down' } }, { status: 500 });
      return Response.json(answerOf(one.url));
    },
  });
  const [caller] = options.apiKeys ?? [];
  const key = caller?.key;
  return {
    sent,
    gateway,
    async ask(model: string | undefined, more: object = {}) {
      const response = await gateway.fetch(`http://gateway.test${options.basePath ?? '/v1'}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello' }], ...more }),
      });
      const json = await response.json();
      return { status: response.status, model: json.model, provider: json.provider, json };
    },
  };
}

interface Played {
  fails?: (sent: Sent) => boolean;
  random?: () => number;
}

/** A complete response in the dialect of an address. */
function answerOf(url: string): object {
  const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
  if (url.includes('/converse'))
    return {
      output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
      stopReason: 'end_turn',
      usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
    };
  if (url.includes(':generateContent'))
    return { candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }] };
  if (url.endsWith('/messages'))
    return {
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: 'Hi' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 3, output_tokens: 2 },
    };
  if (url.endsWith('/responses'))
    return {
      object: 'response',
      status: 'completed',
      output: [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] }],
    };
  return { choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }], usage };
}
