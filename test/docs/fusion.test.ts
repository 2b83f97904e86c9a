import { describe, expect, it } from 'vitest';
import type { Gateway } from '../../src/gateway.ts';
import { fusion } from '../../src/plugins/fusion/index.ts';
import { fusionSettings } from '../../src/plugins/fusion/settings.ts';
import { fusionGateway, wellDone } from '../support/fusion.ts';
import { examplesOf, writeExample } from './example-files.ts';
import { codeBlocks, quoted, readDoc, tableRows } from './markdown.ts';
import { membersOf } from './members.ts';

const path = 'docs/plugins/fusion.md';
const doc = readDoc(path);
const [asking = '', stage = ''] = codeBlocks(doc, 'json');
const names = (column: string) =>
  tableRows(doc)
    .filter(({ columns }) => columns[0] === column)
    .map(({ cells }) => quoted(cells[0] as string)[0]);

describe('docs/plugins/fusion.md', () => {
  it('shows a gateway that serves a fusion', async () => {
    const [example = '', ...others] = examplesOf(path);
    expect(others).toEqual([]);
    const { gateway } = (await import(/* @vite-ignore */ writeExample('fusion', example))) as { gateway: Gateway };
    const response = await gateway.fetch('http://in-process/v1/chat/completions', {
      method: 'POST',
      headers: { authorization: 'Bearer sk-change-me-please', 'content-type': 'application/json' },
      body: JSON.stringify({
        messages: [{ role: 'user', content: 'Hi' }],
        max_tokens: 20,
        plugins: [{ id: 'fusion', preset: 'general-fast' }],
        sandbox: { first_token_ms: 0, token_ms: 0 },
      }),
    });
    expect(response.status).toBe(200);
    await gateway.close();
  });
  it('shows a request and the stage that it leaves', async () => {
    const rename = (text: string) => text.replaceAll('oak', 'a').replaceAll('pine', 'b').replaceAll('elm', 'c');
    const request = JSON.parse(rename(asking));
    const { json } = await fusionGateway(wellDone).post(request, { 'x-service-metadata': 'enabled' });
    const { pipeline } = json.service_metadata as unknown as { pipeline: { data: { generations: object[] } }[] };
    const left = pipeline[0] as (typeof pipeline)[number];
    const shown = JSON.parse(rename(stage));
    expect(Object.keys(shown).sort()).toEqual(Object.keys(left).sort());
    expect(Object.keys(shown.data)).toEqual(Object.keys(left.data));
    expect(left.data.generations[0]).toEqual(shown.data.generations[0]);
  });
  it('has a row for every option and every field, with their defaults', () => {
    expect(names('Option')).toEqual(membersOf('src/plugins/fusion/settings.ts', 'FusionOptions'));
    expect(names('Field of a request')).toEqual([
      'analysis_models',
      'model',
      'preset',
      'tools',
      'max_tool_calls',
      'enabled',
    ]);
    const cell = (name: string) =>
      tableRows(doc).find(({ columns, cells }) => columns[0] === 'Option' && cells[0] === `\`${name}\``)?.cells[1];
    const settings = fusionSettings({});
    for (const name of ['concurrency', 'minAnswers', 'answerBytes', 'judgeMaxTokens'] as const)
      expect(cell(name)).toBe(settings[name].toLocaleString('en'));
    expect(quoted(cell('analysisModels') ?? '')).toEqual(settings.models.analysisModels);
  });
  it('is right that settings of the host app take the place of the built-in ones', async () => {
    const options = { plugins: [fusion({ analysisModels: ['acme/d'] })] };
    const tested = fusionGateway(wellDone, options);
    await tested.post({ messages: [{ role: 'user', content: 'Hi' }], plugins: [{ id: 'fusion' }] });
    expect(tested.upstream.sent.map(({ body }) => body.model)).toEqual(['d', 'd', 'd']);
    expect(() => fusionGateway(wellDone, { plugins: [fusion(), fusion()] })).toThrow('plugins[1].id');
  });
});
