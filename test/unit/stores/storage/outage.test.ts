import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../../src/base/errors.ts';
import { NotSentError } from '../../../../src/stores/storage/circuit.ts';
import {
  answerOf,
  isDemoted,
  isOutage,
  nameOfError,
  StoreTimeoutError,
} from '../../../../src/stores/storage/outage.ts';

const coded = (code: unknown, message = 'no') => Object.assign(new Error(message), { code });
class SocketClosedUnexpectedlyError extends Error {}
class ErrorReply extends Error {}

describe('an outage', () => {
  it.each<[string, unknown]>([
    ['our own time limit', new StoreTimeoutError(250)],
    ['a refused connection', coded('ECONNREFUSED')],
    ['a connection that was reset', coded('ECONNRESET')],
    ['a host without an address', coded('ENOTFOUND')],
    ['a PostgreSQL that goes down', coded('57P01', 'terminating connection due to administrator command')],
    ['a PostgreSQL that starts', coded('57P03', 'the database system is starting up')],
    ['a PostgreSQL with too many connections', coded('53300')],
    ['a connection that PostgreSQL lost', coded('08006')],
    ['pg losing its connection', new Error('Connection terminated unexpectedly')],
    ['pg finding no connection', new Error('timeout exceeded when trying to connect')],
    ['pg having lost one', new Error('Client has encountered a connection error and is not queryable')],
    ['a class of the Redis client', new SocketClosedUnexpectedlyError()],
    ['the Redis client being closed', new Error('The client is closed')],
    ['the Redis client being offline', new Error('The client is offline')],
    ['the adapter for Redis giving up', new Error('Redis client is not connected or has failed to connect.')],
    ['another Redis client', new Error('Connection is closed.')],
    ['one of several addresses', new AggregateError([new Error('x'), coded('ECONNREFUSED')])],
    ['the cause of another error', new Error('wrapped', { cause: new Error('again', { cause: coded('EPIPE') }) })],
  ])('is %s', (_, error) => {
    expect(isOutage(error)).toBe(true);
  });
  it.each<[string, unknown]>([
    ['a server that only reads', new ErrorReply("READONLY You can't write against a read only replica.")],
    ['a server without memory', new ErrorReply("OOM command not allowed when used memory > 'maxmemory'.")],
    ['a full disk', coded('53100', 'could not extend file')],
    ['a PostgreSQL that only reads', coded('25006', 'cannot execute UPDATE in a read-only transaction')],
    ['a unique constraint', coded('23505', 'duplicate key value')],
    ['a busy SQLite', coded('ERR_SQLITE_ERROR', 'database is locked')],
    ['a mistake of ours', new TypeError('x is not a function')],
    ['a code that is no text', coded(8006)],
    ['no error', undefined],
    ['a text', 'Connection closed'],
  ])('is not %s', (_, error) => {
    expect(isOutage(error)).toBe(false);
  });
  it('is looked for in a chain that bites its own tail, and not for ever', () => {
    const error = new Error('a');
    error.cause = error;
    expect(isOutage(error)).toBe(false);
  });
});

const hash = 'f_0123456789abcdef0123456789abcdef01234567';

describe('a demotion', () => {
  it.each<[string, unknown]>([
    ['a replica', new ErrorReply("READONLY You can't write against a read only replica.")],
    [
      'a replica, from inside a script',
      new ErrorReply(`ERR Error running script (call to ${hash}): @user_script:1: -READONLY You can't write.`),
    ],
    ['a server that loads its data', new ErrorReply('LOADING Redis is loading the dataset in memory')],
    [
      'a replica without a master',
      new ErrorReply("MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."),
    ],
    ['a cluster without its slots', new ErrorReply('CLUSTERDOWN The cluster is down')],
    ['a master without replicas', new ErrorReply('NOREPLICAS Not enough good replicas to write.')],
    ['a PostgreSQL that only reads', coded('25006', 'cannot execute UPDATE in a read-only transaction')],
    ['a PostgreSQL that starts', coded('57P03', 'the database system is starting up')],
  ])('is said by %s', (_, error) => {
    expect(isDemoted(error)).toBe(true);
  });
  it.each<[string, unknown]>([
    ['a server without memory', new ErrorReply("OOM command not allowed when used memory > 'maxmemory'.")],
    ['a full disk', coded('53100', 'could not extend file')],
    ['a wrong password', new ErrorReply('WRONGPASS invalid username-password pair or user is disabled.')],
    ['a value that quotes it', coded('22P02', 'invalid input: -READONLY x')],
    ['a lost connection', coded('ECONNRESET')],
    ['a text', 'READONLY x'],
  ])('is not said by %s', (_, error) => {
    expect(isDemoted(error)).toBe(false);
  });
});

