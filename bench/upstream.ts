import { createServer, type ServerResponse } from 'node:http';
import { answerParent, measuring } from './control.ts';
import { chatAnswer, chatEvents } from './bodies.ts';
import { listen } from './listen.ts';

/** The model provider. It does not look at requests: the runner says what every answer is to be. */
type Mode = 'json' | 'stream' | 'idle';

let mode: Mode = 'json';
const events = chatEvents.map((event) => Buffer.from(event));
const json = Buffer.from(chatAnswer);

const server = createServer({ keepAliveTimeout: 60_000 }, (req, res) => {
  req.resume();
  req.once('end', () => answer(res));
});

function answer(res: ServerResponse): void {
  if (mode === 'json') {
    res.writeHead(200, ['content-type', 'application/json', 'content-length', String(json.length)]).end(json);
    return;
  }
  res.writeHead(200, ['content-type', 'text/event-stream', 'cache-control', 'no-cache']);
  if (mode === 'stream') writeFrom(res, 0);
  // Idle: the first token has come, the next is long in coming.
  else res.write(events.slice(0, 2).join(''));
}

/**
 * One write an event, the next as soon as the socket has taken it. In a turn of the loop of its own, or node:http would
 * gather a stream's writes into one: as it is, the events of all streams cross in turn, each on its own, as tokens do.
 */
function writeFrom(res: ServerResponse, at: number): void {
  const event = events[at];
  if (at === events.length - 1) res.end(event);
  else res.write(event, () => setImmediate(writeFrom, res, at + 1));
}

answerParent({
  ...measuring,
  port: () => listen(server),
  mode(next: Mode) {
    mode = next;
  },
});
