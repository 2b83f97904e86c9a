import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { findFacts, fitToModel } from '../../../../src/catalog/model-facts/index.ts';
import type { Dialect } from '../../../../src/dialects/dialect.ts';
import { encodeFitted } from '../../../../src/dialects/fit/index.ts';
import type { ChatRequest } from '../../../../src/schema/chat/chat.ts';
import { dialects } from '../../../support/dialects.ts';

type Json = Record<string, unknown>;

/** Whoever serves a Claude: the dialect, the quirks, and the name that the model has there. */
const hosts: Record<string, { dialect: keyof typeof dialects; quirks?: object; named?: (model: string) => string }> = {
  anthropic: { dialect: 'anthropic-messages' },
  'google-vertex': { dialect: 'anthropic-messages', quirks: { host: 'vertex' }, named: (model) => `${model}@20260101` },
  'amazon-bedrock': { dialect: 'bedrock-converse', named: (model) => `us.anthropic.${model}-v1:0` },
  openrouter: { dialect: 'openai-chat', named: (model) => `anthropic/${model}` },
};

const models = [
  'claude-instant-v1',
  'claude-v2',
  'claude-2.1',
  'claude-3-haiku',
  'claude-3-5-sonnet',
  'claude-3-7-sonnet',
  'claude-opus-4',
  'claude-opus-4-1',
  'claude-sonnet-4-5',
  'claude-haiku-4-5',
  'claude-opus-4-6',
  'claude-sonnet-4-6',
  'claude-opus-4-7',
  'claude-opus-4-8',
  'claude-fable-5',
  'claude-sonnet-5',
  'claude-haiku-5-5',
  'claude-opus-5-5',
  'claude-next',
];

const samplings: readonly Partial<ChatRequest>[] = [
  { temperature: 0.2 },
  { temperature: 1 },
  { temperature: 1.5 },
  { top_p: 0.9 },
  { top_p: 0.97 },
  { top_p: 1 },
  { top_k: 5 },
  { temperature: 0.2, top_p: 0.9 },
  { temperature: 0.2, top_p: 0.97 },
  { temperature: 1, top_p: 0.97, top_k: 5 },
];
const thoughts: Record<string, Partial<ChatRequest>> = {
  plain: {},
  thinking: { reasoning: { effort: 'low' } },
  'not thinking': { reasoning: { enabled: false } },
};

const names = ['temperature', 'top_p', 'topP', 'top_k'] as const;

/** What of the sampling is sent, and what is listed as left out. */
function outcome(host: string, model: string, asked: Partial<ChatRequest>, isAlone: boolean): string {
  const { dialect: name, quirks = {}, named = (own: string) => own } = hosts[host] as (typeof hosts)[string];
  const dialect = dialects[name] as Dialect;
  const upstreamModel = named(model);
  const request: ChatRequest = { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 9_000, ...asked };
  const facts = isAlone ? null : findFacts(host, `anthropic/${model}`, upstreamModel);
  const fitted = facts === null ? { request, dropped: [] } : fitToModel(request, facts, name);
  const { body, dropped } = encodeFitted(dialect, { request: fitted.request, upstreamModel, quirks });
  const payload = JSON.parse(body) as Json;
  const places = [payload, payload.inferenceConfig ?? {}, payload.additionalModelRequestFields ?? {}] as Json[];
  const sent = names.flatMap((one) => places.flatMap((place) => (one in place ? [`${one}=${place[one]}`] : [])));
  const left = [...new Set([...fitted.dropped, ...dropped])].filter((one) =>
    (names as readonly string[]).includes(one),
  );
  return `${sent.join(' ') || 'nothing'}${left.length === 0 ? '' : `, without ${left.sort().join(' ')}`}`;
}

/** A table of all of it: for each request, the models by what becomes of it. */
function table(host: string, isAlone: boolean): string {
  const lines: string[] = [];
  for (const [how, thought] of Object.entries(thoughts))
    for (const sampling of samplings) {
      lines.push(`${how}: ${JSON.stringify(sampling)}`);
      const byOutcome = new Map<string, string[]>();
      for (const model of models) {
        const one = outcome(host, model, { ...thought, ...sampling }, isAlone);
        byOutcome.set(one, [...(byOutcome.get(one) ?? []), model.replace('claude-', '')]);
      }
      for (const [one, those] of byOutcome) lines.push(`  ${one}: ${those.join(', ')}`);
    }
  return lines.join('\n');
}

const golden = await readFile(new URL('claude-sampling.golden.txt', import.meta.url), 'utf8');

describe('the sampling of a Claude', () => {
  it.each(Object.keys(hosts))('is what it takes at %s', (host) => {
    expect(golden).toContain(`\n# ${host}\n${table(host, false)}\n`);
  });
  it.each(['anthropic', 'google-vertex', 'amazon-bedrock'])('is what it takes at %s, by the dialect alone', (host) => {
    expect(golden).toContain(`\n# ${host}, by the dialect alone\n${table(host, true)}\n`);
  });
});
