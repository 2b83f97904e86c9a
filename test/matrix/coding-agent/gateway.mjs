// The packed gateway on a loopback port, in front of one scripted upstream.
import { createGateway, serve } from '../installed.mjs';

const apiKey = 'sk-client-0123456789';
/** A name by which an agent knows the model is a name of the gateway's too: the agent offers other tools for each. */
const models = ['acme/coder', 'acme/gpt-5.5', 'acme/gpt-6.1-sol'];

/**
 * @param upstream  see `startUpstream`
 * @param options   of the gateway, beside these
 * @returns `{ baseURL, apiKey, records, sockets, close }`; the records of all requests are in the order in which they ended
 */
export async function startGateway({ provider, model }, options = {}) {
  const records = [];
  const gateway = createGateway({
    providers: { scripted: provider },
    models: models.map((slug) => ({ slug, endpoints: [{ provider: 'scripted', model }] })),
    aliases: { 'gpt-5.5': 'acme/gpt-5.5', 'gpt-6.1-sol': 'acme/gpt-6.1-sol' },
    apiKeys: [{ key: apiKey }],
    onRecord: (record) => records.push(record),
    ...options,
  });
  let sockets = 0;
  const upgrade = (...request) => {
    sockets++;
    return gateway.upgrade(...request);
  };
  const { handle, ready, basePath } = gateway;
  const server = await serve({ handle, ready, basePath, upgrade }, { port: 0, hostname: '127.0.0.1' });
  return {
    baseURL: server.url,
    apiKey,
    records,
    /** The number of WebSockets that the agent has opened. */
    sockets: () => sockets,
    async close() {
      await server.close(0);
      await gateway.close();
    },
  };
}
