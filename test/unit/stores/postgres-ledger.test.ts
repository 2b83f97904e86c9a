import { describe, expect, it } from 'vitest';
import { defaultWorkspaceId } from '../../../src/call/workspace.ts';
import { postgresLedger } from '../../../src/stores/ledger/postgres.ts';
import { postgresNames } from '../../../src/stores/storage/postgres-sql.ts';

const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });

/** A ledger whose server answers this, text or failure, one after the other. */
function ledgerThat(...answers: (string | Error)[]) {
  const calls: unknown[] = [];
  const ledger = postgresLedger(
    {
      namespace: '',
      async call(_, values) {
        calls.push(values);
        const answer = answers.shift();
        if (answer instanceof Error) throw answer;
        return [answer as string];
      },
      close: async () => {},
    },
    postgresNames('public', 'keyv'),
    { onLostHold: 'charge' },
  );
  return { ledger, calls };
}
const settle = ({ ledger }: ReturnType<typeof ledgerThat>) => ledger.settle(defaultWorkspaceId, 'id', 5, 0);

describe('the ledger on PostgreSQL, when the connection is lost before it has answered', () => {
  it('asks once more', async () => {
    const lost = ledgerThat(reset, '"ended"');
    expect(await settle(lost)).toBe('ended');
    expect(lost.calls[1]).toEqual(lost.calls[0]);
    const held = ledgerThat(reset, '{"isHeld":true}');
    const request = { id: 'id', workspaceId: defaultWorkspaceId, amountNanoUsd: 1, windows: [] };
    expect(await held.ledger.hold({ ...request, nowMs: 0, leaseUntilMs: 1 })).toEqual({ isHeld: true });
  });
  it('does not say of a settlement that there is no such hold: the first may have ended it', async () => {
    await expect(settle(ledgerThat(reset, '"unknown"'))).rejects.toBe(reset);
    expect(await settle(ledgerThat('"unknown"'))).toBe('unknown');
  });
  it('fails when it is lost again, and with any other failure', async () => {
    await expect(settle(ledgerThat(reset, reset))).rejects.toBe(reset);
    const full = Object.assign(new Error('disk full'), { code: '53100', severity: 'ERROR' });
    const refused = ledgerThat(full);
    await expect(settle(refused)).rejects.toBe(full);
    expect(refused.calls).toHaveLength(1);
  });
});
