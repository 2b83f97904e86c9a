import type { GenerationRecord, Recorder, RequestRecord } from '../../src/index.ts';
import type { OtelAttributes, OtelMeter } from './api.ts';
import { type AttemptTrace, billedOf, errorOf } from './attributes.ts';
import { type ConventionVersion, names, operationNameOf, providerNameOf, tokenCounters } from './names.ts';

/** Buckets of the conventions, for durations in seconds. */
const seconds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
/** Buckets of the conventions, for seconds until the first token. */
const secondsOfFirst = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];
/** Buckets of the conventions, for seconds of one token. */
const secondsOfToken = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5];
/** Buckets of the conventions, for tokens. */
const tokens = Array.from({ length: 14 }, (_, power) => 4 ** power);

/** The most records that wait. */
const mostWaiting = 32;

/**
 * Measures finished records. No label names a key, a user or a session: their number has no bound. Records wait until
 * metrics are collected, or until they are many, and are then measured one after the other, so that the SDK's code runs
 * from the processor's caches.
 */
export function createMetrics(meter: OtelMeter, version: ConventionVersion): Recorder {
  const measureRequest = requestMeasures(meter);
  const measureCall = callMeasures(meter, version);
  let waiting: RequestRecord[] = [];

  function measureWaiting(): void {
    const records = waiting;
    waiting = [];
    for (const record of records) {
      try {
        measureRequest(record);
        for (const generation of record.generations)
          for (const attempt of generation.attempts) measureCall(record, generation, attempt);
      } catch {
        // Telemetry fails open: the other records are measured.
      }
    }
  }

  // The SDK asks for what is observed before it collects what was recorded. This gauge is never observed, and so never
  // exported.
  meter.addBatchObservableCallback(measureWaiting, [meter.createObservableGauge('gateway.collecting', {})]);
  return (record) => {
    if (waiting.push(record) === mostWaiting) measureWaiting();
  };
}

/** Measures the gateway for its own clients: once for each of their calls. */
function requestMeasures(meter: OtelMeter): Recorder {
  const histogram = (name: string, description: string, buckets: number[]) =>
    meter.createHistogram(name, { unit: 's', description, advice: { explicitBucketBoundaries: buckets } });
  const duration = histogram('gen_ai.server.request.duration', 'Time of a request', seconds);
  const firstToken = histogram('gen_ai.server.time_to_first_token', 'Time to the first token', secondsOfFirst);
  const perToken = histogram('gen_ai.server.time_per_output_token', 'Time of each further token', secondsOfToken);
  const cost = meter.createCounter('gateway.cost', { unit: 'nUSD', description: 'What was booked' });

  return (record) => {
    const { firstMs, totalMs, streamed, usage, costNanoUsd } = record;
    const labels = requestLabels(record);
    duration.record(totalMs / 1000, labels);
    if (costNanoUsd) cost.add(costNanoUsd, labels);
    if (!streamed || firstMs === null) return;
    firstToken.record(firstMs / 1000, labels);
    const tokensAfterFirst = (usage?.completion_tokens ?? 0) - 1;
    if (tokensAfterFirst > 0) perToken.record(Math.max(0, totalMs - firstMs) / 1000 / tokensAfterFirst, labels);
  };
}

/**
 * The one label of all models that no catalogue knows. A client may name any model, and each would be a series of its
 * own. The SDK gives the first 2,000 series a place, whichever they are.
 */
const otherModel = '_other';

/** The client's slug is no label: it may be any text. */
function requestLabels({ operation, outcome, model, error, attempts }: RequestRecord): OtelAttributes {
  const labels: OtelAttributes = { 'gateway.outcome': outcome, 'gen_ai.operation.name': operationNameOf(operation) };
  const slug = attempts.at(-1)?.providerSlug;
  if (slug !== undefined) labels['gen_ai.provider.name'] = providerNameOf(slug);
  if (model !== null) {
    const isOther = attempts.some((one) => one.model === model && one.isPassThrough === true);
    labels['gen_ai.response.model'] = isOther ? otherModel : model;
  }
  if (error !== null) labels['error.type'] = error.type;
  return labels;
}

/** Measures providers for the gateway, their client: once for each attempt. */
function callMeasures(
  meter: OtelMeter,
  version: ConventionVersion,
): (record: RequestRecord, generation: GenerationRecord, attempt: AttemptTrace) => void {
  const histogram = (name: string, description: string) =>
    meter.createHistogram(name, { unit: 's', description, advice: { explicitBucketBoundaries: seconds } });
  const duration = histogram(names[version].duration, 'Time of an attempt');
  const firstChunk = histogram(names[version].firstChunk, 'Time of an attempt to its first token');
  const countTokens = tokenCounter(meter, version);

  return (record, generation, attempt) => {
    const billed = billedOf(generation, attempt);
    const labels = callLabels(record.operation, attempt, errorOf(attempt, billed));
    const endedAtMs = billed?.times.endedAtMs ?? attempt.decidedAtMs;
    duration.record((endedAtMs - attempt.startedAtMs) / 1000, labels);
    if (billed === null) return;
    if (record.streamed) firstChunk.record((attempt.decidedAtMs - attempt.startedAtMs) / 1000, labels);
    countTokens(billed, labels);
  };
}

function callLabels(
  operation: string,
  { providerSlug, endpoint, model, isPassThrough }: AttemptTrace,
  error: string | null,
): OtelAttributes {
  const labels: OtelAttributes = {
    'gen_ai.operation.name': operationNameOf(operation),
    'gen_ai.provider.name': providerNameOf(providerSlug),
    'gen_ai.request.model': isPassThrough === true ? otherModel : model,
    'gateway.endpoint': endpoint,
  };
  if (error !== null) labels['error.type'] = error;
  return labels;
}

function tokenCounter(
  meter: OtelMeter,
  version: ConventionVersion,
): (billed: GenerationRecord, labels: OtelAttributes) => void {
  const advice = { explicitBucketBoundaries: tokens };
  const histogram = (name: string, description: string) =>
    meter.createHistogram(name, { unit: '{token}', description, advice });
  if (version === '1.41') {
    const used = histogram('gen_ai.client.token.usage', 'Tokens of an attempt, by type');
    return ({ usage }, labels) => {
      used.record(usage?.prompt_tokens ?? 0, { ...labels, 'gen_ai.token.type': 'input' });
      used.record(usage?.completion_tokens ?? 0, { ...labels, 'gen_ai.token.type': 'output' });
    };
  }
  const input = histogram(tokenCounters.ofCall.input, 'Tokens of a prompt');
  const output = histogram(tokenCounters.ofCall.output, 'Tokens of a response');
  const counters = tokenCounters.sums.map(
    ([name, of]) =>
      [meter.createCounter(name, { unit: '{token}', description: 'Tokens of all attempts' }), of] as const,
  );
  return ({ usage }, labels) => {
    input.record(usage?.prompt_tokens ?? 0, labels);
    output.record(usage?.completion_tokens ?? 0, labels);
    const withModality = { ...labels, 'gen_ai.token.modality': 'unknown' };
    for (const [counter, of] of counters) {
      const count = usage === null ? 0 : of(usage);
      if (count) counter.add(count, withModality);
    }
  };
}
