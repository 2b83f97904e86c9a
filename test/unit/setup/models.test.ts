import { describe, expect, it } from 'vitest';
import type { Endpoint, Model } from '../../../src/call/model.ts';
import { builtInProviders } from '../../../src/providers/index.ts';
import type { Provider } from '../../../src/providers/provider.ts';
import { validationIssues } from '../../../src/schema/chat/validate.ts';
import { configureModels, servableModels } from '../../../src/setup/models.ts';
import { modelOptions } from '../../../src/setup/options/model.ts';
import { SettingsError } from '../../../src/setup/providers.ts';

const up: Provider = {
  ...(builtInProviders[0] as Provider),
  slug: 'up',
  dataPolicy: { zeroRetention: true, trains: null },
};
await up.dialect.load?.();
const provider = (slug: string) => (slug === 'up' ? up : null);
const endpoint = { provider: 'up', model: 'fast' };
const model = { slug: 'acme/fast', endpoints: [endpoint] };

const configured = (given: object) =>
  configureModels([modelOptions().parse({ ...model, ...given })], provider)[0] as Model;
const atEndpoint = (given: object) => configured({ endpoints: [{ ...endpoint, ...given }] }).endpoints[0] as Endpoint;

describe('an option of a model', () => {
  it('is unknown where it is left out', () => {
    expect(configured({})).toEqual({
      slug: 'acme/fast',
      name: 'acme/fast',
      order: 'listed',
      endpoints: [
        {
          modelSlug: 'acme/fast',
          providerSlug: 'up',
          tag: 'up',
          upstreamModel: 'fast',
          pricing: null,
          contextLength: null,
          maxCompletionTokens: null,
          quantization: null,
          supportedParameters: null,
          dataPolicy: { zeroRetention: true, trains: null },
        },
      ],
    });
  });
  it.each<[string, object, Partial<Model>]>([
    ['slug', { slug: 'acme/fast:free' }, { slug: 'acme/fast:free', name: 'acme/fast:free' }],
    ['name', { name: 'Fast' }, { name: 'Fast' }],
    ['order', { order: 'price' }, { order: undefined }],
    ['description', { description: 'Fast.' }, { description: 'Fast.' }],
    ['created, as a date', { created: '2026-11-21' }, { created: 1_795_219_200 }],
    ['created, as a moment', { created: '2026-11-21T02:00:00.9+02:00' }, { created: 1_795_219_200 }],
    ['created, as Unix seconds', { created: 1_795_219_200 }, { created: 1_795_219_200 }],
    ['contextLength', { contextLength: 8_000 }, { contextLength: 8_000 }],
    ['inputModalities', { inputModalities: ['text', 'file'] }, { inputModalities: ['text', 'file'] }],
    ['outputModalities', { outputModalities: ['image'] }, { outputModalities: ['image'] }],
    ['distillable', { distillable: true }, { isDistillable: true }],
    ['family', { family: 'fast' }, { family: 'fast' }],
    ['quality', { quality: 0.25 }, { quality: 0.25 }],
    ['huggingFaceId', { huggingFaceId: 'acme/Fast-1' }, { huggingFaceId: 'acme/Fast-1' }],
    ['knowledgeCutoff', { knowledgeCutoff: '2026-01-31' }, { knowledgeCutoff: '2026-01-31' }],
    ['expirationDate', { expirationDate: '2027-01-31' }, { expirationDate: '2027-01-31' }],
  ])('is kept: %s', (_, given, expected) => {
    expect(configured(given)).toMatchObject(expected);
  });
  it('holds for the endpoints that do not say otherwise: supportedParameters', () => {
    const endpoints = [
      endpoint,
      { ...endpoint, supportedParameters: ['seed'] },
      { ...endpoint, supportedParameters: [] },
    ];
    const found = configured({ supportedParameters: ['tools'], endpoints }).endpoints;
    expect(found.map(({ supportedParameters }) => supportedParameters)).toEqual([['tools'], ['seed'], []]);
  });
  it.each<[object, string]>([
    [{ slug: 'fast' }, 'slug: expected author/model'],
    [{ created: '21.11.2026' }, 'created: expected an ISO 8601 date or Unix seconds'],
    [{ created: '2026-02-40' }, 'created: expected an ISO 8601 date or Unix seconds'],
    [{ created: -1 }, 'created: expected an ISO 8601 date or Unix seconds'],
    [{ contextLength: 0 }, 'contextLength: expected at least 1'],
    [{ inputModalities: ['smell'] }, 'inputModalities[0]: expected one of "text", "image", "file", "audio", "video"'],
    [{ inputModalities: [] }, 'inputModalities: expected at least 1 item'],
    [{ quality: 1.1 }, 'quality: expected at most 1'],
    [{ huggingFaceId: 'fast' }, 'huggingFaceId: expected owner/name'],
    [{ knowledgeCutoff: '2026' }, 'knowledgeCutoff: expected a date such as 2026-11-21'],
    [{ expirationDate: '2026-13-01' }, 'expirationDate: expected a date such as 2026-11-21'],
    [{ family: 'Fast ones' }, 'family: expected a slug: lower-case letters, digits, single hyphens or dots'],
    [
      { endpoints: [{ ...endpoint, serviceTier: 'slow' }] },
      'endpoints[0].serviceTier: expected one of "flex", "priority"',
    ],
    [{ endpoints: [{ ...endpoint, disabled: 'yes' }] }, 'endpoints[0].disabled: expected boolean'],
    [{ endpoints: [{ ...endpoint, maxPromptTokens: 0 }] }, 'endpoints[0].maxPromptTokens: expected at least 1'],
    [{ colour: 'red' }, 'colour: unknown key "colour"'],
  ])('is a mistake: %j', (given, expected) => {
    const parsed = modelOptions().safeParse({ ...model, ...given });
    const issues = parsed.success ? [] : validationIssues(parsed.error);
    expect(issues.map(({ path, message }) => `${path}: ${message}`)).toEqual([expected]);
  });
});

