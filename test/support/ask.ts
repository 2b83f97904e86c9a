import { connect } from 'node:net';

/** What a local port answers first; null where nobody does within a second. */
export function ask(port: number, question: Uint8Array): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', timeout: 1_000 }, () => socket.write(question));
    const end = (answer: Buffer | null) => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('data', end);
    socket.once('error', () => end(null));
    socket.once('close', () => end(null));
    socket.once('timeout', () => end(null));
  });
}

/** Whether a Redis answers on the port, without a password. */
export async function isRedis(port: number): Promise<boolean> {
  const answer = await ask(port, Buffer.from('PING\r\n'));
  return answer?.toString().startsWith('+PONG') ?? false;
}

/**
 * Whether a PostgreSQL on the port lets the user in without a password; null where there is no server.
 * @see PostgreSQL manual, "Message Formats": StartupMessage of protocol 3.0, AuthenticationOk
 */
export async function isPostgres(port: number, user: string, database: string): Promise<boolean | null> {
  const body = Buffer.from(`\0\x03\0\0user\0${user}\0database\0${database}\0\0`);
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  const answer = await ask(port, Buffer.concat([length, body]));
  return answer && answer[0] === 0x52 && answer.readInt32BE(5) === 0;
}
