import { useLoaded } from '../api.ts';
import { count, duration, money, nano, percent, time } from '../format.ts';
import { Card, Facts, Outcome, Page, State, Table } from '../parts.tsx';
import { link, route } from '../router.ts';
import type { ContentResult, Generation, GenerationResult } from '../types.ts';

/** One request: what was planned, tried, spent and done. */
export function Request() {
  const id = route.value.rest[0] ?? '';
  const loaded = useLoaded<GenerationResult>(`/generation?id=${encodeURIComponent(id)}`);
  const one = loaded.data?.data;
  return (
    <Page title="One request" actions={<a href={link('requests')}>All requests</a>}>
      <State of={loaded} />
      {one && (
        <>
          <Summary of={one} />
          <Waterfall of={one} />
          <div class="grid">
            <Money of={one} />
            <Tokens of={one} />
            <Steps of={one} />
            <Plan of={one} />
          </div>
          <Content id={id} />
        </>
      )}
    </Page>
  );
}

function Summary({ of }: { of: Generation }) {
  return (
    <Card title={of.id}>
      <Facts
        of={[
          ['Outcome', <Outcome key="o" of={of.outcome} />],
          ['Status', String(of.status)],
          ...(of.error
            ? [['Error', <span class="bad" key="e">{`${of.error.type}: ${of.error.message}`}</span>] as const]
            : []),
          ['Arrived', time(of.created_at)],
          ['Asked for', of.router ? `${of.requested} (chosen by ${of.router})` : of.requested],
          [
            'Served by',
            of.provider_name
              ? `${of.model} at ${of.provider_name}${of.is_byok ? ', with a key of the workspace' : ''}`
              : 'no provider',
          ],
          ['Ended with', of.finish_reason ?? '–'],
          ['User', of.external_user ?? '–'],
          ['Key', of.api_key_hash ? <code key="k">{of.api_key_hash.slice(0, 16)}</code> : '–'],
          ['Labels', of.tags.join(', ') || '–'],
          ['Session', of.session_id ?? '–'],
          ['Client', of.user_agent ?? '–'],
        ]}
      />
    </Card>
  );
}

/** The length of a thing on the axis of time of a request, in milliseconds since the request arrived. */
interface Span {
  fromMs: number;
  toMs: number;
  fill: string;
}

interface WaterfallRow {
  name: string;
  text: string;
  spans: Span[];
}

/** A bar for the request and one for each generation, attempt and stage, on one axis of time. */
function Waterfall({ of }: { of: Generation }) {
  const rows = rowsOf(of);
  const lengthMs = Math.max(of.total_ms, 1, ...rows.flatMap(({ spans }) => spans.map(({ toMs }) => toMs)));
  const share = (ms: number) => `${(Math.min(Math.max(ms, 0), lengthMs) / lengthMs) * 100}%`;
  return (
    <Card
      title={`Waterfall: ${of.generations} generation${of.generations === 1 ? '' : 's'}, ${of.attempts.length} attempt${of.attempts.length === 1 ? '' : 's'}`}
    >
      <div class="bars">
        {rows.map(({ name, text, spans }, at) => (
          <Bar key={at} name={name} text={text}>
            {spans.map(({ fromMs, toMs, fill }, part) => (
              <i
                key={part}
                class={fill}
                style={{ left: share(fromMs), width: `max(2px, ${share(Math.max(0, toMs - fromMs))})` }}
              />
            ))}
          </Bar>
        ))}
      </div>
      <p class="soft">
        Grey: until the first token. Blue: the response, and attempts that served, up to their first token. Red: what
        failed. Striped: plugins, guardrails and tools.
      </p>
      <Generations of={of.generation_details ?? []} />
      {of.attempts.length > 0 && (
        <Table
          label="Attempts"
          rows={of.attempts}
          columns={[
            { name: 'Provider', of: ({ provider, endpoint }) => `${provider}${endpoint ? ` (${endpoint})` : ''}` },
            { name: 'Model', of: ({ model }) => model },
            { name: 'Status', isNumber: true, of: ({ status }) => status },
            { name: 'Failure', of: ({ error }) => error ?? '–' },
            { name: 'Time', isNumber: true, of: ({ ms }) => duration(ms) },
            { name: 'Cost of the failure', isNumber: true, of: (one) => (one.error ? nano(one.cost_nano_usd) : '–') },
            { name: 'Id at the provider', of: ({ upstream_id }) => upstream_id ?? '–' },
          ]}
        />
      )}
    </Card>
  );
}

type GenerationDetail = NonNullable<Generation['generation_details']>[number];

