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

/** The most values that wait. */
const mostWaiting = 256;
/** The most sets of labels that are kept. They come from catalogues, so only one that changes all the time has more. */
const mostLabels = 4_000;

/**
 * Measures finished records. No label names a key, a user or a session: their number has no bound. A record is read at
 * once, while it is in the processor's caches, and its values wait until metrics are collected, or until they are many.
 * They are then given to the SDK one after the other, so that its code runs from the caches too. What is only added up
 * is added up here: each value costs the SDK a text of all its labels.
 */
export function createMetrics(meter: OtelMeter, version: ConventionVersion): Recorder {
  const waiting = new WaitingValues();
  const measureRequest = requestMeasures(meter, waiting);
  const measureCall = callMeasures(meter, version, waiting);

  // The SDK asks for what is observed before it collects what was recorded. This gauge is never observed, and so never
  // exported.
  meter.addBatchObservableCallback(() => waiting.give(), [meter.createObservableGauge('gateway.collecting', {})]);
  return (record) => {
    measureRequest(record);
    for (const generation of record.generations)
      for (const attempt of generation.attempts) measureCall(record, generation, attempt);
  };
}

type Histogram = ReturnType<OtelMeter['createHistogram']>;
type Counter = ReturnType<OtelMeter['createCounter']>;

/** Values that the SDK does not have yet. Of what they are of, only labels are kept, which other values share. */
class WaitingValues {
  readonly #histograms: Histogram[] = [];
  readonly #values = new Float64Array(mostWaiting);
  readonly #labels: OtelAttributes[] = [];
  #count = 0;
  readonly #sums: WaitingSums[] = [];

