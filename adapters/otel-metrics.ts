import type { Recorder } from '../src/index.ts';
import type { OtelAttributes, OtelMeter } from './otel-api.ts';
import { type ConventionVersion, names, tokenCounters } from './otel-names.ts';

/** Buckets of the conventions, for durations in seconds. */
const seconds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
/** Buckets of the conventions, for seconds of one token. */
const secondsOfToken = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5];
/** Buckets of the conventions, for tokens. */
const tokens = Array.from({ length: 14 }, (_, power) => 4 ** power);

/** Measures finished records. No label names a key, a user or a session: their number has no bound. */
export function createMetrics(meter: OtelMeter, version: ConventionVersion): Recorder {
  const inSeconds = { unit: 's', advice: { explicitBucketBoundaries: seconds } };
  const duration = meter.createHistogram(names[version].duration, inSeconds);
  const firstChunk = meter.createHistogram(names[version].firstChunk, inSeconds);
  const perToken = meter.createHistogram('gen_ai.server.time_per_output_token', {
    unit: 's',
    advice: { explicitBucketBoundaries: secondsOfToken },
  });
  const cost = meter.createCounter('gateway.cost', { unit: 'nUSD', description: 'What was booked' });
  const countTokens = tokenCounter(meter, version);

  return (record) => {
    // The client's slug is no label: it may be any text. The model that served is one of the catalogue.
    const labels: OtelAttributes = {
      'gen_ai.operation.name': 'chat',
      'gateway.outcome': record.outcome,
      ...(record.model !== null && { 'gen_ai.response.model': record.model }),
      ...(record.error !== null && { 'error.type': record.error.type }),
    };
    duration.record(record.totalMs / 1000, labels);
    if (record.firstMs !== null) firstChunk.record(record.firstMs / 1000, labels);
    const tokensAfterFirst = (record.usage?.completion_tokens ?? 0) - 1;
    if (record.streamed && record.firstMs !== null && tokensAfterFirst > 0)
      perToken.record((record.totalMs - record.firstMs) / 1000 / tokensAfterFirst, labels);
    if (record.costNanoUsd) cost.add(record.costNanoUsd, labels);
    if (record.usage) countTokens(record.usage.prompt_tokens, record.usage.completion_tokens, labels);
  };
}

function tokenCounter(meter: OtelMeter, version: ConventionVersion) {
  if (version === 'latest') {
    const input = meter.createCounter(tokenCounters.input, { unit: '{token}' });
    const output = meter.createCounter(tokenCounters.output, { unit: '{token}' });
    return (read: number, written: number, labels: OtelAttributes) => {
      input.add(read, { ...labels, 'gen_ai.token.modality': 'unknown' });
      output.add(written, { ...labels, 'gen_ai.token.modality': 'unknown' });
    };
  }
  const advice = { explicitBucketBoundaries: tokens };
  const usage = meter.createHistogram('gen_ai.client.token.usage', { unit: '{token}', advice });
  return (read: number, written: number, labels: OtelAttributes) => {
    usage.record(read, { ...labels, 'gen_ai.token.type': 'input' });
    usage.record(written, { ...labels, 'gen_ai.token.type': 'output' });
  };
}
