import { describe, expect, it } from 'vitest';
import { chatRequestSchema } from '../../../../src/schema/chat/chat.ts';
import { providerPreferencesSchema } from '../../../../src/schema/chat/preferences.ts';
import { validationIssues } from '../../../../src/schema/chat/validate.ts';

const messages = [{ role: 'user', content: 'Hello' }];

function issuesOf(provider: unknown) {
  const result = chatRequestSchema().safeParse({ messages, provider });
  return result.success ? [] : validationIssues(result.error);
}

const lists = ['order', 'only', 'ignore'].flatMap((field) => [
  { [field]: null },
  { [field]: [] },
  { [field]: ['openai', 'azure/eu'] },
]);
const flags = ['allow_fallbacks', 'require_parameters', 'zdr', 'enforce_distillable_text'].flatMap((field) => [
  { [field]: true },
  { [field]: false },
  { [field]: null },
]);
const cutoffs = ['preferred_min_throughput', 'preferred_max_latency'].flatMap((field) => [
  { [field]: null },
  { [field]: 0 },
  { [field]: 12.5 },
  { [field]: {} },
  { [field]: { p50: 1, p75: 2, p90: null, p99: 4 } },
]);

describe('provider preferences', () => {
  it.each<object>([
    {},
    ...lists,
    ...flags,
    ...cutoffs,
    { data_collection: 'allow' },
    { data_collection: 'deny' },
    { data_collection: null },
    { quantizations: null },
    { quantizations: ['int4', 'int8', 'fp4', 'fp6', 'fp8', 'fp16', 'bf16', 'fp32', 'unknown'] },
    { sort: null },
    { sort: 'price' },
    { sort: 'throughput' },
    { sort: 'latency' },
    { sort: 'exacto' },
    { sort: { by: 'price', partition: 'model' } },
    { sort: { by: null, partition: null } },
    { sort: { partition: 'none' } },
    { max_price: {} },
    { max_price: { prompt: '1.50', completion: '2', image: '0', audio: '.5', request: '1.' } },
    { max_price: { prompt: 1.5, completion: 0, image: 1e-7 } },
  ])('accept %j', (provider) => {
    expect(issuesOf(provider)).toEqual([]);
    expect(providerPreferencesSchema().parse(provider)).toEqual(provider);
  });

  it.each<[unknown, string, string]>([
    [{ foo: 1 }, 'provider.foo', 'unknown key "foo"'],
    [{ order: ['a'], 'allow-fallbacks': true }, 'provider.allow-fallbacks', 'unknown key "allow-fallbacks"'],
    [{ 'two words': 1 }, 'provider["two words"]', 'unknown key "two words"'],
    ['openai', 'provider', 'expected object'],
    [[], 'provider', 'expected object'],
    [{ order: 'openai' }, 'provider.order', 'expected array'],
    [{ only: [1] }, 'provider.only[0]', 'expected string'],
    [{ ignore: ['a', null] }, 'provider.ignore[1]', 'expected string'],
    [{ allow_fallbacks: 'no' }, 'provider.allow_fallbacks', 'expected boolean'],
    [{ zdr: 1 }, 'provider.zdr', 'expected boolean'],
    [{ data_collection: 'maybe' }, 'provider.data_collection', 'expected one of "allow", "deny"'],
    [
      { quantizations: ['int3'] },
      'provider.quantizations[0]',
      'expected one of "int4", "int8", "fp4", "fp6", "fp8", "fp16", "bf16", "fp32", "unknown"',
    ],
    [{ sort: 'cheapest' }, 'provider.sort', 'expected one of "price", "throughput", "latency", "exacto" or object'],
    [{ sort: { by: 'cheapest' } }, 'provider.sort.by', 'expected one of "price", "throughput", "latency", "exacto"'],
    [{ sort: { partition: 'all' } }, 'provider.sort.partition', 'expected one of "model", "none"'],
    [{ sort: { by: 'price', dir: 'asc' } }, 'provider.sort.dir', 'unknown key "dir"'],
    [{ max_price: null }, 'provider.max_price', 'expected object'],
    [{ max_price: { prompt: -1 } }, 'provider.max_price.prompt', 'expected at least 0'],
    [{ max_price: { prompt: '-1' } }, 'provider.max_price.prompt', 'expected a decimal number such as "0.5"'],
    [{ max_price: { prompt: '1e3' } }, 'provider.max_price.prompt', 'expected a decimal number such as "0.5"'],
    [{ max_price: { prompt: '' } }, 'provider.max_price.prompt', 'expected a decimal number such as "0.5"'],
    [{ max_price: { prompt: '.' } }, 'provider.max_price.prompt', 'expected a decimal number such as "0.5"'],
    [{ max_price: { prompt: '9'.repeat(41) } }, 'provider.max_price.prompt', 'expected at most 40 characters'],
    [{ max_price: { prompt: null } }, 'provider.max_price.prompt', 'expected string or number'],
    [{ max_price: { completions: 2 } }, 'provider.max_price.completions', 'unknown key "completions"'],
    [{ preferred_max_latency: '1' }, 'provider.preferred_max_latency', 'expected number or object'],
    [{ preferred_max_latency: -1 }, 'provider.preferred_max_latency', 'expected at least 0'],
    [{ preferred_min_throughput: { p50: 'x' } }, 'provider.preferred_min_throughput.p50', 'expected number'],
    [{ preferred_min_throughput: { p42: 1 } }, 'provider.preferred_min_throughput.p42', 'unknown key "p42"'],
  ])('refuse %j', (provider, path, message) => {
    expect(issuesOf(provider)).toEqual([{ path, message }]);
  });

  it('name every unknown key', () => {
    expect(issuesOf({ foo: 1, bar: 2 }).map(({ path }) => path)).toEqual(['provider.foo', 'provider.bar']);
  });
});
