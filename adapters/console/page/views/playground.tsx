import { useState } from 'preact/hooks';
import { ApiError, ask, askStream, gatewayUrl, messageOf, useLoaded } from '../api.ts';
import { duration, money } from '../format.ts';
import { Card, CopyButton, Facts, Field, Page, Select, State, Table } from '../parts.tsx';
import { link, route } from '../router.ts';
import { readEvents } from '../server-events.ts';
import type { Explained, ModelsResult } from '../types.ts';

interface Chunk {
  choices?: { delta?: { content?: string | null; reasoning?: string | null } }[];
  usage?: { prompt_tokens: number; completion_tokens: number; cost?: number | null } | null;
  model?: string;
  provider?: string;
  error?: { message: string };
}

interface Answer {
  text: string;
  reasoning: string;
  /** The id of its record. */
  id: string | null;
  firstMs: number | null;
  totalMs: number | null;
  served: string;
  usage: Chunk['usage'];
  error: string | null;
}

const nothing: Answer = {
  text: '',
  reasoning: '',
  id: null,
  firstMs: null,
  totalMs: null,
  served: '',
  usage: null,
  error: null,
};

/** A chat with one model, with its explanation beside it, and code that asks the same. */
export function Playground() {
  const models = useLoaded<ModelsResult>('/models');
  const slugs = (models.data?.data ?? []).map(({ id }) => id);
  const [picked, setPicked] = useState(route.value.query.get('model') ?? '');
  // The sandbox costs nothing: it comes first.
  const model = picked || slugs.find((slug) => slug === 'sandbox/lorem') || slugs[0] || '';
  const [prompt, setPrompt] = useState('Say hello in one sentence.');
  const [maxTokens, setMaxTokens] = useState('200');
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [explained, setExplained] = useState<Explained | ApiError | null>(null);
  const [running, setRunning] = useState<AbortController | null>(null);
  const body = {
    model,
    messages: [{ role: 'user', content: prompt }],
    ...(maxTokens === '' ? {} : { max_tokens: Number(maxTokens) }),
  };
  const explain = async () => {
    try {
      setExplained((await ask<{ data: Explained }>('POST', '/chat/completions/explain', body)).data);
    } catch (error) {
      setExplained(new ApiError(0, messageOf(error)));
    }
  };
  const send = async () => {
    const controller = new AbortController();
    setRunning(controller);
    setAnswer(nothing);
    void explain();
    try {
      await stream({ ...body, stream: true, stream_options: { include_usage: true } }, controller.signal, setAnswer);
    } catch (error) {
      const text = controller.signal.aborted ? 'Stopped.' : messageOf(error, 'The response broke off');
      setAnswer((old) => ({ ...(old ?? nothing), error: text }));
    } finally {
      setRunning(null);
    }
  };
  return (
    <Page title="Playground">
      <State of={models} empty={slugs.length === 0 && 'There is no model yet. Set up a provider first.'} />
      <div class="split">
        <div>
          <Card title="Ask">
            <Field label="Model">
              <input list="slugs" value={model} onChange={(event) => setPicked(event.currentTarget.value.trim())} />
            </Field>
            <datalist id="slugs">
              {slugs.map((slug) => (
                <option key={slug} value={slug} />
              ))}
            </datalist>
            <Field label="Message">
              <textarea rows={5} value={prompt} onInput={(event) => setPrompt(event.currentTarget.value)} />
            </Field>
            <div class="row end">
              <Field label="Most tokens">
                <input
                  type="number"
                  min="1"
                  value={maxTokens}
                  onInput={(event) => setMaxTokens(event.currentTarget.value)}
                />
              </Field>
              {running === null ? (
                <button type="button" class="main" disabled={model === ''} onClick={() => void send()}>
                  Send
                </button>
              ) : (
                <button type="button" onClick={() => running.abort()}>
                  Stop
                </button>
              )}
              <button type="button" disabled={model === ''} onClick={() => void explain()}>
                Explain only
              </button>
            </div>
            {!model.startsWith('sandbox/') && model !== '' && (
              <p class="warn">This model is a real one: it costs money.</p>
            )}
          </Card>
          {answer && <Response of={answer} isRunning={running !== null} />}
        </div>
        <div>
          <Explanation of={explained} />
          <Code body={body} />
        </div>
      </div>
    </Page>
  );
}

/** Asks, and shows each piece as it arrives. @throws ApiError */
async function stream(
  body: unknown,
  signal: AbortSignal,
  show: (change: (old: Answer | null) => Answer) => void,
): Promise<void> {
  const startMs = performance.now();
  const change = (changes: Partial<Answer>) => show((old) => ({ ...(old ?? nothing), ...changes }));
  const response = await askStream('/chat/completions', body, signal);
  change({ id: response.headers.get('x-generation-id') });
  let [text, reasoning, firstMs]: [string, string, number | null] = ['', '', null];
  for await (const data of readEvents(response)) {
    if (data === '[DONE]') continue;
    const chunk = JSON.parse(data) as Chunk;
    const delta = chunk.choices?.[0]?.delta;
    text += delta?.content ?? '';
    reasoning += delta?.reasoning ?? '';
    if (firstMs === null && (text !== '' || reasoning !== '')) firstMs = performance.now() - startMs;
    change({
      text,
      reasoning,
      firstMs,
      ...(chunk.model ? { served: `${chunk.model}${chunk.provider ? ` at ${chunk.provider}` : ''}` } : {}),
      ...(chunk.usage ? { usage: chunk.usage } : {}),
      ...(chunk.error ? { error: chunk.error.message } : {}),
    });
  }
  change({ totalMs: performance.now() - startMs });
}

