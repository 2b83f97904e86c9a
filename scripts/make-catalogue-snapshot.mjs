// Makes src/catalog/snapshot.ts of a list of models: `node scripts/make-catalogue-snapshot.mjs <sample-catalogue.json>`.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * @param {object[]} models  as the list has them: names in snake case, prices as decimals of USD per token
 * @returns {string} the text of the file
 */
export function makeSnapshot(models) {
  // What writes no text has no operation here.
  const kept = models.filter(({ output_modalities: modalities }) => modalities.includes('text'));
  const endpoints = kept.flatMap((model) => model.endpoints);
  const sources = new Map();
  for (const { source, as_of } of [...kept, ...endpoints]) {
    const dates = sources.get(source) ?? [];
    sources.set(source, [...dates, as_of]);
  }
  const origin = [...sources]
    .map(([source, dates]) => `${source} (${[...new Set(dates)].sort().join(', ')})`)
    .sort()
    .join('; ');
  const lines = kept.map((model) => `  ${JSON.stringify(modelOf(model))}`).join(',\n');
  if (/[`\\]|\$\{/.test(lines)) throw new Error('The list holds what a template would not keep as it is.');
  return [
    '/**',
    ` * ${kept.length} models with ${endpoints.length} endpoints, as the option \`models\` has them: JSON, a model a line. Made by`,
    ' * scripts/make-catalogue-snapshot.mjs, not by hand. Facts and list prices in USD per token, as published:',
    ...wrapped(origin).map((line) => ` * ${line}`),
    ' */',
    `export const snapshot = \`[\n${lines}\n]\`;`,
    '',
  ].join('\n');
}

function modelOf(model) {
  return {
    slug: model.slug,
    name: model.name,
    ...known({ contextLength: model.context_length }),
    inputModalities: model.input_modalities,
    outputModalities: model.output_modalities,
    supportedParameters: model.supported_parameters,
    endpoints: model.endpoints.map(endpointOf),
  };
}

/** Data policies are left out: those of the list are a router's own agreements. */
function endpointOf(endpoint) {
  return {
    provider: endpoint.provider,
    model: endpoint.model_id,
    ...known({
      contextLength: endpoint.context_length,
      maxCompletionTokens: endpoint.max_completion_tokens,
      quantization: endpoint.quantization,
      pricing: pricingOf(endpoint),
    }),
  };
}

function pricingOf({ pricing, pricing_above: above = [] }) {
  // A trial is no price: it ends, and then the bill would be a surprise.
  if (!(Number(pricing.prompt) > 0 && Number(pricing.completion) > 0)) return undefined;
  const prices = pricesOf(pricing);
  const longPrompts = above.map(({ above_tokens: abovePromptTokens, ...given }) => {
    const long = pricesOf(given);
    // What the list does not say of long prompts costs as much more as their other tokens do.
    if (prices.inputCacheWrite && !long.inputCacheWrite) {
      long.inputCacheWrite = scaled(prices.inputCacheWrite, long.prompt, prices.prompt);
    }
    return { abovePromptTokens, ...long };
  });
  return longPrompts.length > 0 ? { ...prices, longPrompts } : prices;
}

function pricesOf({ prompt, completion, input_cache_read, input_cache_write, request, image }) {
  return known({
    prompt,
    completion,
    inputCacheRead: input_cache_read,
    inputCacheWrite: input_cache_write,
    request,
    image,
  });
}

/** `price` x `numerator` / `denominator`, decimals all, rounded up to 1e-12. */
function scaled(price, numerator, denominator) {
  const divisor = pico(denominator);
  const value = (pico(price) * pico(numerator) + divisor - 1n) / divisor;
  return `0.${String(value).padStart(12, '0')}`.replace(/0+$/, '');
}

/** Below one USD, and no finer than a pico-USD. */
function pico(decimal) {
  const [, fraction] = /^0\.(\d{1,12})$/.exec(decimal) ?? [];
  if (fraction === undefined) throw new Error(`${decimal} is no price of a token`);
  return BigInt(fraction.padEnd(12, '0'));
}

function known(facts) {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== null && value !== undefined));
}

function wrapped(text) {
  return text.match(/.{1,110}(?:\s|$)/g).map((line) => line.trim());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const models = JSON.parse(readFileSync(process.argv[2], 'utf8'));
  const target = join(import.meta.dirname, '../src/catalog/snapshot.ts');
  writeFileSync(target, makeSnapshot(models));
}
