import { describe, expect, it } from 'vitest';
import type { ByteSource } from '../../../src/base/bytes.ts';
import { UpstreamError } from '../../../src/base/http/upstream-error.ts';
import { readText, readTextBounded, send, textAtHand } from '../../../src/transport/send.ts';
import type { Transport, TransportRequest } from '../../../src/transport/transport.ts';

type Step = string | Uint8Array | Error;

/** Gives one step per read, then the end; `cancelled` counts. */
function scripted(...steps: Step[]): ByteSource & { cancelled: number } {
  return {
    cancelled: 0,
    async read() {
      const step = steps.shift();
      if (step instanceof Error) throw step;
      return step === undefined ? null : typeof step === 'string' ? new TextEncoder().encode(step) : step;
    },
    cancel() {
      this.cancelled++;
    },
  };
}

function answering(body: ByteSource): Transport {
  return { send: async () => ({ status: 200, headers: { a: 'b' }, body }) };
}

const request: TransportRequest = {
  method: 'POST',
  url: 'https://upstream.example/v1?key=secret',
  headers: {},
  signal: new AbortController().signal,
  limits: { headerBytes: 1000 },
};

const network = { name: 'UpstreamError', reason: 'network', status: 502, fault: 'transient' };

describe('send', () => {
  it('gives the answer, and bodies up to the limit', async () => {
    const response = await send(answering(scripted('abc', 'de')), request, 5);
    expect(response).toMatchObject({ status: 200, headers: { a: 'b' } });
    expect(await readText(response.body, 100)).toBe('abcde');
  });

  it('stops a body that is longer than the limit', async () => {
    const source = scripted('abc', 'def', 'ghi');
    const { body } = await send(answering(source), request, 5);
    await body.read();
    const expected = { reason: 'bad_response', status: 502, message: 'the response is larger than 5 bytes' };
    await expect(body.read()).rejects.toMatchObject(expected);
    expect(source.cancelled).toBe(1);
  });

  it.each([
    [Object.assign(new Error('connect ECONNREFUSED 10.0.0.1:443'), { code: 'ECONNREFUSED' }), 'connection refused'],
    [new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'ENOTFOUND' }) }), 'host not found'],
    [new AggregateError([Object.assign(new Error('x'), { code: 'ETIMEDOUT' })]), 'no connection could be made in time'],
    [new TypeError('Failed to fetch https://user:pass@10.0.0.1/?key=secret'), 'the connection to the provider failed'],
    ['a string', 'the connection to the provider failed'],
    [Object.assign(new Error('x'), { code: 'toString' }), 'the connection to the provider failed'],
  ])('turns %s into an UpstreamError with a message of ours', async (thrown, message) => {
    const failing: Transport = { send: () => Promise.reject(thrown) };
    await expect(send(failing, request, 5)).rejects.toMatchObject({
      ...network,
      message,
      cause: thrown,
    });
    const { body } = await send(answering({ read: failing.send as never, cancel() {} }), request, 5);
    await expect(body.read()).rejects.toMatchObject({ ...network, message });
  });

  it('reports a transport that throws synchronously', async () => {
    const throwing: Transport = {
      send() {
        throw new TypeError('not now');
      },
    };
    await expect(send(throwing, request, 5)).rejects.toMatchObject(network);
  });

  it('does not follow a cause that goes in circles', async () => {
    const circular = new Error('x');
    circular.cause = circular;
    const failing: Transport = { send: () => Promise.reject(circular) };
    await expect(send(failing, request, 5)).rejects.toMatchObject(network);
  });

  it('leaves an UpstreamError as it is', async () => {
    const error = new UpstreamError('busy', { reason: 'status', status: 503 });
    const failing: Transport = { send: () => Promise.reject(error) };
    await expect(send(failing, request, 5)).rejects.toBe(error);
  });

  describe('after an abort', () => {
    const reason = new UpstreamError('no first event in time', { reason: 'timeout', status: 524 });

    it('sends nothing', async () => {
      const never: Transport = { send: () => Promise.reject(new Error('was called')) };
      const aborted = { ...request, signal: AbortSignal.abort(reason) };
      await expect(send(never, aborted, 5)).rejects.toBe(reason);
    });

    it('throws the reason, whatever the transport makes of it', async () => {
      const controller = new AbortController();
      const failing: Transport = {
        async send() {
          controller.abort(reason);
          throw new DOMException('The operation was aborted', 'AbortError');
        },
      };
      await expect(send(failing, { ...request, signal: controller.signal }, 5)).rejects.toBe(reason);
    });

    it('cancels an answer that comes nevertheless', async () => {
      const controller = new AbortController();
      const source = scripted('abc');
      const late: Transport = {
        async send() {
          controller.abort(reason);
          return { status: 200, headers: {}, body: source };
        },
      };
      await expect(send(late, { ...request, signal: controller.signal }, 5)).rejects.toBe(reason);
      expect(source.cancelled).toBe(1);
    });

    it('throws the reason from a read, too', async () => {
      const controller = new AbortController();
      const aborted = { ...request, signal: controller.signal };
      const { body } = await send(answering(scripted(new Error('socket hang up'))), aborted, 5);
      controller.abort(reason);
      await expect(body.read()).rejects.toBe(reason);
    });
  });
});

