import { describe, expect, it } from 'vitest';
import { hello, testGateway } from '../support/gateway.ts';
import { completion } from '../support/upstream.ts';

const filters = ['/generations?from=', '/generations?to=', '/activity?from=', '/activity?to=', '/activity?date=']
  .concat(['/audit?from=', '/audit?to='])
  .map((path) => [path] as const);

const open = () => testGateway({ records: { enabled: true }, audit: { enabled: true } });

describe('a time in a filter', () => {
  it.each(filters)('has one of three forms everywhere: %s', async (path) => {
    const tested = open();
    const forms = ['2026-01-01', '2026-01-01T00:00:00Z', '2026-01-01T02:00:00.5%2B02:00', '1767225600'];
    for (const form of forms) expect([form, (await tested.call('GET', path + form)).status]).toEqual([form, 200]);
    await tested.gateway.close();
  });
  it.each(filters)('is refused in any other form, with the same words: %s', async (path) => {
    const tested = open();
    const others = ['today', '2026-01-01T00:00:00', '2026-13-01', '2026-02-30', '1767225600000', '-1', '1.5', '']
      .concat(['2026', '2026-01', 'Jan 1 2026', '2026-01-01 00:00:00Z', '1e9', '2026-01-01T00:00:00Z%00'])
      .concat([`2026-01-01T00:00:00.${'0'.repeat(5_000)}x`]);
    for (const form of others) {
      const { status, json } = await tested.call('GET', path + form);
      expect([form, status]).toEqual([form, 400]);
      expect(json.error.message).toMatch(
        /^(from|to|date): expected a date such as 2026-01-31, a time with its zone such as 2026-01-31T12:00:00Z, or seconds since 1970$/,
      );
    }
    await tested.gateway.close();
  });
  it('means the same moment in each form, and a date is meant whole as the end', async () => {
    const tested = open();
    tested.upstream.always({ body: completion() });
    // The clock of the test stands at the beginning of 2026.
    await tested.clock.advance(3_600_000);
    await tested.post({ model: 'acme/fast', messages: hello, max_tokens: 10 });
    const count = async (query: string) => (await tested.call('GET', `/generations?${query}`)).json.data.length;
    for (const from of ['2026-01-01', '2026-01-01T01:00:00Z', '2026-01-01T03:00:00%2B02:00', '1767229200'])
      expect([from, await count(`from=${from}`)]).toEqual([from, 1]);
    for (const to of ['2025-12-31', '2026-01-01T01:00:00Z', '1767229200'])
      expect([to, await count(`to=${to}`)]).toEqual([to, 0]);
    for (const to of ['2026-01-01', '2026-01-01T01:00:01Z', '1767229201'])
      expect([to, await count(`to=${to}`)]).toEqual([to, 1]);
    const days = async (query: string) => (await tested.call('GET', `/activity?${query}`)).json.data.length;
    for (const day of ['from=2026-01-01&to=2026-01-01', 'date=1767229200', 'to=2026-01-01T01:00:00Z'])
      expect([day, await days(day)]).toEqual([day, 1]);
    for (const day of ['to=2026-01-01T00:00:00Z', 'date=2025-12-31', 'from=2026-01-02T00:00:00Z&to=2026-01-03'])
      expect([day, await days(day)]).toEqual([day, 0]);
    await tested.gateway.close();
  });
});
