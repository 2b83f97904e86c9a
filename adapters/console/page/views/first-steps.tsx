import { useState } from 'preact/hooks';
import { ask, gatewayUrl, messageOf, useLoaded } from '../api.ts';
import { duration, money } from '../format.ts';
import { Card, CopyButton, State, Table } from '../parts.tsx';
import { link } from '../router.ts';
import type { EndpointsResult, ProvidersResult } from '../types.ts';

/** Variables that `npm start` and `model-gateway serve` look for. */
const variables = [
  'OPENAI_API_KEY',
  'ANTHROPIC_API_KEY',
  'GEMINI_API_KEY',
  'MISTRAL_API_KEY',
  'GROQ_API_KEY',
  'LOCAL_BASE_URL',
];

/** The way from nothing to the first request: what to set, a test of each provider, and a command to copy. */
export function FirstSteps() {
  const providers = useLoaded<ProvidersResult>('/providers');
  const names = providers.data?.data ?? [];
  const isSandboxOnly = names.every(({ slug }) => slug === 'sandbox');
  return (
    <div class="grid">
      <Card title="1. Providers">
        <State of={providers} empty={names.length === 0 && 'No provider is set up yet.'} />
        {providers.data !== null && isSandboxOnly && (
          <p>
            Only the sandbox is here, which answers without a provider. To reach real models, start the server with one
            of the variables <code>{variables.join(', ')}</code>, or name a provider in <code>createGateway</code>.
            Workspaces can also <a href={link('credentials')}>bring a key of their own</a>.
          </p>
        )}
        {names.length > 0 && <ProviderTests />}
      </Card>
      <Card title="2. A first request">
        <p>
          <a href={link('playground')}>Ask a model in the playground</a>, or from a terminal:
        </p>
        <Command />
        <p class="soft">The request then appears on this page within a second.</p>
      </Card>
    </div>
  );
}

function Command() {
  const url = `${gatewayUrl()}/chat/completions`;
  const text = `curl ${url} \\
  -H "Authorization: Bearer $GATEWAY_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model": "sandbox/lorem", "messages": [{"role": "user", "content": "Hello"}]}'`;
  return (
    <>
      <pre>{text}</pre>
      <CopyButton text={text} />
    </>
  );
}

interface Tested {
  text: string;
  isOk: boolean;
}

/** One button for each provider, which asks its cheapest model for a few tokens. */
export function ProviderTests() {
  const endpoints = useLoaded<EndpointsResult>('/endpoints');
  const [results, setResults] = useState<Record<string, Tested>>({});
  const first = new Map<string, { name: string; model: string; tag: string }>();
  for (const { provider_name: name, model_id: model, tag, pricing } of [...(endpoints.data?.data ?? [])].sort(
    (a, b) => Number(a.pricing.prompt) - Number(b.pricing.prompt),
  ))
    if (!first.has(name) && Number(pricing.prompt) >= 0) first.set(name, { name, model, tag });
  const test = async ({ name, model, tag }: { name: string; model: string; tag: string }) => {
    const note = (tested: Tested) => setResults((old) => ({ ...old, [name]: tested }));
    note({ text: 'asking …', isOk: true });
    const startMs = performance.now();
    try {
      const { usage } = await ask<{ usage?: { cost?: number | null } }>('POST', '/chat/completions', {
        model,
        messages: [{ role: 'user', content: 'Say ok' }],
        max_tokens: 16,
        provider: { only: [tag], allow_fallbacks: false },
      });
      note({ text: `works: ${duration(performance.now() - startMs)}, ${money(usage?.cost)}`, isOk: true });
    } catch (error) {
      note({ text: messageOf(error), isOk: false });
    }
  };
  return (
    <>
      <State of={endpoints} />
      <Table
        label="Providers"
        rows={[...first.values()]}
        columns={[
          { name: 'Provider', of: ({ name }) => name },
          { name: 'Model', of: ({ model }) => model },
          {
            name: 'Test',
            of: (one) => (
              <button type="button" onClick={() => void test(one)}>
                Test {one.name}
              </button>
            ),
          },
          {
            name: 'Result',
            isWide: true,
            of: ({ name }) => (
              <span role="status" class={results[name]?.isOk === false ? 'bad' : 'soft'}>
                {results[name]?.text ?? 'not tested'}
              </span>
            ),
          },
        ]}
      />
    </>
  );
}
