import { connect } from 'node:net';
import process from 'node:process';
import { KeyvPostgres } from '@keyv/postgres';
import KeyvRedis from '@keyv/redis';

const name = 'multi_instance_example';

/** Opens the store that all processes share: Redis or PostgreSQL, depending on the URL. */
export function openStore(url) {
  if (new URL(url).protocol.startsWith('redis')) {
    const socket = { socketTimeout: 5_000 };
    return new KeyvRedis({ url, disableOfflineQueue: true, pingInterval: 2_000, socket }, { namespace: name });
  }
  return new KeyvPostgres({ uri: url, schema: name, max: 10 });
}

/**
 * Returns the URL in REDIS_URL or DATABASE_URL, else of a server on a standard port of this machine; null: none found.
 */
export async function findStore({ REDIS_URL, DATABASE_URL } = process.env) {
  const named = REDIS_URL || DATABASE_URL;
  const usual = ['redis://127.0.0.1:6379', 'postgres://postgres@127.0.0.1:5432/postgres'];
  for (const url of named ? [named] : usual) if (await isListening(new URL(url))) return url;
  return null;
}

function isListening({ protocol, hostname, port }) {
  return new Promise((resolve) => {
    const socket = connect(Number(port) || (protocol.startsWith('redis') ? 6379 : 5432), hostname);
    const end = (isOpen) => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
    socket.setTimeout(2_000, () => end(false));
  });
}
