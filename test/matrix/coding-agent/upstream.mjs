// A provider over real HTTP whose model is that of task.mjs. It speaks one wire format, and fails where it is told to.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { chatChunks, readChat } from './chat-wire.mjs';
import { readResponses, responsesEvents } from './responses-wire.mjs';
import { answerTo, isThought } from './task.mjs';

const wires = {
  chat: { path: '/v1/chat/completions', read: readChat, write: chatChunks },
  responses: { path: '/v1/responses', read: readResponses, write: responsesEvents },
};

/** An agent that does not understand the model asks again and again. */
const mostSteps = 12;
/** Tokens of a usual prompt, and of one that leaves no room. */
const usualTokens = 900;
const longTokens = 200_000;

/**
 * @param dialect  `chat` or `responses`; it has the address of no other
 * @param faults   by step, what happens the first time the model would take it: `limited` (429), `full` (400: the context
 *   is full), `cut` (the connection breaks in the middle of the answer), `long` (it tells of a very long prompt)
 * @returns its base URL; `steps`: what it was asked for, in order, with faults; `problems`: what was wrong with that
 */
export async function startUpstream({ dialect, faults = {} }) {
  const { path, read, write } = wires[dialect];
  const steps = [];
  const problems = [];
  const pending = new Map(Object.entries(faults));
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request.setEncoding('utf8')) text += part;
    if (request.method !== 'POST' || request.url !== path) {
      problems.push(`asked for ${request.method} ${request.url}`);
      return void sendError(response, 404, { message: 'no such address' });
    }
    const { model, ...body } = JSON.parse(text);
    const conversation = read(body);
    const answer = answerTo(conversation);
    const fault = pending.get(answer.step);
    pending.delete(answer.step);
    steps.push(fault === undefined ? answer.step : `${answer.step}: ${fault}`);
    if (hasForgotten(conversation)) problems.push(`${answer.step}: a thought is missing in ${text.slice(-2000)}`);
    if (steps.length > mostSteps) return void sendError(response, 400, { message: 'too many requests for this task' });
    if (refusals[fault] !== undefined) return void refusals[fault](response);
    const inputTokens = fault === 'long' ? longTokens : usualTokens;
    send(response, write(answer, { id: `${dialect}${steps.length}`, model, inputTokens }), fault === 'cut');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    baseUrl: `http://127.0.0.1:${server.address().port}/v1`,
    steps,
    problems,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Models that think refuse a conversation that has their calls, but not their thoughts, whole, before them. */
const hasForgotten = ({ hasCalls, thoughts }) => hasCalls && !(thoughts.length > 0 && thoughts.every(isThought));

/** What is sent instead of an answer; the words are those of providers. */
const refusals = {
  limited: (response) =>
    sendError(response, 429, { message: 'Rate limit reached for requests', type: 'requests' }, { 'retry-after': '1' }),
  full: (response) =>
    sendError(response, 400, {
      message:
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 131072 tokens.",
      type: 'invalid_request_error',
    }),
};

function sendError(response, status, error, headers = {}) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify({ error }));
}

async function send(response, events, isCut) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const frames = events.map((event) => {
    const name = event.type === undefined ? '' : `event: ${event.type}\n`;
    return `${name}data: ${JSON.stringify(event)}\n\n`;
  });
  if (!isCut) return void response.end(`${frames.join('')}data: [DONE]\n\n`);
  // The first half has to arrive.
  response.write(frames.slice(0, Math.floor(frames.length / 2)).join(''), () =>
    setTimeout(() => response.destroy(), 20),
  );
}