describe('readText', () => {
  it('drops the byte-order mark and joins characters that pieces cut', async () => {
    const bytes = new TextEncoder().encode('\ufeffGrüße 👋');
    const pieces = [...bytes].map((byte) => Uint8Array.of(byte));
    expect(await readText(scripted(...pieces), 100)).toBe('Grüße 👋');
  });

  it('replaces bytes that are no UTF-8', async () => {
    expect(await readText(scripted(Uint8Array.of(0x61, 0xff, 0xe2, 0x82)), 100)).toBe('a\ufffd\ufffd');
  });

  it('takes exactly the limit, and refuses one byte more', async () => {
    expect(await readText(scripted('abc', 'de'), 5)).toBe('abcde');
    const source = scripted('abc', 'def');
    await expect(readText(source, 5)).rejects.toMatchObject({ reason: 'bad_response', status: 502 });
    expect(source.cancelled).toBe(1);
  });

  it('passes a failure on', async () => {
    await expect(readText(scripted('abc', new Error('cut')), 100)).rejects.toThrow('cut');
  });
});

describe('textAtHand', () => {
  const here = (bytes: Uint8Array | null | Error) => ({
    ...scripted(),
    rest() {
      if (bytes instanceof Error) throw bytes;
      return bytes;
    },
  });
  const bytesOf = (text: string) => new TextEncoder().encode(text);
  const through = async (source: ByteSource, limitBytes: number) =>
    (await send(answering(source), request, limitBytes)).body;

  it('is the text of a body that has arrived, also of an empty one', async () => {
    expect(textAtHand(await through(here(bytesOf('\ufeffGrüße')), 100), 100)).toBe('Grüße');
    expect(textAtHand(await through(here(new Uint8Array()), 100), 100)).toBe('');
  });

  it('is not there where the source has not got it all, or cannot tell', async () => {
    expect(textAtHand(await through(here(null), 100), 100)).toBeNull();
    expect(textAtHand(await through(scripted('abc'), 100), 100)).toBeNull();
  });

  it('is refused beyond either limit', async () => {
    const expected = { reason: 'bad_response', status: 502, message: 'the response is larger than 2 bytes' };
    for (const limits of [[2, 100] as const, [100, 2] as const]) {
      const body = await through(here(bytesOf('abc')), limits[0]);
      expect(() => textAtHand(body, limits[1])).toThrow(expect.objectContaining(expected));
    }
  });

  it('fails with an error of ours', async () => {
    const body = await through(here(new TypeError('not now')), 100);
    expect(() => textAtHand(body, 100)).toThrow(expect.objectContaining(network));
  });
});

describe('readTextBounded', () => {
  it('stops at the limit and gives what it has, without half a character', async () => {
    const source = scripted('ab', 'cü', 'never');
    expect(await readTextBounded(source, 4)).toBe('abc');
    expect(source.cancelled).toBe(1);
  });

  it('gives a short body whole, and does not cancel it', async () => {
    const source = scripted('abc');
    expect(await readTextBounded(source, 100)).toBe('abc');
    expect(source.cancelled).toBe(0);
  });
});
