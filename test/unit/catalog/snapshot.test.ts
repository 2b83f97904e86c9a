import { readFileSync } from 'node:fs';
import { calcPrice } from '@pydantic/genai-prices';
import { describe, expect, it } from 'vitest';
import { snapshot } from '../../../src/catalog/snapshot.ts';
import { loadDialects } from '../../../src/dialects/index.ts';
import { listPrices } from '../../../src/pricing/list-prices.ts';
import { tokenPrices } from '../../../src/pricing/price.ts';
import { builtInProviders } from '../../../src/providers/index.ts';
import { defineProvider } from '../../../src/providers/provider.ts';
import { servableModels } from '../../../src/setup/models.ts';
import { catalogDocument, type ModelSettings } from '../../../src/setup/options/model.ts';
import { describeWithShared, sharedPath } from '../../support/reference.ts';

const given: ModelSettings[] = JSON.parse(snapshot);
/** As if every provider were known. */
const anyProvider = (slug: string) =>
  builtInProviders.find((provider) => provider.slug === slug) ??
  defineProvider({ ...(builtInProviders[0] as (typeof builtInProviders)[0]), slug });
await loadDialects();
const models = servableModels(given, anyProvider);
const endpoints = models.flatMap((model) => model.endpoints);

describe('the built-in models', () => {
  it('are what the option takes', () => {
    const parsed = catalogDocument().safeParse({ models: given });
    expect(parsed.error?.issues).toBe(undefined);
    expect(models.length).toBeGreaterThan(60);
    expect(endpoints.length).toBeGreaterThan(300);
  });
  it('have their providers’ data policies, not those of the list they were made of', () => {
    for (const { providerSlug, dataPolicy } of endpoints)
      expect(dataPolicy).toEqual(anyProvider(providerSlug).dataPolicy);
    expect(snapshot).not.toMatch(/zdr|dataPolicy|retention/i);
  });
  it('cost nothing nowhere: what is free for now has no price', () => {
    for (const { pricing } of endpoints) {
      if (pricing === null) continue;
      expect(pricing.promptPicoUsd).toBeGreaterThan(0);
      expect(pricing.completionPicoUsd).toBeGreaterThan(0);
    }
    const unknown = endpoints.filter(({ pricing }) => pricing === null);
    expect(unknown.filter(({ providerSlug }) => providerSlug === 'nvidia').length).toBeGreaterThan(5);
    expect(unknown.length).toBeLessThan(30);
  });
  it('charge no kind of token of a long prompt less than of a short one', () => {
    const long = endpoints.flatMap(({ pricing }) =>
      (pricing?.longPrompts ?? []).map((prices) => ({ pricing, prices })),
    );
    expect(long.length).toBeGreaterThan(10);
    for (const { pricing, prices } of long) {
      for (const kind of ['promptPicoUsd', 'completionPicoUsd', 'cacheReadPicoUsd', 'cacheWritePicoUsd'] as const) {
        if (pricing?.[kind] !== undefined) expect(prices[kind]).toBeGreaterThanOrEqual(pricing[kind]);
      }
    }
  });
  it('have a context beyond which no dearer price begins', () => {
    const list = listPrices(calcPrice);
    let seen = 0;
    for (const { modelSlug, providerSlug, upstreamModel, pricing, contextLength } of endpoints) {
      const known = pricing ?? list.find(providerSlug, upstreamModel, Date.UTC(2026, 10, 21));
      for (const { abovePromptTokens } of known?.longPrompts ?? []) {
        seen++;
        if (contextLength !== null)
          expect([modelSlug, providerSlug, contextLength > abovePromptTokens]).toEqual([modelSlug, providerSlug, true]);
      }
    }
    expect(seen).toBeGreaterThan(15);
  });
  it('cost as much as the list says that is built in, where both know them, and never less', () => {
    const list = listPrices(calcPrice);
    let same = 0;
    for (const { providerSlug, upstreamModel, pricing } of endpoints) {
      for (const nowMs of [2, 12].map((hour) => Date.UTC(2026, 10, 21, hour))) {
        const listed = list.find(providerSlug, upstreamModel, nowMs);
        if (!listed || !pricing) continue;
        const own = [pricing.promptPicoUsd, pricing.completionPicoUsd];
        const published = [listed.promptPicoUsd, listed.completionPicoUsd];
        expect(own.every((price, at) => price >= (published[at] as number))).toBe(true);
        // Nor does any kind of token, search or request cost less, with a prompt of any length.
        for (const start of (listed.longPrompts ?? []).map(({ abovePromptTokens }) => abovePromptTokens + 10))
          expect(tokenPrices(pricing, start).promptPicoUsd).toBeGreaterThanOrEqual(
            tokenPrices(listed, start).promptPicoUsd,
          );
        for (const kind of ['audioPicoUsd', 'cacheWriteHourPicoUsd', 'webSearchPicoUsd', 'requestPicoUsd'] as const)
          expect(pricing[kind] ?? 0).toBeGreaterThanOrEqual(listed[kind] ?? 0);
        if (own.join() === published.join()) same++;
      }
    }
    expect(same).toBeGreaterThanOrEqual(2 * 51);
  });
});

describeWithShared('the snapshot', () => {
  it('is what its script makes of the list', async () => {
    const { makeSnapshot } = await import('../../../scripts/make-catalogue-snapshot.ts');
    const list = JSON.parse(readFileSync(sharedPath('data/sample-catalogue.json'), 'utf8'));
    expect(await makeSnapshot(list)).toBe(
      readFileSync(new URL('../../../src/catalog/snapshot.ts', import.meta.url), 'utf8'),
    );
  });
});
