// `node bench/telemetry-calls.ts` measures what telemetry costs a request in a loop that does nothing else: the recorder,
// and the same calls to the SDK without the recorder. The difference is ours. `bench/telemetry.ts` measures a server.
import process from 'node:process';
import * as api from '@opentelemetry/api';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, TraceIdRatioBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import type { OpenTelemetryApi } from '../adapters/otel/otel.ts';
import type { BegunAttempt, BegunCall, Recorder, RequestRecord } from '../src/index.ts';
import { apiKey, chatRequest, chatResponse } from './bodies.ts';
import { ensureBuilt, loadBuilt, loadBuiltOtel } from './built.ts';
import { gatewayOptions } from './gateway-options.ts';

await ensureBuilt();
const { createGateway } = await loadBuilt();
const openTelemetry = await loadBuiltOtel();

/** What a recorder is told of one request. */
interface Told {
  begun: BegunCall;
  attempts: BegunAttempt[];
  record: RequestRecord;
}

/** Requests of one turn of the event loop. */
const together = 16;
const turns = 25;
const rounds = 120;
const warmRounds = 40;

const told = await oneRequest();
const calls = callsOf(told);
const shares = [0, 0.1, 1];
const contestants = [
  { name: 'nothing', run: () => undefined, us: [] as number[] },
  ...shares.flatMap((share) => [
    { name: `recorder, ${share} traced`, run: recording(openTelemetry(sdk(share)), told), us: [] as number[] },
    { name: `SDK alone, ${share} traced`, run: calling(sdk(share), calls), us: [] as number[] },
  ]),
];
for (let round = 0; round < rounds; round++) {
  for (let place = 0; place < contestants.length; place++) {
    const contestant = contestants[(place + round) % contestants.length] as (typeof contestants)[number];
    const us = await cpuOf(contestant.run);
    if (round >= warmRounds) contestant.us.push(us);
  }
}
// Other processes only make a turn slower, so a low one says most.
const fifth = (values: number[]) => values.toSorted((one, other) => one - other)[Math.floor(values.length / 5)] ?? 0;
for (const { name, us } of contestants)
  process.stdout.write(`${name.padEnd(24)}${fifth(us).toFixed(2)} µs a request\n`);
process.exit();

async function cpuOf(run: () => void): Promise<number> {
  const start = process.cpuUsage();
  for (let turn = 0; turn < turns; turn++) {
    for (let request = 0; request < together; request++) run();
    await new Promise((done) => setImmediate(done));
  }
  const { user, system } = process.cpuUsage(start);
  return (user + system) / turns / together;
}

