import type { GatewayOptions } from '../../src/index.ts';
import { CliError, type Env } from './config.ts';
import type { Terminal } from './terminal.ts';

export interface ChatFlags {
  model?: string;
  url?: string;
}

/** Sends a request to a gateway in this process, or to one that is already running. */
type Ask = (request: Request) => Promise<Response>;

/**
 * Sends one message and prints the response as it arrives.
 * @param ask  the gateway within this process; not used where a flag names another
 * @throws CliError for an error of the gateway, and for a response that broke off
 */
export async function chat(
  terminal: Terminal,
  message: string | undefined,
  flags: ChatFlags,
  options: GatewayOptions,
  ask: Ask,
): Promise<void> {
  if (!message) throw new CliError('Expected a message: model-gateway chat "Hello"');
  const model = flags.model ?? defaultModel(options);
  const client = new AbortController();
  terminal.onStop(() => client.abort());
  const url = flags.url === undefined ? 'http://model-gateway/v1' : baseUrlOf(flags.url);
  const request = new Request(`${url}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(flags.url === undefined ? {} : keyHeader(terminal.env)) },
    body: JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: message }] }),
    signal: client.signal,
  });
  terminal.printError(`${model}:\n`);
  try {
    const response = await (flags.url === undefined ? ask(request) : fetch(request));
    if (!response.ok) throw new CliError(await errorOf(response));
    for await (const text of textsOf(response)) terminal.print(text);
    terminal.print('\n');
  } catch (error) {
    // The user who has stopped the command knows why it ends.
    if (client.signal.aborted) return;
    if (error instanceof CliError) throw error;
    throw new CliError(
      `No response from ${flags.url ?? 'the gateway'}: ${error instanceof Error ? error.message : error}`,
    );
  }
}

function defaultModel({ defaultModel: named, models, providers = {} }: GatewayOptions): string {
  const first = named ?? models?.[0]?.slug ?? ('sandbox' in providers ? 'sandbox/lorem' : null);
  if (first !== null) return first;
  throw new CliError('Name a model: model-gateway chat --model author/model "Hello"');
}

function baseUrlOf(url: string): string {
  if (/^https?:\/\//.test(url)) return url.replace(/(?<!\/)\/+$/, '');
  throw new CliError(`Expected an address such as http://127.0.0.1:8787/v1 for url, not ${JSON.stringify(url)}`);
}

function keyHeader({ GATEWAY_API_KEY: key }: Env): Record<string, string> {
  if (key) return { authorization: `Bearer ${key}` };
  throw new CliError('Set GATEWAY_API_KEY to a key of the gateway that --url names');
}

async function errorOf(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const { message } = JSON.parse(text).error;
    return `${response.status}: ${message}`;
  } catch {
    return `${response.status}: ${text.slice(0, 200)}`;
  }
}

/** @throws CliError where the stream reports an error, or breaks off */
async function* textsOf(response: Response): AsyncGenerator<string> {
  let buffered = '';
  let isComplete = false;
  const decoder = new TextDecoder();
  for await (const bytes of response.body ?? []) {
    buffered += decoder.decode(bytes, { stream: true });
    const events = buffered.split('\n\n');
    buffered = events.pop() ?? '';
    for (const event of events) {
      const data = event.startsWith('data: ') ? event.slice(6) : null;
      if (data === '[DONE]') isComplete = true;
      else if (data !== null) {
        const { error, choices } = JSON.parse(data);
        if (error) throw new CliError(`\n${error.code}: ${error.message}`);
        const text: unknown = choices?.[0]?.delta?.content;
        if (typeof text === 'string') yield text;
      }
    }
  }
  if (!isComplete) throw new CliError('\nThe response broke off.');
}
