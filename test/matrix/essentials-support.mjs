// What the essentials are written with: web-standard globals only, as they are.

export const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };

export function completion(content) {
  const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
  return { id: 'upstream-1', object: 'chat.completion', created: 1, model: 'fast-1', choices, usage };
}

export function chunk(delta, finishReason = null) {
  const choices = [{ index: 0, delta, finish_reason: finishReason }];
  return { id: 'upstream-1', object: 'chat.completion.chunk', created: 1, model: 'fast-1', choices };
}

export function streamText(words) {
  const parts = words.map((content, at) => chunk(at === 0 ? { role: 'assistant', content } : { content }));
  return `${events([...parts, chunk({}, 'stop'), { ...chunk({}), choices: [], usage }])}data: [DONE]\n\n`;
}

export function events(chunks) {
  return chunks.map((data) => `data: ${JSON.stringify(data)}\n\n`).join('');
}

export function encode(text) {
  return new TextEncoder().encode(text);
}

export function cut(bytes, size) {
  const pieces = [];
  for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.subarray(at, at + size));
  return pieces;
}

export function json(body, status = 200) {
  return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } });
}

export function stream(pieces) {
  const left = [...pieces];
  const body = new ReadableStream({
    pull(sink) {
      const piece = left.shift();
      if (piece === undefined) sink.close();
      else sink.enqueue(piece);
    },
  });
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
}

export async function withinSeconds(seconds, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`not within ${seconds} s`)), seconds * 1000);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

export function check(condition, claim) {
  if (!condition) throw new Error(`does not hold: ${claim}`);
}

export function equal(actual, expected, what) {
  check(Object.is(actual, expected), `${what} is ${JSON.stringify(expected)}; it is ${JSON.stringify(actual)}`);
}

export function notEqual(actual, unwanted, what) {
  check(!Object.is(actual, unwanted), `${what} is not ${JSON.stringify(unwanted)}`);
}
