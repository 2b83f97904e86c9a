// A model provider over real HTTP on the loopback interface; what it does is chosen by the model's name.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';

/** @returns its base URL, and close() */
export async function startUpstream() {
  let closedEarly = 0;
  const server = createServer(async (request, response) => {
    if (request.url === '/closed-early') return void response.end(String(closedEarly));
    let body = '';
    for await (const part of request.setEncoding('utf8')) body += part;
    const { model, stream } = JSON.parse(body);
    if (model === 'broken') return void response.writeHead(500, json).end('{"error":{"message":"broken"}}');
    if (!stream) {
      const text = JSON.stringify(completion(model));
      if (model === 'zipped') response.writeHead(200, { ...json, 'content-encoding': 'gzip' }).end(gzipSync(text));
      else response.writeHead(200, json).end(text);
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.on('close', () => {
      if (!response.writableFinished) closedEarly++;
    });
    response.write(events([chunk(model, { role: 'assistant', content: 'one ' })]));
    // Never ends: only the client's leaving does that.
    if (model === 'endless') return;
    response.end(
      `${events([chunk(model, { content: 'two' }), chunk(model, {}, 'stop'), usageChunk(model)])}data: [DONE]\n\n`,
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

const json = { 'content-type': 'application/json' };
const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };

function completion(model) {
  const message = { role: 'assistant', content: 'one two' };
  return {
    id: 'upstream-1',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage,
  };
}

function chunk(model, delta, finishReason = null) {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  return { id: 'upstream-1', object: 'chat.completion.chunk', created: 1, model, choices };
}

function usageChunk(model) {
  return { id: 'upstream-1', object: 'chat.completion.chunk', created: 1, model, choices: [], usage };
}

function events(chunks) {
  return chunks.map((data) => `data: ${JSON.stringify(data)}\n\n`).join('');
}
