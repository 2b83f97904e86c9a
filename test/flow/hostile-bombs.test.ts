import { constants, createBrotliCompress, deflateRawSync, gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { answer } from '../contract/transport/raw-server.ts';
import { text } from '../support/hostile.ts';
import { attack, cooldownWatch, mostBytes, networks, peakOf } from '../support/hostile-upstream.ts';
import { readSaidStream } from '../support/recordings.ts';

// Much of this is bound by the machine, which may have other things to do.
vi.setConfig({ testTimeout: 60_000, hookTimeout: 60_000 });

const mebi = 1024 * 1024;
const expectCooldown = cooldownWatch();

describe('a bomb of 1 GB', () => {
  const bombs = new Map<string, { json: Buffer; event: Buffer; comments: Buffer }>();

  beforeAll(async () => {
    for (const coding of ['gzip', 'deflate', 'br']) {
      const [json, event, comments] = await Promise.all([
        bomb(coding, '{"choices":"', 'x'),
        bomb(coding, `${text('Hello')}data: "`, 'x'),
        bomb(coding, text('Hello'), `: ${'x'.repeat(1020)}\n\n`),
      ]);
      bombs.set(coding, { json, event, comments });
    }
  });

  describe.each(networks)('over %s', (network, options) => {
    const idle = network === 'fetch' ? 1 : 0;

    it.each(['gzip', 'deflate', 'br'])(
      'in %s ends in a 502, or in an error event, of bounded memory',
      async (coding) => {
        const { json, event, comments } = bombs.get(coding) as { json: Buffer; event: Buffer; comments: Buffer };
        for (const [body, stream] of [
          [json, false],
          [event, true],
          [comments, true],
        ] as const) {
          const attacked = await attack(
            ({ socket }) => void socket.write(answer(body, { 'content-encoding': coding })),
            { ...options, limits: { upstreamStreamBytes: 12 * mebi } },
          );
          const { value, peakBytes } = await peakOf(attacked.post({ stream }));
          if (body === json) expect(value.status).toBe(502);
          else
            expect(readSaidStream(value.text)).toMatchObject({
              error: expect.stringContaining('larger than'),
              choices: { 0: { content: 'Hello', finish: 'error' } },
            });
          expect(peakBytes).toBeLessThan(mostBytes);
          await expectCooldown(attacked.server, idle);
          await attacked.close();
        }
      },
    );
  });
});

/** 1 GB of a text, after another, compressed: piece by piece where the coding allows to repeat a piece. */
async function bomb(coding: string, start: string, filler: string): Promise<Buffer> {
  const filling = Buffer.alloc(16 * mebi, filler);
  if (coding === 'gzip') return Buffer.concat([gzipSync(start), ...Array<Buffer>(64).fill(gzipSync(filling))]);
  if (coding === 'deflate') {
    const flushed = (data: string | Buffer) => deflateRawSync(data, { finishFlush: constants.Z_FULL_FLUSH });
    return Buffer.concat([flushed(start), ...Array<Buffer>(64).fill(flushed(filling))]);
  }
  const compressor = createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: 1 } });
  const pieces: Buffer[] = [];
  compressor.on('data', (piece: Buffer) => pieces.push(piece));
  const ended = new Promise((resolve) => compressor.on('end', resolve));
  compressor.write(start);
  for (let written = 0; written < 64; written++) {
    if (!compressor.write(filling)) await new Promise((resolve) => compressor.once('drain', resolve));
  }
  compressor.end();
  await ended;
  return Buffer.concat(pieces);
}
