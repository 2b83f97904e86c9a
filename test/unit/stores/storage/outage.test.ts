import { describe, expect, it } from 'vitest';
import { isOutage, nameOfError, StoreTimeoutError } from '../../../../src/stores/storage/outage.ts';

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

describe('the name of an error', () => {
  it.each<[unknown, string]>([
    [new StoreTimeoutError(250), 'StoreTimeoutError'],
    [new SocketClosedUnexpectedlyError('redis://u:hunter2@h'), 'SocketClosedUnexpectedlyError'],
    [coded('ECONNREFUSED', 'connect redis://u:hunter2@h'), 'Error ECONNREFUSED'],
    [coded('postgres://u:hunter2@h'), 'Error'],
    ['redis://u:hunter2@h', 'string'],
    [undefined, 'undefined'],
  ])('of %o is %s', (error, name) => {
    expect(nameOfError(error)).toBe(name);
  });
});
