import 're2js';
import { describe, expect, it } from 'vitest';
import type { Gateway } from '../../src/gateway.ts';
import { builtinPatterns } from '../../src/guardrails/builtin/index.ts';
import { textGuardrailDefaults } from '../../src/guardrails/text-guardrail.ts';
import { createGuardrailSchema } from '../../src/schema/tenants/guardrail.ts';
import { examplesOf, writeExample } from './example-files.ts';
import { quoted, readDoc, tableRows } from './markdown.ts';
import { settingsIn, settingsOf } from './plugin-page.ts';

const path = 'docs/guardrails.md';
const [acting = '', restoring = '', ...others] = examplesOf(path);
const shown = async (name: string, code: string): Promise<Gateway> =>
  (await import(/* @vite-ignore */ writeExample(`guardrails-${name}`, code))).gateway;
const first = (column: string) =>
  tableRows(readDoc(path))
    .filter(({ columns }) => columns[0] === column)
    .map(({ cells: [name = '', value = ''] }) => [quoted(name)[0], quoted(value)[0]]);

describe(path, () => {
  it('shows guardrails that act', async () => {
    expect(others).toEqual([]);
    const gateway = await shown('acting', acting);
    const ask = async (content: string) => {
      const response = await gateway.fetch('http://in-process/v1/chat/completions', {
        method: 'POST',
        headers: { authorization: 'Bearer sk-change-me-please', 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'sandbox/echo', messages: [{ role: 'user', content }] }),
      });
      const { choices, error } = (await response.json()) as {
        choices?: { message: { content: string } }[];
        error?: { metadata: { patterns: string[] } };
      };
      return choices?.[0]?.message.content ?? error?.metadata.patterns;
    };
    expect(await ask('EMP-123456 is bob@example.com.')).toBe('[REDACTED:employee-number] is [REDACTED:email].');
    expect(await ask('What is Bluebird?')).toEqual(['project-name']);
    expect(await ask('Pay with 4111 1111 1111 1111')).toEqual(['credit-card']);
    await gateway.close();
  });
  it('shows a guardrail whose texts come back', async () => {
    const gateway = await shown('restoring', restoring);
    const response = await gateway.fetch('http://in-process/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: 'Bearer sk-change-me-please', 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'sandbox/echo',
        messages: [{ role: 'user', content: 'Is bob@example.com yours?' }],
      }),
    });
    const { choices } = (await response.json()) as { choices: { message: { content: string } }[] };
    expect(choices[0]?.message.content).toBe('Is bob@example.com yours?');
    await gateway.close();
  });
  it('has a row for every built-in pattern', () => {
    expect(first('Built-in pattern').map(([name]) => name)).toEqual(Object.keys(builtinPatterns));
  });
  it('has a row for every setting, with its default', () => {
    const defaults = new Map(settingsOf(textGuardrailDefaults).map(([name, value]) => [name, value]));
    const told = settingsIn(path);
    expect(told.map(([name]) => name)).toEqual([
      'id',
      'patterns',
      'name',
      'scope',
      'appliesTo',
      'maxChars',
      'maxSteps',
      'maxWorkMs',
    ]);
    for (const [name, value] of told) if (defaults.has(name)) expect([name, value]).toEqual([name, defaults.get(name)]);
  });
  it('has a row for every field', () => {
    const known = Object.keys(createGuardrailSchema().shape);
    expect(
      first('Field')
        .map(([name]) => name)
        .toSorted(),
    ).toEqual(known.toSorted());
  });
});
