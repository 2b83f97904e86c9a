import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { gatewayListener } from '../../adapters/hosts/node.ts';
import { createGateway } from '../../src/gateway.ts';

const apiKey = 'sk-of-the-conversations-test';

describe('the client of OpenAI over HTTP', () => {
  it('makes a conversation without a body, adds turns to it, lists it and deletes it', async () => {
    const gateway = createGateway({
      providers: { sandbox: {} },
      apiKeys: [{ key: apiKey }],
      records: { enabled: true },
    });
    await gateway.workspaces.update({ id: 'default', is_observability_io_logging_enabled: true });
    const server = createServer(gatewayListener(gateway));
    await new Promise<void>((done) => void server.listen(0, '127.0.0.1', done));
    const { port } = server.address() as AddressInfo;
    const { conversations, responses } = new OpenAI({ apiKey, baseURL: `http://127.0.0.1:${port}/v1`, maxRetries: 0 });
    const model = 'sandbox/echo';
    const { id } = await conversations.create();
    const one = await responses.create({ model, input: 'One', conversation: id });
    const two = await responses.stream({ model, input: 'Two', conversation: { id } }).finalResponse();
    expect([one.conversation, two.conversation]).toEqual([{ id }, { id }]);
    const texts: unknown[] = [];
    for await (const item of conversations.items.list(id, { order: 'asc', limit: 1 }))
      texts.push((item as { content: { text: string }[] }).content[0]?.text);
    expect(texts).toEqual(['One', 'One', 'Two', 'Two']);
    expect((await conversations.delete(id)).deleted).toBe(true);
    await expect(responses.create({ model, input: 'Three', conversation: id })).rejects.toBeInstanceOf(
      OpenAI.NotFoundError,
    );
    server.closeAllConnections();
    server.close();
    await gateway.close();
  });
});