describe('an option of an endpoint', () => {
  it.each<[string, object, Partial<Endpoint>]>([
    ['variant', { variant: 'turbo' }, { tag: 'up/turbo' }],
    ['contextLength', { contextLength: 8_000 }, { contextLength: 8_000 }],
    ['maxPromptTokens', { maxPromptTokens: 7_000 }, { maxPromptTokens: 7_000 }],
    ['maxCompletionTokens', { maxCompletionTokens: 1_000 }, { maxCompletionTokens: 1_000 }],
    ['quantization', { quantization: 'fp8' }, { quantization: 'fp8' }],
    ['serviceTier', { variant: 'slow', serviceTier: 'flex' }, { tag: 'up/slow', serviceTier: 'flex' }],
    ['serviceTier, by a variant of its name', { variant: 'flex' }, { tag: 'up/flex', serviceTier: 'flex' }],
    ['serviceTier, by the other', { variant: 'priority' }, { tag: 'up/priority', serviceTier: 'priority' }],
    ['serviceTier, against a variant', { variant: 'flex', serviceTier: 'priority' }, { serviceTier: 'priority' }],
    ['no serviceTier by another variant', { variant: 'turbo' }, { serviceTier: undefined }],
    ['implicitCaching', { implicitCaching: true }, { implicitCaching: true }],
    ['disabled', { disabled: true }, { isDisabled: true }],
    ['dataPolicy', { dataPolicy: { trains: true } }, { dataPolicy: { zeroRetention: null, trains: true } }],
    [
      'pricing',
      { pricing: { prompt: '0.000002', completion: 0 } },
      { pricing: { promptPicoUsd: 2_000_000, completionPicoUsd: 0 } },
    ],
  ])('is kept: %s', (_, given, expected) => {
    expect(atEndpoint(given)).toMatchObject(expected);
  });
});

describe('a list of models', () => {
  const parsed = (...given: object[]) => given.map((one) => modelOptions().parse({ ...model, ...one }));

  it.each([configureModels, servableModels])('names each once: %o', (configure) => {
    const thrown = () => configure(parsed({}, { slug: 'acme/slow' }, {}), provider);
    expect(thrown).toThrow(SettingsError);
    expect(thrown).toThrow(expect.objectContaining({ path: 'models[2].slug' }));
  });
  it('of the options has only providers that are set up', () => {
    const thrown = () =>
      configureModels(parsed({}, { slug: 'acme/b', endpoints: [endpoint, { provider: 'x', model: 'y' }] }), provider);
    expect(thrown).toThrow(expect.objectContaining({ path: 'models[1].endpoints[1].provider' }));
  });
  it('that is shared leaves out endpoints at others, and models that have no other', () => {
    const elsewhere = { provider: 'x', model: 'y' };
    const models = servableModels(
      parsed({ endpoints: [elsewhere, endpoint] }, { slug: 'acme/gone', endpoints: [elsewhere] }),
      provider,
    );
    expect(models.map(({ slug, endpoints }) => [slug, ...endpoints.map(({ tag }) => tag)])).toEqual([
      ['acme/fast', 'up'],
    ]);
  });
});