/** The rows in the order in which they are read: the request, its stages, and each generation with its attempts. */
function rowsOf(of: Generation): WaterfallRow[] {
  const startMs = Date.parse(of.created_at);
  const attemptRows = of.attempts.map((attempt, at) => {
    const fromMs = Date.parse(attempt.started_at) - startMs;
    return {
      name: `${at + 1}. ${attempt.endpoint ?? attempt.provider}`,
      text: `${attempt.error ?? attempt.status} · ${duration(attempt.ms)}`,
      spans: [{ fromMs, toMs: fromMs + attempt.ms, fill: attempt.error === null ? 'fill-ok' : 'fill-bad' }],
    };
  });
  const details = of.generation_details ?? [];
  let used = 0;
  const generationRows = details.flatMap((one, at) => {
    const own = attemptRows.slice(used, used + one.attempts);
    used += one.attempts;
    // The only generation of a call is the request itself, but for what came before and after it.
    return details.length === 1 && (of.stages ?? []).length === 0 ? own : [rowOfGeneration(one, at), ...own];
  });
  return [
    { name: 'request', text: duration(of.total_ms), spans: spansUntil(0, of.latency, of.total_ms) },
    ...(of.stages ?? []).map(({ name, hook, started_ms: fromMs, ms, outcome }) => ({
      name: hook === null ? name : `${name}: ${hook}`,
      text: `${outcome} · ${duration(ms)}`,
      spans: [{ fromMs, toMs: fromMs + ms, fill: outcome === 'ok' ? 'fill-held' : 'fill-bad' }],
    })),
    ...generationRows,
    ...attemptRows.slice(used),
  ];
}

function rowOfGeneration(one: GenerationDetail, at: number): WaterfallRow {
  const { started_ms: fromMs, ended_ms, first_token_ms: firstMs } = one;
  const toMs = ended_ms ?? fromMs;
  return {
    name: `generation ${at + 1}: ${one.model ?? one.requested}`,
    text: `${one.outcome} · ${duration(toMs - fromMs)}`,
    spans: spansUntil(fromMs, firstMs, toMs),
  };
}

/** Grey until the first token, blue from then on. */
function spansUntil(fromMs: number, firstMs: number | null, toMs: number): Span[] {
  const waited = { fromMs, toMs: firstMs ?? toMs, fill: 'fill-soft' };
  return firstMs === null ? [waited] : [waited, { fromMs: firstMs, toMs, fill: 'fill-ok' }];
}

function Generations({ of }: { of: readonly GenerationDetail[] }) {
  if (of.length === 0) return null;
  return (
    <Table
      label="Generations"
      rows={of}
      columns={[
        { name: 'Generation', of: ({ model, requested }) => model ?? requested },
        { name: 'Served by', of: ({ endpoint, provider }) => endpoint ?? provider ?? 'no provider' },
        { name: 'Outcome', of: ({ outcome }) => <Outcome of={outcome} /> },
        { name: 'Began at', isNumber: true, of: (one) => duration(one.started_ms) },
        { name: 'Planned', isNumber: true, of: (one) => duration(one.planned_ms) },
        { name: 'Held', isNumber: true, of: (one) => duration(one.held_ms) },
        { name: 'Sent', isNumber: true, of: (one) => duration(one.sent_ms) },
        { name: 'First token', isNumber: true, of: (one) => duration(one.first_token_ms) },
        { name: 'End', isNumber: true, of: (one) => duration(one.ended_ms) },
        { name: 'Held for it', isNumber: true, of: (one) => nano(one.held_nano_usd) },
        { name: 'Cost', isNumber: true, of: (one) => nano(one.cost_nano_usd) },
      ]}
    />
  );
}

function Bar({ name, text, children }: { name: string; text: string; children: preact.ComponentChildren }) {
  return (
    <div class="bar">
      <span class="name" title={name}>
        {name}
      </span>
      <div class="track">{children}</div>
      <span class="soft">{text}</span>
    </div>
  );
}

const partNames = {
  input: 'Prompt',
  cached: 'Prompt, from a cache',
  cache_writes: 'Prompt, written to a cache',
  input_media: 'Images and audio of the prompt',
  output: 'Response',
  reasoning: 'Reasoning',
  output_media: 'Images and audio of the response',
  request: 'Price per request',
  searches: 'Searches of the provider',
  failed_attempts: 'Attempts that failed',
  plugins: 'Plugins',
  guardrails: 'Guardrails',
  tools: 'Server tools',
} as const satisfies Record<keyof NonNullable<Generation['cost_parts_nano_usd']>, string>;

