import type { TransportResponse } from '../../../src/transport/transport.ts';
import { nativeMessage, nativeResponse } from '../ask-responses.ts';
import { sse } from '../upstream.ts';

// A provider of the world speaks Responses: what it reads and writes is that of chat completions, in other words.

type Loose = Record<string, unknown>;

interface ChatUsage {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  completion_tokens_details?: object;
}

/** The body of a Responses request, as that of a chat request. */
export function askedInResponses(body: Loose): Loose {
  const { input, instructions, max_output_tokens, ...fields } = body;
  const items = typeof input === 'string' ? [{ role: 'user', content: input }] : (input as Loose[]);
  const messages = items.map(({ role, content }) => ({ role, content: contentOf(content) }));
  if (typeof instructions === 'string') messages.unshift({ role: 'system', content: instructions });
  return {
    ...fields,
    messages,
    ...(max_output_tokens === undefined ? {} : { max_completion_tokens: max_output_tokens }),
  };
}

function contentOf(content: unknown): unknown {
  if (!Array.isArray(content)) return content;
  return (content as Loose[]).map(({ type, text }) => (type === 'input_image' ? { type } : { type: 'text', text }));
}

function usageOf(usage: unknown): object | null {
  if (typeof usage !== 'object' || usage === null) return null;
  const { prompt_tokens, completion_tokens, total_tokens, completion_tokens_details } = usage as ChatUsage;
  return {
    input_tokens: prompt_tokens,
    output_tokens: completion_tokens,
    total_tokens,
    ...(completion_tokens_details ? { output_tokens_details: completion_tokens_details } : {}),
  };
}

/** The answer of a provider that speaks chat completions, as one of Responses. */
export function inResponses(response: TransportResponse): TransportResponse {
  if (response.status !== 200 || response.body === null) return response;
  const { body } = response;
  const isStream = response.headers['content-type'] === 'text/event-stream';
  const translate = isStream ? eventTranslator() : resultTranslator;
  return {
    ...response,
    body: {
      async read() {
        const bytes = await body.read();
        if (bytes === null) return null;
        const text = translate(new TextDecoder().decode(bytes));
        return text === '' ? this.read() : new TextEncoder().encode(text);
      },
      cancel: () => body.cancel(),
    },
  };
}

/** A body that was cut is as it is. */
function resultTranslator(text: string): string {
  if (!text.endsWith('}')) return text.replaceAll('"choices"', '"output"');
  const { choices, usage } = JSON.parse(text) as { choices: { message: { content: string } }[]; usage?: object };
  const output = choices.map(({ message }) => nativeMessage(message.content));
  return JSON.stringify(nativeResponse(output, { usage: usageOf(usage) }));
}

function eventTranslator(): (text: string) => string {
  let said = '';
  let usage: object | null = null;
  const place = { output_index: 0, item_id: 'msg_upstream', content_index: 0 };

  function translate(payload: string): string {
    if (payload === '[DONE]')
      return sse({ type: 'response.completed', response: nativeResponse([nativeMessage(said)], { usage }) });
    const { error, choices, usage: reported } = JSON.parse(payload);
    if (error) return sse({ type: 'error', code: 'server_error', message: error.message });
    const content = choices[0]?.delta?.content;
    if (content === '') return sse({ type: 'response.created', response: nativeResponse([], { usage: null }) });
    // What is reported before there is any output has no place in these events.
    usage = usageOf(reported) ?? usage;
    if (typeof content !== 'string') return '';
    said += content;
    return sse({ type: 'response.output_text.delta', ...place, delta: content });
  }

  return (text) =>
    text
      .split('\n\n')
      .filter((frame) => frame !== '')
      .map((frame) => translate(frame.slice('data: '.length)))
      .join('');
}
