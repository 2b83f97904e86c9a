// What must hold for the gateway inside of any app.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';

const abortWithinMs = 50;
/** The best of these counts: an install, a build or a neighbour may hold a process up. */
const tries = 5;

/**
 * @param url      of the app; the gateway is at baseUrl
 * @param headers  that let a caller in
 * @param isAlone  true: the gateway is the whole app
 * @param check    takes a name and what must not throw
 */
export async function checkApp({ url, baseUrl, headers, isAlone = false, upstream, check }) {
  const post = (body, more = headers) =>
    fetch(`${baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...more },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(20_000),
    });
  const messages = [{ role: 'user', content: 'Grüße, 漢字 👋' }];

  await check(isAlone ? 'has no other pages' : 'leaves the other pages to the app', async () => {
    const response = await fetch(url);
    if (isAlone) assert.equal(response.status, 404);
    else assert.match(await response.text(), /The page of the app/);
  });

  await check('answers with JSON', async () => {
    const response = await post({ model: 'sandbox/echo', messages });
    assert.equal(response.status, 200);
    assert.match(response.headers.get('content-type'), /^application\/json/);
    const { object, choices, usage } = await response.json();
    assert.equal(object, 'chat.completion');
    assert.ok(choices[0].message.content.includes(messages[0].content));
    assert.ok(usage.total_tokens > 0);
  });

  await check('takes a body of 1 MB', async () => {
    const content = 'é'.repeat(500_000);
    const response = await post({ model: 'sandbox/echo', messages: [{ role: 'user', content }], max_tokens: 5 });
    assert.equal(response.status, 200, await response.text());
  });

  await check('streams an answer, piece by piece', async () => {
    const response = await post({ model: 'sandbox/slow', messages, stream: true });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'text/event-stream');
    const decoder = new TextDecoder();
    let text = '';
    let pieces = 0;
    for await (const piece of response.body) {
      text += decoder.decode(piece, { stream: true });
      pieces++;
    }
    assert.ok(pieces >= 5, `${pieces} pieces`);
    assert.ok(text.endsWith('data: [DONE]\n\n'), text.slice(-100));
  });

  await check('answers 401 in the envelope', async () => {
    const response = await post({ model: 'sandbox/echo', messages }, {});
    assert.equal(response.status, 401);
    assert.equal((await response.json()).error.code, 401);
  });

  await check('answers 400 in the envelope', async () => {
    const response = await post({ model: 'sandbox/echo', messages, temperature: 'warm' });
    assert.equal(response.status, 400);
    assert.match((await response.json()).error.message, /temperature/);
  });

  await check('answers 404, 405, HEAD and OPTIONS', async () => {
    const unknown = await fetch(`${baseUrl}/nowhere?x=1`, { headers });
    assert.equal(unknown.status, 404);
    assert.equal((await unknown.json()).error.code, 404);
    const wrong = await fetch(`${baseUrl}/chat/completions`, { headers });
    assert.equal(wrong.status, 405);
    assert.match(wrong.headers.get('allow'), /POST/);
    const head = await fetch(`${baseUrl}/nowhere`, { method: 'HEAD', headers });
    assert.equal(head.status, 404);
    assert.equal(await head.text(), '');
    const options = await fetch(`${baseUrl}/chat/completions`, { method: 'OPTIONS' });
    assert.equal(options.status, 204);
    assert.match(options.headers.get('allow'), /POST/);
  });

  for (const [when, model, stream] of [
    ['before the headers', 'local/silent', false],
    ['before the first piece', 'local/silent', true],
    ['mid-stream', 'local/endless', true],
  ]) {
    await check(`closes the upstream within ${abortWithinMs} ms of a client leaving ${when}`, async () => {
      const taken = [];
      while (taken.length < tries && !taken.some((ms) => ms < abortWithinMs)) {
        taken.push(
          await leave({
            baseUrl,
            headers,
            upstream,
            body: { model, messages, stream },
            reads: model === 'local/endless',
          }),
        );
      }
      assert.ok(Math.min(...taken) < abortWithinMs, `${taken.map((ms) => ms.toFixed(0)).join(', ')} ms`);
    });
  }

  await check('answers on', async () => {
    assert.equal((await post({ model: 'sandbox/echo', messages })).status, 200);
  });
}

/** Sends a request, leaves once the upstream has it (and a first piece has come back), and waits for its socket. */
async function leave({ baseUrl, headers, upstream, body, reads }) {
  const sent = request(`${baseUrl}/chat/completions`, {
    method: 'POST',
    agent: false,
    headers: { 'content-type': 'application/json', ...headers },
  });
  // Leaving is an error to the client's side.
  sent.on('error', () => {});
  sent.end(JSON.stringify(body));
  const { closed } = await upstream.next();
  if (reads) {
    const [response] = await once(sent, 'response');
    response.on('error', () => {});
    await once(response, 'data');
  }
  const left = performance.now();
  sent.destroy();
  return (await closed) - left;
}
