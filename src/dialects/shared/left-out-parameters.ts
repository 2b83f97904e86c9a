import { LRUCache } from 'lru-cache';
import { UpstreamError } from '../../base/http/upstream-error.ts';
import type { ChatRequest } from '../../schema/chat/chat.ts';
import type { ListedParameter } from '../../schema/chat/fields.ts';

const tools = [{ type: 'function' as const, function: { name: 'f', parameters: { type: 'object', properties: {} } } }];
const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false };

/** The most models of a provider whose parameters are remembered: callers can make up names, long ones too. */
const maxRemembered = 1_000;
const longestRemembered = 256;

type Parameter = ListedParameter | 'structured_outputs';

/** The request that asks for each parameter, by its name in `supported_parameters`. */
const requests: Readonly<Record<Parameter, Omit<ChatRequest, 'messages'>>> = {
  temperature: { temperature: 0.5 },
  top_p: { top_p: 0.5 },
  top_k: { top_k: 5 },
  min_p: { min_p: 0.1 },
  top_a: { top_a: 0.1 },
  frequency_penalty: { frequency_penalty: 0.5 },
  presence_penalty: { presence_penalty: 0.5 },
  repetition_penalty: { repetition_penalty: 1.1 },
  logit_bias: { logit_bias: { '50256': -100 } },
  logprobs: { logprobs: true },
  top_logprobs: { logprobs: true, top_logprobs: 2 },
  seed: { seed: 7 },
  response_format: { response_format: { type: 'json_object' } },
  structured_outputs: { response_format: { type: 'json_schema', json_schema: { name: 'a', schema } } },
  stop: { stop: ['END'] },
  tools: { tools },
  tool_choice: { tools, tool_choice: 'required' },
  parallel_tool_calls: { tools, parallel_tool_calls: false },
  reasoning: { reasoning: { enabled: true } },
  reasoning_effort: { reasoning_effort: 'low' },
  web_search_options: { web_search_options: {} },
  verbosity: { verbosity: 'low' },
  n: { n: 2 },
};

/** The parts of a dialect's request that the parameters depend on. */
interface Asked<Quirks> {
  request: ChatRequest;
  upstreamModel: string;
  quirks: Quirks;
}

/**
 * Finds the parameters that a dialect leaves out for a model, or refuses, by encoding a request that asks for each. So
 * listings name the parameters that requests really get.
 */
export function leftOutParameters<Quirks extends object>(
  encodeRequest: (input: Asked<Quirks>) => { dropped: readonly string[] },
): (quirks: Quirks, upstreamModel: string) => readonly string[] {
  const known = new WeakMap<Quirks, LRUCache<string, readonly string[]>>();

  function isLeftOut(name: Parameter, quirks: Quirks, upstreamModel: string): boolean {
    const request: ChatRequest = { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 4000, ...requests[name] };
    const field = name === 'structured_outputs' ? 'response_format' : name;
    try {
      const { dropped } = encodeRequest({ request, upstreamModel, quirks });
      return dropped.some((path) => path === field || path.startsWith(`${field}.`));
    } catch (error) {
      if (error instanceof UpstreamError) return true;
      throw error;
    }
  }

  return (quirks, upstreamModel) => {
    const leftOut = () =>
      (Object.keys(requests) as Parameter[]).filter((name) => isLeftOut(name, quirks, upstreamModel));
    if (upstreamModel.length > longestRemembered) return leftOut();
    let ofModels = known.get(quirks);
    if (ofModels === undefined) {
      // The option `max` is not used: it would reserve memory at once, for each provider.
      ofModels = new LRUCache({ maxSize: maxRemembered, sizeCalculation: () => 1 });
      known.set(quirks, ofModels);
    }
    const found = ofModels.get(upstreamModel) ?? leftOut();
    ofModels.set(upstreamModel, found);
    return found;
  };
}