  /** Adds a value of a histogram. */
  add(histogram: Histogram, value: number, labels: OtelAttributes): void {
    const at = this.#count++;
    this.#histograms[at] = histogram;
    this.#values[at] = value;
    this.#labels[at] = labels;
    if (this.#count === mostWaiting) this.give();
  }

  /** @returns what adds to the counter */
  sumsOf(counter: Counter): WaitingSums {
    const sums = new WaitingSums(counter);
    this.#sums.push(sums);
    return sums;
  }

  /** Gives all of them to the SDK. */
  give(): void {
    const count = this.#count;
    this.#count = 0;
    for (let at = 0; at < count; at++) {
      try {
        this.#histograms[at]?.record(this.#values[at] as number, this.#labels[at] as OtelAttributes);
      } catch {
        // Telemetry fails open: the other values are measured.
      }
    }
    for (const sums of this.#sums) sums.give();
  }
}

/**
 * Sums that a counter does not have yet: one for all values with the same labels. As each record has a value of a
 * histogram too, there are at most as many sums as values that wait.
 */
class WaitingSums {
  readonly #counter: Counter;
  readonly #byLabels = new Map<OtelAttributes, number>();

  constructor(counter: Counter) {
    this.#counter = counter;
  }

  add(value: number, labels: OtelAttributes): void {
    this.#byLabels.set(labels, (this.#byLabels.get(labels) ?? 0) + value);
  }

  give(): void {
    for (const [labels, sum] of this.#byLabels) {
      this.#byLabels.delete(labels);
      try {
        this.#counter.add(sum, labels);
      } catch {
        // Telemetry fails open: the other sums are counted.
      }
    }
  }
}

/** Measures the gateway for its own clients: once for each of their calls. */
function requestMeasures(meter: OtelMeter, waiting: WaitingValues): Recorder {
  const histogram = (name: string, description: string, buckets: number[]) =>
    meter.createHistogram(name, { unit: 's', description, advice: { explicitBucketBoundaries: buckets } });
  const duration = histogram('gen_ai.server.request.duration', 'Time of a request', seconds);
  const firstToken = histogram('gen_ai.server.time_to_first_token', 'Time to the first token', secondsOfFirst);
  const perToken = histogram('gen_ai.server.time_per_output_token', 'Time of each further token', secondsOfToken);
  const costs = waiting.sumsOf(meter.createCounter('gateway.cost', { unit: 'nUSD', description: 'What was booked' }));
  const labelSets = new LabelSets(requestLabels);

  return (record) => {
    const { firstMs, totalMs, streamed, usage, costNanoUsd, operation, outcome, attempts, error } = record;
    const labels = labelSets.of(
      operation,
      outcome,
      attempts.at(-1)?.providerSlug ?? null,
      modelOf(record),
      error === null ? null : error.type,
    );
    waiting.add(duration, totalMs / 1000, labels);
    if (costNanoUsd) costs.add(costNanoUsd, labels);
    if (!streamed || firstMs === null) return;
    waiting.add(firstToken, firstMs / 1000, labels);
    const tokensAfterFirst = (usage?.completion_tokens ?? 0) - 1;
    if (tokensAfterFirst > 0) waiting.add(perToken, Math.max(0, totalMs - firstMs) / 1000 / tokensAfterFirst, labels);
  };
}

/**
 * The one label of all models that no catalogue knows. A client may name any model, and each would be a series of its
 * own. The SDK gives the first 2,000 series a place, whichever they are.
 */
const otherModel = '_other';

/** The client's slug is no label: it may be any text. */
function modelOf({ model, attempts }: RequestRecord): string | null {
  if (model === null) return null;
  for (const one of attempts) if (one.model === model && one.isPassThrough === true) return otherModel;
  return model;
}

function requestLabels(operation: Word, outcome: Word, slug: Word, model: Word, error: Word): OtelAttributes {
  const labels: OtelAttributes = {
    'gateway.outcome': `${outcome}`,
    'gen_ai.operation.name': operationNameOf(`${operation}`),
  };
  if (slug !== null) labels['gen_ai.provider.name'] = providerNameOf(slug);
  if (model !== null) labels['gen_ai.response.model'] = model;
  if (error !== null) labels['error.type'] = error;
  return labels;
}

/** The labels of an attempt: as they are, and with those that its tokens have besides. */
interface CallLabels {
  readonly plain: OtelAttributes;
  readonly input: OtelAttributes;
  readonly output: OtelAttributes;
  readonly unknownModality: OtelAttributes;
}

/** Measures providers for the gateway, their client: once for each attempt. */
function callMeasures(
  meter: OtelMeter,
  version: ConventionVersion,
  waiting: WaitingValues,
): (record: RequestRecord, generation: GenerationRecord, attempt: AttemptTrace) => void {
  const histogram = (name: string, description: string) =>
    meter.createHistogram(name, { unit: 's', description, advice: { explicitBucketBoundaries: seconds } });
  const duration = histogram(names[version].duration, 'Time of an attempt');
  const firstChunk = histogram(names[version].firstChunk, 'Time of an attempt to its first token');
  const countTokens = tokenCounter(meter, version, waiting);
  const labelSets = new LabelSets(callLabels);

  return (record, generation, attempt) => {
    const { providerSlug, endpoint, model, isPassThrough, startedAtMs, decidedAtMs } = attempt;
    const billed = billedOf(generation, attempt);
    const labels = labelSets.of(
      record.operation,
      providerSlug,
      endpoint,
      isPassThrough === true ? otherModel : model,
      errorOf(attempt, billed),
    );
    const endedAtMs = billed?.times.endedAtMs ?? decidedAtMs;
    waiting.add(duration, (endedAtMs - startedAtMs) / 1000, labels.plain);
    if (billed === null) return;
    if (record.streamed) waiting.add(firstChunk, (decidedAtMs - startedAtMs) / 1000, labels.plain);
    countTokens(billed, labels);
  };
}

function callLabels(operation: Word, slug: Word, endpoint: Word, model: Word, error: Word): CallLabels {
  const plain: OtelAttributes = {
    'gateway.endpoint': `${endpoint}`,
    'gen_ai.operation.name': operationNameOf(`${operation}`),
    'gen_ai.provider.name': providerNameOf(`${slug}`),
    'gen_ai.request.model': `${model}`,
  };
  if (error !== null) plain['error.type'] = error;
  return {
    plain,
    input: { ...plain, 'gen_ai.token.type': 'input' },
    output: { ...plain, 'gen_ai.token.type': 'output' },
    unknownModality: { ...plain, 'gen_ai.token.modality': 'unknown' },
  };
}

function tokenCounter(
  meter: OtelMeter,
  version: ConventionVersion,
  waiting: WaitingValues,
): (billed: GenerationRecord, labels: CallLabels) => void {
  const advice = { explicitBucketBoundaries: tokens };
  const histogram = (name: string, description: string) =>
    meter.createHistogram(name, { unit: '{token}', description, advice });
  if (version === '1.41') {
    const used = histogram('gen_ai.client.token.usage', 'Tokens of an attempt, by type');
    return ({ usage }, { input, output }) => {
      waiting.add(used, usage?.prompt_tokens ?? 0, input);
      waiting.add(used, usage?.completion_tokens ?? 0, output);
    };
  }
  const input = histogram(tokenCounters.ofCall.input, 'Tokens of a prompt');
  const output = histogram(tokenCounters.ofCall.output, 'Tokens of a response');
  const counters = tokenCounters.sums.map(
    ([name, of]) =>
      [
        waiting.sumsOf(meter.createCounter(name, { unit: '{token}', description: 'Tokens of all attempts' })),
        of,
      ] as const,
  );
  return ({ usage }, { plain, unknownModality }) => {
    waiting.add(input, usage?.prompt_tokens ?? 0, plain);
    waiting.add(output, usage?.completion_tokens ?? 0, plain);
    for (const [sums, of] of counters) {
      const count = usage === null ? 0 : of(usage);
      if (count) sums.add(count, unknownModality);
    }
  };
}

/** A word that labels are made of; null: there is none. */
type Word = string | null;

/** Labels that are made once for each combination of words. */
class LabelSets<Labels> {
  readonly #make: (...words: [Word, Word, Word, Word, Word]) => Labels;
  #first: Branch<Branch<Branch<Branch<Map<Word, Labels>>>>> = new Map();
  #count = 0;

  constructor(make: (...words: [Word, Word, Word, Word, Word]) => Labels) {
    this.#make = make;
  }

  of(first: Word, second: Word, third: Word, fourth: Word, fifth: Word): Labels {
    const labels = this.#first.get(first)?.get(second)?.get(third)?.get(fourth)?.get(fifth);
    return labels ?? this.#add(first, second, third, fourth, fifth);
  }

  #add(first: Word, second: Word, third: Word, fourth: Word, fifth: Word): Labels {
    if (this.#count++ === mostLabels) {
      this.#first = new Map();
      this.#count = 1;
    }
    const labels = this.#make(first, second, third, fourth, fifth);
    below(below(below(below(this.#first, first), second), third), fourth).set(fifth, labels);
    return labels;
  }
}

type Branch<Next> = Map<Word, Next>;

function below<Key, Next extends Map<Word, unknown>>(branch: Map<Key, Next>, word: Key): Next {
  let next = branch.get(word);
  if (next === undefined) {
    next = new Map() as Next;
    branch.set(word, next);
  }
  return next;
}
