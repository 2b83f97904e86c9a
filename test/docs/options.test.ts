import { describe, expect, it } from 'vitest';
import { everyOption, optionPages } from '../../scripts/option-tables.ts';
import { createGateway } from '../../src/gateway.ts';
import { OptionsError } from '../../src/options.ts';
import { newApiKeySchema } from '../../src/schema/tenants/api-key.ts';
import { quoted, readDoc, tableRows } from './markdown.ts';
import { membersOf } from './members.ts';

const rows = optionPages.flatMap((name) => tableRows(readDoc(`docs/${name}.md`)));

/** Path to type and default, as documented. A section that is in two places is listed under both. */
const documented = rows
  .filter(({ columns }) => columns[0] === 'Option')
  .flatMap(({ headings, cells }) => {
    const section = headings.at(-1) as string;
    const [name = '', type = '', preset = '', meaning = ''] = cells;
    return (section === 'Top level' ? [''] : quoted(section)).map((prefix) => {
      const inside = prefix === '' ? '' : `${prefix}.`;
      return { path: inside + quoted(name)[0], type, preset, meaning };
    });
  });

describe('docs/options.md', () => {
  const options = everyOption();

  it('is compared with a schema that was walked to its leaves', () => {
    const paths = options.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(['openai-chat.dropParams', 'keepAlive.everyMs']));
    expect(paths).toContain('models[].endpoints[].pricing.internalReasoning');
    expect(paths.length).toBeGreaterThan(70);
  });
  it('has a row for every option, each once, and no other', () => {
    expect(documented.map(({ path }) => path).sort()).toEqual(options.map(({ path }) => path).sort());
  });
  it.each(options)('has the type and the default of $path', ({ path, type, isRequired, isSection, ...option }) => {
    const row = documented.find((one) => one.path === path);
    if (type !== null) expect(row?.type).toBe(type);
    expect([row?.type, row?.preset, row?.meaning]).not.toContain('');
    expect(row?.preset === 'required').toBe(isRequired);
    // The defaults of a section are those of its options.
    if (option.default !== undefined && !(isSection && option.default === '{}' && path !== 'providers')) {
      expect(row?.preset).toBe(`\`${option.default}\``);
    }
  });
  it('has a row for every field of a record, of its generations and attempts, and of a caller', () => {
    const fields = (column: string, of: string) =>
      rows
        .filter(({ columns, headings }) => columns[0] === column && headings.includes(of))
        .map(({ cells }) => quoted(cells[0] as string)[0]);
    expect(fields('Field', 'Fields of records')).toEqual(membersOf('src/telemetry/record.ts', 'RequestRecord'));
    expect(fields('Field of a generation', 'Fields of records')).toEqual(
      membersOf('src/telemetry/record.ts', 'GenerationRecord'),
    );
    expect(fields('Field of an operation', 'Fields of records')).toEqual(
      membersOf('src/telemetry/record.ts', 'OperationRecord'),
    );
    expect(fields('Field of an attempt', 'Fields of records')).toEqual(membersOf('src/call/trace.ts', 'AttemptTrace'));
    const meaning = (name: string) => rows.find(({ cells }) => cells[0] === `\`${name}\``)?.cells[2] as string;
    expect(quoted(meaning('times'))).toEqual(membersOf('src/call/generation.ts', 'GenerationTimes'));
    expect(quoted(meaning('costParts'))).toEqual([
      ...membersOf('src/call/generation.ts', 'CostParts'),
      ...membersOf('src/call/generation.ts', 'CostKinds'),
    ]);
    expect(fields('Field', 'Your own users')).toEqual(membersOf('src/http/host-caller.ts', 'HostCaller'));
  });
  it('has a row for every method of gateway.apiKeys, and what a new key is made of', () => {
    const methods = rows.filter(({ columns }) => columns[0] === 'Method').map(({ cells }) => cells[0] as string);
    const names = methods.map((method) => /^`(\w+)\(/.exec(method)?.[1]);
    expect(names.sort()).toEqual(membersOf('src/stores/api-keys/host-api-keys.ts', 'ApiKeys').sort());
    const made = methods.find((method) => method.startsWith('`create('));
    expect(made).toBe(`\`create({ ${Object.keys(newApiKeySchema().shape).join(', ')} })\``);
    const defaults = Object.values(newApiKeySchema().parse({})).filter((value) => value !== null);
    const answers = rows.find(({ cells }) => cells[0] === made)?.cells[1];
    for (const value of defaults) expect(answers).toContain(`\`${JSON.stringify(value)}\``);
  });
});

describe('a mistake in the options', () => {
  const apiKeys = [{ key: 'sk-test-inference' }];
  it.each<[string, object, string]>([
    ['an unknown option', { apiKeys, colour: 'red-secret' }, 'colour'],
    [
      'an unknown option of a provider',
      { apiKeys, providers: { openai: { apikey: 'red-secret' } } },
      'providers.openai.apikey',
    ],
    ['a wrong type', { apiKeys, providers: { openai: { apiKey: 5 } } }, 'providers.openai.apiKey'],
    ['what is no URL', { apiKeys, providers: { mine: { baseUrl: 'red-secret' } } }, 'providers.mine.baseUrl'],
    ['an unknown provider without an address', { apiKeys, providers: { mine: {} } }, 'providers.mine.baseUrl'],
    ['a number out of range', { apiKeys, retry: { maxAttempts: 51 } }, 'retry.maxAttempts'],
    ['nobody who could call', { providers: { sandbox: {} } }, 'apiKeys'],
  ])('%s is an OptionsError that names it and shows no value', (_, options, path) => {
    const error = thrownBy(() => createGateway(options));
    expect(error).toBeInstanceOf(OptionsError);
    expect((error as OptionsError).issues.map((issue) => issue.path)).toEqual([path]);
    expect((error as OptionsError).message).toContain(path);
    expect((error as OptionsError).message).not.toContain('red-secret');
  });
  it('is reported together with the others', () => {
    const error = thrownBy(() => createGateway({ apiKeys: [{ key: 'short' }], limits: { depth: 0 } }));
    expect((error as OptionsError).issues.map((issue) => issue.path).sort()).toEqual([
      'apiKeys[0].key',
      'limits.depth',
    ]);
  });
});

function thrownBy(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('Nothing was thrown');
}