function Money({ of }: { of: Generation }) {
  const { cost_parts_nano_usd: parts, cost_nano_usd: cost } = of;
  const shown = Object.entries(partNames)
    .map(([name, text]) => [text, parts?.[name as keyof typeof partNames] ?? 0] as const)
    .filter(([, nanoUsd]) => nanoUsd > 0);
  return (
    <Card title="Money: held and settled">
      <Facts
        of={[
          ['Most held at once', of.held_nano_usd === 0 ? 'nothing: no budget applies' : nano(of.held_nano_usd)],
          ['Settled', cost === null ? 'not known: a price is missing' : nano(cost)],
          ...(of.lost_nano_usd ? [['of it, lost holds', nano(of.lost_nano_usd)] as const] : []),
          ['At a key of the workspace', of.upstream_inference_cost === null ? '–' : money(of.upstream_inference_cost)],
          ['Counted by', of.is_estimated ? 'the gateway: the provider reported no usage' : 'the provider'],
        ]}
      />
      {shown.length > 0 && <h3>What was settled, by part</h3>}
      {shown.length > 0 && (
        <Table
          label="Cost by part"
          rows={shown}
          columns={[
            { name: 'Part', of: ([text]) => text },
            { name: 'Cost', isNumber: true, of: ([, nanoUsd]) => nano(nanoUsd) },
            { name: 'Share', isNumber: true, of: ([, nanoUsd]) => percent(cost ? nanoUsd / cost : null) },
          ]}
        />
      )}
    </Card>
  );
}

function Tokens({ of }: { of: Generation }) {
  const cached = of.native_tokens_cached ?? 0;
  return (
    <Card title="Tokens and times">
      <Facts
        of={[
          ['Prompt', tokens(of.tokens_prompt)],
          [
            'from a cache',
            `${tokens(of.native_tokens_cached)} (${percent(of.tokens_prompt ? cached / of.tokens_prompt : null, 0)})`,
          ],
          ['Response', tokens(of.tokens_completion)],
          ['reasoning', tokens(of.native_tokens_reasoning)],
          ['First token', duration(of.latency)],
          ['From then to the end', duration(of.generation_time)],
          ['Streamed', of.streamed === null ? '–' : of.streamed ? 'yes' : 'no'],
        ]}
      />
    </Card>
  );
}

function tokens(amount: number | null | undefined): string {
  return amount === null || amount === undefined ? '–' : `${count(amount)} ${amount === 1 ? 'token' : 'tokens'}`;
}

const workers = { plugin: 'Plugin', guardrail: 'Guardrail', server_tool: 'Server tool' } as const;

function Steps({ of }: { of: Generation }) {
  const stages = of.stages ?? [];
  return (
    <Card title="Plugins, guardrails and tools">
      {stages.length === 0 && of.pipeline.length === 0 && <p class="soft">None.</p>}
      {stages.length > 0 && (
        <Table
          label="Plugins, guardrails and tools"
          rows={stages}
          columns={[
            { name: 'Kind', of: ({ kind }) => workers[kind] },
            { name: 'Name', of: ({ name }) => name },
            { name: 'Hook', of: ({ hook }) => hook ?? '–' },
            { name: 'Began at', isNumber: true, of: (one) => duration(one.started_ms) },
            { name: 'Time', isNumber: true, of: ({ ms }) => duration(ms) },
            { name: 'Outcome', of: ({ outcome }) => <Outcome of={outcome} /> },
          ]}
        />
      )}
      {of.pipeline.length > 0 && <p>What changed something, or left something out: {of.pipeline.join(', ')}</p>}
      {of.num_search_results !== null && <p>Searches of the web: {count(of.num_search_results)}</p>}
      {of.num_fetches !== null && <p>Pages fetched: {count(of.num_fetches)}</p>}
    </Card>
  );
}

function Plan({ of }: { of: Generation }) {
  return (
    <Card title="Plan: endpoints that were left out, and why">
      {of.excluded.length === 0 ? (
        <p class="soft">None was left out.</p>
      ) : (
        <Table
          label="Endpoints that were left out"
          rows={of.excluded}
          columns={[
            { name: 'Endpoint', of: (one) => `${one.model} at ${one.provider}` },
            { name: 'Rule', of: (one) => <code>{one.filter}</code> },
          ]}
        />
      )}
    </Card>
  );
}

function Content({ id }: { id: string }) {
  const loaded = useLoaded<ContentResult>(`/generation/content?id=${encodeURIComponent(id)}`);
  const content = loaded.data?.data;
  return (
    <Card title="Prompt and response">
      {loaded.error && <p class="soft">{loaded.error.message}.</p>}
      {content && (
        <>
          <h3>Prompt</h3>
          <pre>{JSON.stringify(content.input.messages, null, 2)}</pre>
          {content.output.reasoning && (
            <>
              <h3>Reasoning</h3>
              <pre>{content.output.reasoning}</pre>
            </>
          )}
          <h3>Response</h3>
          <pre>{content.output.completion ?? 'No text'}</pre>
          {content.output.tool_calls.length > 0 && <pre>{JSON.stringify(content.output.tool_calls, null, 2)}</pre>}
          {content.is_truncated && <p class="warn">A part was too long, and is left out.</p>}
        </>
      )}
    </Card>
  );
}