/** Takes one request through a gateway, and keeps what its recorder is told. */
async function oneRequest(): Promise<Told> {
  const found: Partial<Told> & Pick<Told, 'attempts'> = { attempts: [] };
  const recorder = Object.assign((record: RequestRecord) => void Object.assign(found, { record }), {
    begin(begun: BegunCall) {
      found.begun = begun;
      const attempt = (one: BegunAttempt) => {
        found.attempts.push(one);
        return {};
      };
      return { attempt, ended: () => undefined };
    },
  });
  const gateway = createGateway({
    ...gatewayOptions('http://127.0.0.1:9/v1', recorder),
    transport: {
      async send() {
        const chunks = [Buffer.from(chatResponse)];
        const body = { read: async () => chunks.shift() ?? null, cancel: () => undefined };
        return { status: 200, headers: { 'content-type': 'application/json' }, body };
      },
    },
  });
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${apiKey}` };
  const url = 'http://127.0.0.1/v1/chat/completions';
  const response = await gateway.fetch(url, { method: 'POST', headers, body: chatRequest() });
  const text = await response.text();
  if (response.status !== 200 || found.record === undefined) throw new Error(text);
  await gateway.close();
  return found as Told;
}

function recording(recorder: Recorder, { begun, attempts, record }: Told): () => void {
  return () => {
    const follower = recorder.begin?.(begun);
    attempts.forEach((one, at) => {
      const followed = follower?.attempt?.(one);
      const attempt = record.attempts[at];
      if (attempt !== undefined) followed?.decided?.(attempt);
    });
    follower?.ended(record, null);
    recorder(record);
  };
}

/** The SDK, whose exporters drop what they get. */
function sdk(share: number): OpenTelemetryApi {
  const exporter = {
    export: (_: unknown, done: (result: { code: number }) => void) => done({ code: 0 }),
    forceFlush: async () => undefined,
    shutdown: async () => undefined,
  };
  const tracers = new TracerProvider({
    sampler: new TraceIdRatioBasedSampler(share),
    spanProcessors: [new BatchSpanProcessor({ exporter, maxQueueSize: 100_000 })],
  });
  const meters = new MeterProvider({
    readers: [new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 10_000 })],
  });
  return {
    trace: {
      getTracer: (name) => tracers.getTracer(name) as never,
      setSpan: (context, span) => api.trace.setSpan(context as api.Context, span as api.Span),
      setSpanContext: (context, of) => api.trace.setSpanContext(context as api.Context, of as api.SpanContext),
    },
    metrics: { getMeter: (name) => meters.getMeter(name) as never },
    context: api.context,
  };
}

type Tracer = ReturnType<OpenTelemetryApi['trace']['getTracer']>;
type Meter = ReturnType<OpenTelemetryApi['metrics']['getMeter']>;
type Span = ReturnType<Tracer['startSpan']>;

/** The calls to the SDK for one request. */
interface Calls {
  /** In the order in which they begin; the first is that of the request, and the others are below it. */
  spans: { start: Parameters<Tracer['startSpan']>; further: ((span: Span) => void)[] }[];
  /** By the arguments of `createHistogram`. */
  values: { histogram: Parameters<Meter['createHistogram']>; value: number; labels: api.Attributes }[];
}

/** Lets a recorder make the spans of one request and its values, and keeps its calls. */
function callsOf(of: Told): Calls {
  const found: Calls = { spans: [], values: [] };
  let collect = (): unknown => undefined;
  const startSpan: Tracer['startSpan'] = (...start) => {
    const further: ((span: Span) => void)[] = [];
    found.spans.push({ start, further });
    const keep = (call: (span: Span) => void) => void further.push(call);
    return {
      setAttribute: (...given) => keep((span) => void span.setAttribute(...given)),
      setAttributes: (given) => keep((span) => void span.setAttributes(given)),
      setStatus: (given) => keep((span) => void span.setStatus(given)),
      end: (time) => keep((span) => span.end(time)),
      isRecording: () => true,
      spanContext: () => ({ traceId: '', spanId: '', traceFlags: 1 }),
    };
  };
  const meter: Meter = {
    createHistogram: (...histogram) => ({
      record: (value, labels) => void found.values.push({ histogram, value, labels }),
    }),
    createCounter: () => ({ add: () => undefined }),
    createObservableGauge: () => ({ addCallback: () => undefined }),
    createObservableCounter: () => ({ addCallback: () => undefined }),
    addBatchObservableCallback: (read) => {
      collect = () => read({ observe: () => undefined });
    },
    removeBatchObservableCallback: () => undefined,
  };
  const at = { value: null as (() => void) | null };
  const { setImmediate: later } = globalThis;
  // The spans are made at the end of a turn.
  globalThis.setImmediate = ((run: () => void) => {
    at.value = run;
  }) as never;
  try {
    const trace = { getTracer: () => ({ startSpan }), setSpan: () => null, setSpanContext: () => null };
    recording(openTelemetry({ trace, metrics: { getMeter: () => meter }, context: api.context }), of)();
  } finally {
    globalThis.setImmediate = later;
  }
  at.value?.();
  collect();
  if (found.spans.length !== 3 || found.values.length !== 4) throw new Error('the calls of a request are other ones');
  return found;
}

function calling({ trace, metrics, context }: OpenTelemetryApi, { spans, values }: Calls): () => void {
  const tracer = trace.getTracer('calls');
  const meter = metrics.getMeter('calls');
  const histograms = values.map(({ histogram }) => meter.createHistogram(...histogram));
  return () => {
    values.forEach(({ value, labels }, at) => void histograms[at]?.record(value, labels as never));
    let below: unknown = context.active();
    const started: Span[] = [];
    for (const { start } of spans) {
      const span = tracer.startSpan(start[0], start[1], below);
      if (!span.isRecording()) return;
      if (started.push(span) === 1) below = trace.setSpan(below, span);
    }
    started.forEach((span, at) => void spans[at]?.further.forEach((call) => void call(span)));
  };
}
