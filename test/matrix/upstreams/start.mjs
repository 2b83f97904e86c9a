// A provider over real HTTP whose model is a script. It speaks one wire format, checks what it gets as the strictest
// provider of that wire does, and fails where it is told to.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { anthropic } from './anthropic.mjs';
import { bedrock } from './bedrock.mjs';
import { chat } from './chat.mjs';
import { google } from './google.mjs';
import { responses } from './responses.mjs';

const wires = { anthropic, google, bedrock, responses, chat };
/** The wire formats, by the names that `startUpstream` knows. */
export const dialects = Object.keys(wires);

/** A client that does not understand the model asks again and again. */
const mostSteps = 12;
/** Tokens of a usual prompt, and of one that leaves no room. */
const usualTokens = 1_000;
const longTokens = 200_000;

/**
 * @param dialect   one of `dialects`; it has the address of no other
 * @param answerTo  the model: it decides by the conversation alone.
 *   It gets `tools`: all that are offered, `{ name }`; `texts`: what the model did not write itself, in order, with the
 *   outputs of its tools; `results`: how many outputs there are. It returns `{ step, reasoning, text, calls: [{ tool, input }] }`: `reasoning` is null where it
 *   did not think, `input` an object for a function and a string for a custom tool
 * @param isThought whether a text is what the model has thought; models that think want it back before their calls
 * @param faults    by step, what happens the first time the model would take it: `limited` (429), `overloaded` (529 or
 *   503), `full` (400: the context is full), `cut` (the connection breaks in the middle of the answer), `long` (it tells
 *   of a very long prompt)
 * @returns `provider` and `model`: what the gateway is told of it; `steps`: what it was asked for, in order, with faults;
 *   `problems`: what was wrong with that; `bodies`: all it got; `begin(faults)`: forgets all of that
 */
export async function startUpstream({ dialect, answerTo, isThought, faults = {} }) {
  const wire = wires[dialect];
  const [steps, problems, bodies] = [[], [], []];
  const pending = new Map(Object.entries(faults));
  let answers = 0;
  const server = createServer(async (request, response) => {
    const text = Buffer.concat(await Array.fromAsync(request)).toString();
    const { url, method } = request;
    const body = method === 'POST' ? JSON.parse(text) : {};
    // A count is no step of the task: clients and the gateway ask for one when they like.
    if (method === 'POST' && url === wire.count?.path)
      return void sendWhole(response, JSON.stringify(wire.count.body(usualTokens)), false);
    const isStream = wire.isStream({ url, body });
    if (method !== 'POST' || url !== wire.path({ isStream, body })) {
      problems.push(`asked for ${method} ${url}`);
      return void sendError(response, 404, { message: 'no such address' });
    }
    bodies.push(body);
    const conversation = wire.read(body);
    const answer = answerTo(conversation);
    const fault = pending.get(answer.step);
    pending.delete(answer.step);
    steps.push(fault === undefined ? answer.step : `${answer.step}: ${fault}`);
    problems.push(...conversation.problems.map((problem) => `${answer.step}: ${problem}`));
    if (hasForgotten(conversation, isThought))
      problems.push(`${answer.step}: a thought is missing, or not one's own: ${JSON.stringify(conversation.thoughts)}`);
    if (steps.length > mostSteps) return void sendError(response, 400, { message: 'too many requests for this task' });
    if (refusals[fault] !== undefined) return void sendError(response, ...refusals[fault](wire));
    const inputTokens = fault === 'long' ? longTokens : usualTokens;
    const head = { id: `${dialect}${answers++}`, model: wire.model, inputTokens, body };
    if (isStream) stream(response, wire, wire.events(answer, head), fault === 'cut');
    else sendWhole(response, JSON.stringify(wire.whole(answer, head)), fault === 'cut');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${server.address().port}/v1`;
  return {
    provider: { ...wire.provider, baseUrl, apiKey: 'sk-upstream-0123456789' },
    model: wire.model,
    steps,
    problems,
    bodies,
    begin(next = {}) {
      for (const list of [steps, problems, bodies]) list.length = 0;
      pending.clear();
      for (const [step, fault] of Object.entries(next)) pending.set(step, fault);
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** Models that think refuse a conversation that has their calls, but not their thoughts, whole, before them. */
const hasForgotten = ({ hasCalls, thoughts }, isThought) =>
  (hasCalls && thoughts.length === 0) || !thoughts.every(isThought);

/** What is sent instead of an answer: status, error, headers. */
const refusals = {
  limited: ({ limited }) => [429, limited, { 'retry-after': '1' }],
  overloaded: ({ overloaded }) => overloaded,
  full: ({ full }) => [400, full],
};

function sendError(response, status, error, headers = {}) {
  const body = { type: 'error', error, message: error.message };
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

function sendWhole(response, text, isCut) {
  const length = Buffer.byteLength(text);
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': length });
  if (!isCut) return void response.end(text);
  response.write(text.slice(0, text.length / 2), () => setTimeout(() => response.destroy(), 20));
}

function eventText(event) {
  const name = event.type === undefined ? '' : `event: ${event.type}\n`;
  return Buffer.from(`${name}data: ${JSON.stringify(event)}\n\n`);
}

function stream(response, { frame = eventText, contentType = 'text/event-stream', last }, events, isCut) {
  response.writeHead(200, { 'content-type': contentType });
  const frames = events.map(frame);
  if (!isCut) return void response.end(Buffer.concat([...frames, Buffer.from(last)]));
  // The first half has to arrive.
  response.write(Buffer.concat(frames.slice(0, Math.floor(frames.length / 2))), () =>
    setTimeout(() => response.destroy(), 20),
  );
}
