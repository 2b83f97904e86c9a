import { describe, expect, it } from 'vitest';
import type { Gateway } from '../../src/gateway.ts';
import { examplesOf, writeExample } from './example-files.ts';

describe('docs/self-hosted.md', () => {
  it('shows gateways that can be made', async () => {
    const examples = examplesOf('docs/self-hosted.md').filter((text) => text.includes('createGateway('));
    expect(examples).not.toEqual([]);
    for (const [at, example] of examples.entries()) {
      const { gateway }: { gateway: Gateway } = await import(
        /* @vite-ignore */ writeExample(`self-hosted-${at}`, example)
      );
      expect(gateway.state().inCooldown).toEqual([]);
      await gateway.close();
    }
  });
});
