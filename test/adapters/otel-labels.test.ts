import { describe, expect, it } from 'vitest';
import { hello } from '../support/gateway.ts';
import { runs } from '../support/runs.ts';
import { traced } from '../support/traced.ts';
import { chunk, completion, sse } from '../support/upstream.ts';

/** How often each field is tried: as many series, were they labels, and in the long run more than a metric can have. */
const values = runs(150, 2_500);

/** Those are refused before anything is measured. */
const refused = ['a model that nobody has', 'plugins', 'service_tier'];

/** Every field and header that a caller may choose the text of. */
const chosen: Record<string, (value: string) => { body?: object; headers?: Record<string, string> }> = {
  model: (value) => ({ body: { model: `up/${value}` } }),
  models: (value) => ({ body: { model: `up/${value}`, models: [`alt/${value}`] } }),
  'a model that nobody has': (value) => ({ body: { model: `nobody/${value}` } }),
  user: (user) => ({ body: { user } }),
  session_id: (session_id) => ({ body: { session_id } }),
  'header x-session-id': (value) => ({ headers: { 'x-session-id': value } }),
  trace: (value) => ({ body: { trace: { trace_id: value, trace_name: value, generation_name: value } } }),
  metadata: (value) => ({ body: { metadata: { [value]: value } } }),
  service_tier: (service_tier) => ({ body: { service_tier } }),
  'header user-agent': (value) => ({ headers: { 'user-agent': value } }),
  'header http-referer': (value) => ({ headers: { 'http-referer': `https://${value}.example` } }),
  'header traceparent': (value) => ({ headers: { traceparent: `00-${value.padStart(32, '1')}-1111111111111111-01` } }),
  'a tool': (name) => ({ body: { tools: [{ type: 'function', function: { name } }] } }),
  plugins: (id) => ({ body: { plugins: [{ id }] } }),
  provider: (value) => ({ body: { provider: { order: [value] } } }),
  'an unknown field': (value) => ({ body: { [value]: value } }),
};

describe('labels of metrics', () => {
  it.each(Object.keys(chosen))('are never of the choice of a caller: %s', async (name) => {
    const { post, upstream, measured } = traced();
    for (let at = 0; at < values; at++) {
      const stream = at % 2 === 1;
      const pieces = [sse(chunk({ content: 'a' })), sse(chunk({}, 'stop')), sse('[DONE]')];
      upstream.always({ body: stream ? pieces : completion({ model: `made-${at}`, service_tier: `tier-${at}` }) });
      const { body, headers } = (
        chosen[name] as (value: string) => { body?: object; headers?: Record<string, string> }
      )(`made${at}`);
      await post({ model: 'acme/fast', messages: hello, max_tokens: 5, stream, ...body }, headers);
    }
    const metrics = await measured();
    expect(metrics.length > 0 || refused.includes(name)).toBe(true);
    for (const { descriptor, dataPoints } of metrics) {
      expect([descriptor.name, dataPoints.length <= 12]).toEqual([descriptor.name, true]);
      expect(JSON.stringify(dataPoints.map(({ attributes }) => attributes))).not.toMatch(/made|tier-/);
    }
  });
});
