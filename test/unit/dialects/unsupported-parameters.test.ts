import { describe, expect, it } from 'vitest';
import { UpstreamError } from '../../../src/base/http/upstream-error.ts';
import type { Dialect } from '../../../src/dialects/dialect.ts';
import { loadDialects } from '../../../src/dialects/index.ts';
import { builtInProviders } from '../../../src/providers/index.ts';
import type { ChatRequest } from '../../../src/schema/chat/chat.ts';
import { dialects } from '../../support/dialects.ts';

const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }];
const schema = { type: 'json_schema', json_schema: { name: 'person', schema: { type: 'object' } } };

/** What asks for each parameter that listings name, and nothing else. */
const askFor: Readonly<Record<string, object>> = {
  temperature: { temperature: 0.5 },
  top_p: { top_p: 0.5 },
  top_k: { top_k: 5 },
  min_p: { min_p: 0.1 },
  top_a: { top_a: 0.1 },
  frequency_penalty: { frequency_penalty: 0.5 },
  presence_penalty: { presence_penalty: 0.5 },
  repetition_penalty: { repetition_penalty: 1.1 },
  max_tokens: { max_tokens: 2_000 },
  max_completion_tokens: { max_completion_tokens: 2_000 },
  logit_bias: { logit_bias: { '50256': -100 } },
  logprobs: { logprobs: true },
  top_logprobs: { logprobs: true, top_logprobs: 2 },
  seed: { seed: 7 },
  response_format: { response_format: schema },
  stop: { stop: ['END'] },
  tools: { tools },
  tool_choice: { tools, tool_choice: 'auto' },
  parallel_tool_calls: { tools, parallel_tool_calls: false },
  reasoning: { reasoning: { enabled: true } },
  reasoning_effort: { reasoning_effort: 'low' },
  web_search_options: { web_search_options: {} },
  verbosity: { verbosity: 'low' },
  n: { n: 2 },
};

/** The parameters that do not reach the provider: left out, or a reason to refuse the request. */
function unsentBy(dialect: Dialect, quirks: object): string[] {
  return Object.keys(askFor).filter((name) => {
    const request = { messages: [{ role: 'user', content: 'Hi' }], ...askFor[name] } as ChatRequest;
    try {
      const { dropped } = dialect.encodeRequest({ request, upstreamModel: 'a-model', quirks });
      return dropped.some((path) => path === name || path.startsWith(`${name}.`));
    } catch (error) {
      if (error instanceof UpstreamError) return true;
      throw error;
    }
  });
}

await loadDialects();
const cases: [string, Dialect, object][] = [
  ...Object.entries(dialects as unknown as Record<string, Dialect>).map(
    ([name, dialect]): [string, Dialect, object] => [name, dialect, {}],
  ),
  // The sandbox gets the request whole, and lists what its model ignores.
  ...builtInProviders
    .filter(({ slug }) => slug !== 'sandbox')
    .map(({ slug, dialect, quirks }): [string, Dialect, object] => [slug, dialect as Dialect, quirks]),
];

describe('the parameters that a dialect says it does not send', () => {
  it.each(cases)('are at least those that it leaves out: %s', (_, dialect, quirks) => {
    const said = dialect.unsupportedParameters?.(quirks, 'a-model') ?? [];
    expect(unsentBy(dialect, quirks).filter((name) => !said.includes(name))).toEqual([]);
  });
  it.each(cases)('are none that it sends: %s', (_, dialect, quirks) => {
    const said = dialect.unsupportedParameters?.(quirks, 'a-model') ?? [];
    const unsent = unsentBy(dialect, quirks);
    expect(said.filter((name) => name in askFor && !unsent.includes(name))).toEqual([]);
  });
});
