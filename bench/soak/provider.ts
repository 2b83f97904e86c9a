import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Failure } from './mix.ts';

const head = { id: 'chatcmpl-soak', object: 'chat.completion.chunk', created: 1_790_000_000, model: 'soaked' };
const usage = { prompt_tokens: 20, completion_tokens: 8, total_tokens: 28 };
/** The tokens of each response. Together they are JSON, so that healing has nothing to do. */
const tokens = ['{"an', 'swer":', ' "a ', 'text', ' of', ' few', ' words', '"}'];

const event = (value: object) => `data: ${JSON.stringify(value)}\n\n`;
const deltas = tokens.map((content) =>
  event({ ...head, choices: [{ index: 0, delta: { content }, finish_reason: null }] }),
);
const last = `${event({ ...head, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] })}${event({ ...head, choices: [], usage })}data: [DONE]\n\n`;
const whole = JSON.stringify({
  ...head,
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', content: tokens.join('') }, finish_reason: 'stop' }],
  usage,
});

/** Between the tokens of a stream, and before a response. */
const pauseMs = 2;

/** A provider that thinks for a moment. At the path of `shaky`, it fails where the request says so. */
export function startProvider(): Server {
  return createServer((req, res) => {
    let body = '';
    req.setEncoding('utf8');
    req.on('data', (text: string) => {
      body += text;
    });
    req.on('end', () => {
      const failure = req.url?.startsWith('/shaky')
        ? (/\[fail: ([^\]]+)\]/.exec(body)?.[1] as Failure | undefined)
        : undefined;
      setTimeout(() => respond(res, body.includes('"stream":true'), failure), pauseMs);
    });
  });
}

function respond(res: ServerResponse, stream: boolean, failure: Failure | undefined): void {
  if (res.destroyed) return;
  if (failure === 'hang up') res.destroy();
  else if (failure === '500' || failure === '429') json(res, Number(failure), '{"error":{"message":"on purpose"}}');
  else if (failure === 'garbage') json(res, 200, '<html>on purpose</html>');
  else if (stream) streamTo(res, failure === 'cut');
  else if (failure === 'cut') {
    res.writeHead(200, { 'content-type': 'application/json', 'content-length': whole.length });
    res.write(whole.slice(0, 40), () => res.destroy());
  } else json(res, 200, whole);
}

function json(res: ServerResponse, status: number, body: string): void {
  res.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }).end(body);
}

function streamTo(res: ServerResponse, isCut: boolean): void {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  let at = 0;
  const next = () => {
    if (res.destroyed) return;
    if (isCut && at === 3) res.destroy();
    else if (at === deltas.length) res.end(last);
    else {
      res.write(deltas[at++] as string);
      setTimeout(next, pauseMs);
    }
  };
  next();
}