describe("a server's own words", () => {
  const state = (code: string, message: string) =>
    Object.assign(coded(code, message), { severity: 'FATAL', name: 'error' });
  it.each<[unknown, string]>([
    [
      new ErrorReply('WRONGPASS invalid username-password pair or user is disabled.'),
      'WRONGPASS invalid username-password pair or user is disabled.',
    ],
    [new ErrorReply('NOAUTH Authentication required.'), 'NOAUTH Authentication required.'],
    [
      new ErrorReply("OOM command not allowed when used memory > 'maxmemory'."),
      "OOM command not allowed when used memory > 'maxmemory'.",
    ],
    [
      new ErrorReply("NOPERM User default has no permissions to run the 'evalsha' command"),
      "NOPERM User default has no permissions to run the 'evalsha' command",
    ],
    [
      new ErrorReply(`READONLY You can't write against a read only replica. script: ${hash}, on @user_script:1.`),
      "READONLY You can't write against a read only replica. script: …, on @user_script:1.",
    ],
    [
      state('28P01', 'password authentication failed for user "gateway"'),
      'password authentication failed for user "gateway"',
    ],
    [state('3D000', 'database "gone" does not exist'), 'database "gone" does not exist'],
    [state('53300', 'sorry, too many clients already'), 'sorry, too many clients already'],
    [
      new Error('SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string'),
      'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string',
    ],
    [new Error('wrapped', { cause: new ErrorReply('WRONGPASS no') }), 'WRONGPASS no'],
  ])('are told of %s', (error, words) => {
    expect(answerOf(error)).toBe(words);
  });
  it.each<[string, unknown]>([
    ['a socket', coded('ECONNREFUSED', 'connect ECONNREFUSED 10.0.0.7:6379 hunter2')],
    ['a client', new SocketClosedUnexpectedlyError('redis://u:hunter2@h')],
    ['a driver of another database', new Error('MongoError: mongodb://u:hunter2@h failed')],
    ['no error', 'WRONGPASS hunter2'],
  ])('are not there in the error of %s', (_, error) => {
    expect(answerOf(error)).toBeNull();
  });
  it.each([
    "ERR unknown command 'auth', with args beginning with: 'hunter2' ",
    'ERR unknown command `AUTH`, with args beginning with: `hunter2`, `x`',
    'ERR cannot reach redis://user:hunter2@10.0.0.7:6379/0',
    'ERR cannot reach redis://:hunter2@host',
    'ERR cannot reach redis://user:p@hunter2@host',
    'ERR bad option password=hunter2',
    'ERR bad option password: "hunter2 and more"',
    `ERR bad value "sk-or-v1-${'hunter2'.repeat(9)}"`,
    `ERR bad value 'a ${'b '.repeat(40)}hunter2'`,
    `ERR bad value 'a ${'b '.repeat(40)}hunter2`,
    'ERR bad key sk-live-0123456789-hunter2-abcdef',
    `ERR ${'x '.repeat(400)}hunter2`,
  ])('never hold a secret: %s', (message) => {
    for (const error of [new ErrorReply(message), state('XX000', message)]) {
      expect(answerOf(error)).not.toContain('hunter2');
      expect(nameOfError(error)).not.toContain('hunter2');
    }
  });
  it('are one line of bounded length', () => {
    expect(answerOf(state('XX000', `a\n\u001b[31mb${' c'.repeat(1_000_000)}`))).toMatch(/^a b( c)+…?$/);
    expect(answerOf(state('XX000', 'c '.repeat(1_000_000)))?.length).toBeLessThanOrEqual(200);
  });
  it('are looked for in a chain that bites its own tail, and not for ever', () => {
    const error = new Error('a');
    error.cause = error;
    expect([answerOf(error), nameOfError(error)]).toEqual([null, 'Error']);
  });
});

describe('the name of an error', () => {
  it.each<[unknown, string]>([
    [new StoreTimeoutError(250), 'StoreTimeoutError'],
    [new SocketClosedUnexpectedlyError('redis://u:hunter2@h'), 'SocketClosedUnexpectedlyError'],
    [coded('ECONNREFUSED', 'connect redis://u:hunter2@h'), 'Error ECONNREFUSED'],
    [coded('postgres://u:hunter2@h'), 'Error'],
    ['redis://u:hunter2@h', 'string'],
    [new ErrorReply('WRONGPASS no'), 'ErrorReply: WRONGPASS no'],
    [new NotSentError('Redis is not connected', new ErrorReply('WRONGPASS no')), 'ErrorReply: WRONGPASS no'],
    [new GatewayError('unavailable', 'x', { cause: coded('ECONNREFUSED') }), 'Error ECONNREFUSED'],
    [
      Object.assign(coded('28P01', 'password authentication failed'), { severity: 'FATAL' }),
      'Error 28P01: password authentication failed',
    ],
    [undefined, 'undefined'],
  ])('of %o is %s', (error, name) => {
    expect(nameOfError(error)).toBe(name);
  });
});