function Response({ of, isRunning }: { of: Answer; isRunning: boolean }) {
  const { text, reasoning, id, firstMs, totalMs, served, usage, error } = of;
  return (
    <Card title="Response" actions={id && <a href={link(`request/${encodeURIComponent(id)}`)}>Its record</a>}>
      {reasoning && <pre class="soft">{reasoning}</pre>}
      <pre aria-live="polite">{text || (isRunning ? '…' : 'No text')}</pre>
      {error && (
        <p class="bad" role="alert">
          {error}
        </p>
      )}
      <Facts
        of={[
          ['Served by', served || '–'],
          ['First token', duration(firstMs)],
          ['Duration', duration(totalMs)],
          ['Tokens in, out', usage ? `${usage.prompt_tokens}, ${usage.completion_tokens}` : '–'],
          ['Cost', money(usage?.cost)],
        ]}
      />
    </Card>
  );
}

function Explanation({ of }: { of: Explained | ApiError | null }) {
  if (of === null)
    return (
      <Card title="Explain">
        <p class="soft">How the request would be routed, and what would be held, before anything is spent.</p>
      </Card>
    );
  if (of instanceof ApiError)
    return (
      <Card title="Explain">
        <p class="bad">{of.message}</p>
      </Card>
    );
  return (
    <Card title="Explain">
      {of.error && <p class="bad">{of.error.message}</p>}
      <Facts
        of={[
          ['Strategy', of.strategy],
          ['Held', of.hold_usd === null ? 'nothing: no budget applies' : money(of.hold_usd)],
          ...of.budgets.map(
            (one) =>
              [`${one.scope}, ${one.interval}`, `${money(one.remaining_usd)} left of ${money(one.limit_usd)}`] as const,
          ),
        ]}
      />
      <h3>Endpoints, in the order of their turn</h3>
      <Table
        label="Endpoints in order"
        rows={of.candidates}
        columns={[
          { name: 'Model', of: ({ model }) => model },
          { name: 'Provider', of: ({ provider }) => provider },
          { name: 'At most', isNumber: true, of: ({ ceiling_usd }) => money(ceiling_usd) },
          { name: 'p50', isNumber: true, of: ({ latency_ms }) => duration(latency_ms) },
        ]}
      />
      {of.excluded.length > 0 && (
        <>
          <h3>Left out</h3>
          <Table
            label="Left out"
            rows={of.excluded}
            columns={[
              { name: 'Endpoint', of: (one) => `${one.model} at ${one.provider}` },
              { name: 'Rule', of: (one) => <code>{one.filter}</code> },
            ]}
          />
        </>
      )}
    </Card>
  );
}

const kinds = [
  ['curl', 'curl'],
  ['openai', 'openai'],
  ['ai', 'AI SDK (ai)'],
] as const;

function Code({ body }: { body: { model: string; messages: { content: string }[] } }) {
  const [kind, setKind] = useState<string>('curl');
  const base = gatewayUrl();
  const { model, messages } = body;
  const content = JSON.stringify(messages[0]?.content ?? '');
  // A shell takes a text in single quotes as it is.
  const quoted = `'${JSON.stringify(body).replaceAll("'", `'\\''`)}'`;
  const texts: Record<string, string> = {
    curl: `curl -N ${base}/chat/completions \\\n  -H "Authorization: Bearer $GATEWAY_API_KEY" \\\n  -H 'Content-Type: application/json' \\\n  -d ${quoted}`,
    openai: `import OpenAI from 'openai';\n\nconst client = new OpenAI({ baseURL: '${base}', apiKey: process.env.GATEWAY_API_KEY });\nconst { choices } = await client.chat.completions.create({\n  model: ${JSON.stringify(model)},\n  messages: [{ role: 'user', content: ${content} }],\n});\nconsole.log(choices[0].message.content);`,
    ai: `import { generateText } from 'ai';\nimport { gateway } from './gateway.js'; // createGateway(…)\n\nconst { text } = await generateText({\n  model: gateway.languageModel(${JSON.stringify(model)}),\n  prompt: ${content},\n});\nconsole.log(text);`,
  };
  const text = texts[kind] ?? '';
  return (
    <Card title="Code" actions={<CopyButton text={text} />}>
      <Select label="For" value={kind} options={kinds} onPick={setKind} />
      <pre>{text}</pre>
    </Card>
  );
}
