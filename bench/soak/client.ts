import { type Agent, request } from 'node:http';
import { bodyOf, kindOf } from './mix.ts';

/** How a request ended for its client. `broken`: with an honest error; `wrong`: as it may never end. */
export type Ending = 'whole' | 'left' | 'broken' | 'wrong';

export interface Outcome {
  ending: Ending;
  /** Until the whole response was there. */
  ms: number;
  /** What was wrong. */
  what?: string;
}

export interface Place {
  agent: Agent;
  port: number;
  apiKey: string;
}

/** Makes one request, leaves it where its kind says so, and judges what came. */
export function askOnce({ agent, port, apiKey }: Place, number: number): Promise<Outcome> {
  const kind = kindOf(number);
  const body = bodyOf(number, kind);
  const startMs = performance.now();
  return new Promise((resolve) => {
    const end = (ending: Ending, what?: string) =>
      resolve({ ending, ms: performance.now() - startMs, ...(what === undefined ? {} : { what }) });
    const headers = {
      authorization: `Bearer ${apiKey}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    };
    const req = request({ agent, host: '127.0.0.1', port, path: `/v1${kind.path}`, method: 'POST', headers });
    let hasLeft = false;
    const leave = () => {
      hasLeft = true;
      req.destroy();
      end('left');
    };
    if (kind.leaves === 'soon') setTimeout(leave, 1);
    req.on('error', (error) => {
      if (!hasLeft) end(kind.failure === null ? 'wrong' : 'broken', error.message);
    });
    req.on('response', (res) => {
      let text = '';
      res.setEncoding('utf8');
      res.on('data', (piece: string) => {
        text += piece;
        if (kind.leaves === 'midway' && !hasLeft) leave();
      });
      res.on('error', () => {});
      res.on('end', () => {
        if (hasLeft) return;
        const isWhole = res.statusCode === 200 && (kind.stream ? isWholeStream(text) : isWholeJson(text));
        if (isWhole) end('whole');
        else if (kind.failure !== null && hasError(text)) end('broken');
        else end('wrong', `${res.statusCode} ${text.slice(-300)}`);
      });
    });
    req.end(body);
  });
}

const isWholeStream = (text: string) =>
  text.includes('"finish_reason":"stop"') || text.includes('"type":"response.completed"');
const isWholeJson = (text: string) => text.includes('"finish_reason":"stop"') || text.includes('"status":"completed"');
const hasError = (text: string) => text.includes('"error":{') || text.includes('"type":"response.failed"');
