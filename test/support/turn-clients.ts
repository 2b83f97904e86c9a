import { askResponses, streamResponses } from './ask-responses.ts';
import { checkResponsesStream } from './check-responses.ts';
import type { TestGateway } from './gateway.ts';

type Json = Record<string, unknown>;

/** What a client has of one turn. */
export interface TurnSaid {
  /** What the client sends back. */
  items: Json[];
  /** Ids of the functions that it has to call. */
  calls: string[];
  metadata: Json;
}

/** What a client asks for in one turn. */
export interface TurnAsk {
  model: string;
  stream: boolean;
  history: Json[];
  plugins?: Json[];
  tools: Json[];
}

const opts = { 'x-service-metadata': 'enabled' };

/** One turn over chat completions, by a client that keeps the deltas of a stream as they come. */
export async function askChat(
  gateway: TestGateway,
  { model, stream, history, plugins, tools }: TurnAsk,
): Promise<TurnSaid> {
  const body = { model, stream, messages: history, plugins, tools, reasoning: { effort: 'high' } };
  const answer = await gateway.post(body, opts);
  if (answer.status !== 200) throw new Error(answer.text);
  let message: Json = (answer.json.choices?.[0]?.message ?? {}) as Json;
  let metadata = answer.json.service_metadata as Json | undefined;
  if (stream) {
    const details: unknown[] = [];
    const annotations: unknown[] = [];
    const calls: { id: string; type: string; function: { name: string; arguments: string } }[] = [];
    let content = '';
    for (const chunk of answer.chunks) {
      metadata = ((chunk as Json).service_metadata as Json | undefined) ?? metadata;
      for (const { delta, finish_reason } of chunk.choices) {
        if (finish_reason === 'error') throw new Error(answer.text);
        content += delta.content ?? '';
        details.push(...(delta.reasoning_details ?? []));
        annotations.push(...((delta.annotations as unknown[]) ?? []));
        for (const { index, id, function: called } of delta.tool_calls ?? []) {
          calls[index] ??= {
            id: id as string,
            type: 'function',
            function: { name: called?.name as string, arguments: '' },
          };
          (calls[index] as (typeof calls)[number]).function.arguments += called?.arguments ?? '';
        }
      }
    }
    message = { role: 'assistant', content, reasoning_details: details, annotations };
    if (calls.length > 0) message.tool_calls = calls;
  }
  const ids = ((message.tool_calls as { id: string }[]) ?? []).map(({ id }) => id);
  return { items: [message], calls: ids, metadata: metadata ?? {} };
}

/** One turn over Responses, by a client that keeps the items of the events, or of the response as JSON. */
export async function askInItems(
  gateway: TestGateway,
  { model, stream, history, plugins, tools }: TurnAsk,
): Promise<TurnSaid> {
  const flat = tools.map((tool) =>
    tool.type === 'function' ? { type: 'function', ...(tool.function as Json) } : tool,
  );
  const body = { model, stream, input: history, plugins, tools: flat, reasoning: { effort: 'high' } };
  const { status, text } = await (stream ? streamResponses : askResponses)(gateway, body, opts);
  if (status !== 200) throw new Error(text);
  if (stream) {
    // As agents do: the items are those of the events, not of the last one.
    const { final, items } = checkResponsesStream(text, { schemas: false });
    if (final.status !== 'completed') throw new Error(text);
    const ids = items.filter(({ type }) => type === 'function_call').map(({ call_id }) => call_id as string);
    return { items: items as unknown as Json[], calls: ids, metadata: (final.service_metadata ?? {}) as Json };
  }
  const made = JSON.parse(text) as { output: Json[]; service_metadata?: Json };
  const calls = made.output.filter(({ type }) => type === 'function_call').map((one) => one.call_id as string);
  return { items: made.output, calls, metadata: made.service_metadata ?? {} };
}
