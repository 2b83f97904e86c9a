import { describe, expect, it } from 'vitest';
import { isGatewayError } from '../../../src/base/errors.ts';
import { type Sealed, sealedSchema } from '../../../src/schema/tenants/credential.ts';
import { createVault, type Sealer, type SecretOwner, type Vault } from '../../../src/stores/vault/index.ts';
import { keyRing } from '../../../src/stores/vault/key-ring.ts';
import { limitSealer } from '../../../src/stores/vault/limit-sealer.ts';
import { manualClock } from '../../support/manual-clock.ts';

const randomBytes = (size: number) => crypto.getRandomValues(new Uint8Array(size));
const first = 'first-master-secret-of-40-characters-abc';
const second = 'second-master-secret-of-40-characters-ab';
const secret = 'sk-provider-key-0123456789';
const owner: SecretOwner = { credentialId: 'credential-1', workspaceId: 'workspace-1', provider: 'openai' };

function vaultOf(current: string, ...previous: string[]): Vault {
  return createVault({ sealer: keyRing({ current, previous }, randomBytes), randomBytes });
}

/** The kind of error it rejects with; 'opened' when it does not. */
async function outcome(opening: Promise<unknown>): Promise<string> {
  try {
    await opening;
    return 'opened';
  } catch (error) {
    return isGatewayError(error) ? error.kind : `not a GatewayError: ${String(error)}`;
  }
}

/** Every text with one character changed to another of its alphabet. */
function damaged(base64: string): string[] {
  return [...base64]
    .map((character, at) => base64.slice(0, at) + (character === 'A' ? 'B' : 'A') + base64.slice(at + 1))
    .filter((text) => !Buffer.from(text, 'base64').equals(Buffer.from(base64, 'base64')));
}

describe('a vault', () => {
  it.each(['x', secret, 'ünïcode 👋', 'y'.repeat(16_384), '{\n  "type": "service_account"\n}'])(
    'opens what it sealed, in this process and in another with the same secret (%#)',
    async (text) => {
      const sealed = await vaultOf(first).seal(text, owner);
      expect(await vaultOf(first).open(sealed, owner)).toBe(text);
    },
  );

  it('seals into what the schema of records takes, and what JSON keeps', async () => {
    const sealed = await vaultOf(first).seal(secret, owner);
    expect(sealedSchema().parse(JSON.parse(JSON.stringify(sealed)))).toEqual(sealed);
  });

  it('shows nothing of the secret, of its length beyond the format, or of the master secret', async () => {
    const sealed = await vaultOf(first).seal(secret, owner);
    const bytes = [sealed.keyId, sealed.sealedKey, sealed.ciphertext]
      .flatMap((text) => [
        text,
        Buffer.from(text, 'base64').toString('latin1'),
        Buffer.from(text, 'hex').toString('latin1'),
      ])
      .join('\n');
    for (const shown of [secret, first]) expect(bytes).not.toContain(shown);
  });

  it('never seals twice alike: every seal has its own data key and nonces', async () => {
    const vault = vaultOf(first);
    const seals = await Promise.all(Array.from({ length: 20 }, () => vault.seal(secret, owner)));
    expect(new Set(seals.map(({ sealedKey }) => sealedKey)).size).toBe(20);
    expect(new Set(seals.map(({ ciphertext }) => ciphertext)).size).toBe(20);
    expect(new Set(seals.map(({ ciphertext }) => ciphertext.slice(0, 16))).size).toBe(20);
  });

  it('encrypts as AES-256-GCM: a nonce of 12 bytes, the text, a tag of 16', async () => {
    const { ciphertext, sealedKey } = await vaultOf(first).seal(secret, owner);
    expect(Buffer.from(ciphertext, 'base64')).toHaveLength(12 + secret.length + 16);
    expect(Buffer.from(sealedKey, 'base64')).toHaveLength(12 + 32 + 16);
  });

  it('does not open for another credential, workspace or provider', async () => {
    const vault = vaultOf(first);
    const sealed = await vault.seal(secret, owner);
    for (const other of [{ credentialId: 'credential-2' }, { workspaceId: 'workspace-2' }, { provider: 'azure' }]) {
      expect(await outcome(vault.open(sealed, { ...owner, ...other }))).toBe('internal');
      expect(await outcome(vault.reseal(sealed, { ...owner, ...other }))).toBe('internal');
    }
  });

  it('cannot be fooled by owners whose names run together', async () => {
    const vault = vaultOf(first);
    const sealed = await vault.seal(secret, { workspaceId: 'a","b', provider: 'c', credentialId: 'd' });
    expect(await outcome(vault.open(sealed, { workspaceId: 'a', provider: 'b","c', credentialId: 'd' }))).toBe(
      'internal',
    );
  });

  it('does not open with a data key of another credential, nor with a secret of another', async () => {
    const vault = vaultOf(first);
    const other = { ...owner, credentialId: 'credential-2' };
    const [mine, others] = [await vault.seal(secret, owner), await vault.seal('another', other)];
    expect(await outcome(vault.open({ ...mine, sealedKey: others.sealedKey }, owner))).toBe('internal');
    expect(await outcome(vault.open({ ...mine, ciphertext: others.ciphertext }, owner))).toBe('internal');
  });

  it('does not open with the data key of an earlier seal of the same credential', async () => {
    const vault = vaultOf(first);
    const [before, after] = [await vault.seal('before', owner), await vault.seal('after', owner)];
    expect(await outcome(vault.open({ ...after, ciphertext: before.ciphertext }, owner))).toBe('internal');
  });

  it('does not open when any one character was changed', async () => {
    const vault = vaultOf(first);
    const sealed = await vault.seal('sk-short', owner);
    const changed = [
      ...damaged(sealed.ciphertext).map((ciphertext) => ({ ...sealed, ciphertext })),
      ...damaged(sealed.sealedKey).map((sealedKey) => ({ ...sealed, sealedKey })),
    ];
    expect(changed.length).toBeGreaterThan(100);
    const outcomes = await Promise.all(changed.map((one) => outcome(vault.open(one, owner))));
    expect(new Set(outcomes)).toEqual(new Set(['internal']));
  });

  it.each<[string, (sealed: Sealed) => Partial<Sealed>]>([
    ['the ciphertext is cut short', ({ ciphertext }) => ({ ciphertext: ciphertext.slice(0, -4) })],
    ['the ciphertext is too short to be one', () => ({ ciphertext: 'AAAA' })],
    ['the ciphertext is empty', () => ({ ciphertext: '' })],
    ['the ciphertext is no base64', () => ({ ciphertext: 'A' })],
    ['the data key is cut short', ({ sealedKey }) => ({ sealedKey: sealedKey.slice(0, -4) })],
    ['the data key is no base64', () => ({ sealedKey: '%' })],
    ['the key id is of no key', () => ({ keyId: '0123456789abcdef' })],
  ])('does not open when %s', async (_, change) => {
    const vault = vaultOf(first);
    const sealed = await vault.seal(secret, owner);
    expect(await outcome(vault.open({ ...sealed, ...change(sealed) }, owner))).toBe('internal');
  });

  it('says in the log why it does not open, and to callers nothing', async () => {
    const sealed = await vaultOf(first).seal(secret, owner);
    const error = await vaultOf(second)
      .open(sealed, owner)
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      status: 500,
      message: 'A stored provider key cannot be opened',
      cause: { message: expect.stringContaining(`the master key ${sealed.keyId} is not among the configured secrets`) },
    });
    expect(JSON.stringify([error, String((error as Error).cause)])).not.toMatch(/sk-provider|master-secret-of/);
  });
});

describe('without a master key', () => {
  const closed = createVault({ sealer: null, randomBytes });

  it('is closed, and says what to set', async () => {
    expect(closed.isOpen).toBe(false);
    expect(vaultOf(first).isOpen).toBe(true);
    await expect(closed.seal(secret, owner)).rejects.toMatchObject({
      status: 503,
      message: expect.stringContaining('`secrets`'),
    });
  });

  it('what was sealed once does not open, and nothing is to be sealed anew', async () => {
    const sealed = await vaultOf(first).seal(secret, owner);
    expect(await outcome(closed.open(sealed, owner))).toBe('internal');
    expect(closed.needsReseal(sealed)).toBe(false);
  });
});

describe('a rotation of secrets', () => {
  it('opens what an earlier secret sealed, seals with the current, and then needs the earlier no more', async () => {
    const old = await vaultOf(first).seal(secret, owner);
    const both = vaultOf(second, first);
    expect(await both.open(old, owner)).toBe(secret);
    expect(both.needsReseal(old)).toBe(true);
    const fresh = await both.reseal(old, owner);
    expect(both.needsReseal(fresh)).toBe(false);
    expect(await vaultOf(second).open(fresh, owner)).toBe(secret);
    expect(await outcome(vaultOf(first).open(fresh, owner))).toBe('internal');
    expect(await outcome(vaultOf(second).open(old, owner))).toBe('internal');
  });

  it('leaves the encrypted secret itself as it is', async () => {
    const old = await vaultOf(first).seal(secret, owner);
    const fresh = await vaultOf(second, first).reseal(old, owner);
    expect(fresh.ciphertext).toBe(old.ciphertext);
    expect(fresh.sealedKey).not.toBe(old.sealedKey);
  });

  it('may be rolled out instance by instance: one that knows the next secret as a previous one opens both', async () => {
    const [before, after] = [vaultOf(first, second), vaultOf(second, first)];
    expect(await after.open(await before.seal('a', owner), owner)).toBe('a');
    expect(await before.open(await after.seal('b', owner), owner)).toBe('b');
  });

  it('names keys by ids that are the same everywhere and differ by secret', () => {
    const idOf = (current: string) => keyRing({ current }, randomBytes).keyId;
    expect(idOf(first)).toBe(idOf(first));
    expect(idOf(first)).toMatch(/^[0-9a-f]{16}$/);
    expect(idOf(first)).not.toBe(idOf(second));
  });
});

describe('a sealer of the host app’s own', () => {
  /** Keeps the data keys, as no key service would; gives out tickets. */
  function ticketSealer(): Sealer & { contexts: string[]; keys: Map<string, Uint8Array> } {
    const keys = new Map<string, Uint8Array>();
    const contexts: string[] = [];
    return {
      keyId: 'arn:aws:kms:eu-central-1:111122223333:key/1234',
      keys,
      contexts,
      async seal(dataKey, context) {
        contexts.push(context);
        const sealed = `ticket-${keys.size + 1}`;
        keys.set(`${sealed} ${context}`, dataKey);
        return { keyId: this.keyId, sealed };
      },
      async open({ sealed }, context) {
        const key = keys.get(`${sealed} ${context}`);
        if (!key) throw new Error('AccessDenied');
        return key;
      },
    };
  }

  it('seals and opens, and is told what a data key belongs to', async () => {
    const sealer = ticketSealer();
    const vault = createVault({ sealer, randomBytes });
    const sealed = await vault.seal(secret, owner);
    expect(sealed).toMatchObject({ keyId: sealer.keyId, sealedKey: 'ticket-1' });
    expect(await vault.open(sealed, owner)).toBe(secret);
    expect(await vault.open(sealed, owner)).toBe(secret);
    expect(sealer.contexts[0]).toContain('workspace-1');
    expect(sealer.contexts[0]).toContain('credential-1');
    expect(sealer.contexts[0]).toContain('openai');
  });

  it('may be an outage, which is not a key that will never open', async () => {
    const vault = createVault({
      sealer: { ...ticketSealer(), open: () => Promise.reject(new Error('ECONNRESET')) },
      randomBytes,
    });
    const sealed = await vault.seal(secret, owner);
    await expect(vault.open(sealed, owner)).rejects.toMatchObject({ status: 503, retryAfterMs: 1000 });
  });

  it('may throw at once', async () => {
    const sealer: Sealer = {
      keyId: 'k',
      seal: () => {
        throw new TypeError('not ready');
      },
      open: () => {
        throw new TypeError('not ready');
      },
    };
    expect(await outcome(createVault({ sealer, randomBytes }).seal(secret, owner))).toBe('unavailable');
    expect(
      await outcome(createVault({ sealer: limitSealer(sealer, manualClock(), 10), randomBytes }).seal(secret, owner)),
    ).toBe('unavailable');
  });

  it.each<[string, unknown]>([
    ['nothing readable', { keyId: 'k', sealed: 7 }],
    ['an empty text', { keyId: 'k', sealed: '' }],
    ['no id', { sealed: 'x' }],
    ['more than a record holds', { keyId: 'k', sealed: 'x'.repeat(16_385) }],
  ])('that gives %s stores nothing', async (_, given) => {
    const sealer = { keyId: 'k', seal: () => Promise.resolve(given), open: () => Promise.reject(new Error()) };
    const vault = createVault({ sealer: sealer as unknown as Sealer, randomBytes });
    expect(await outcome(vault.seal(secret, owner))).toBe('internal');
  });

  it.each([31, 33, 0])('that gives a data key of %d bytes does not open', async (size) => {
    const sealer = ticketSealer();
    const vault = createVault({ sealer, randomBytes });
    const sealed = await vault.seal(secret, owner);
    for (const name of sealer.keys.keys()) sealer.keys.set(name, new Uint8Array(size));
    expect(await outcome(vault.open(sealed, owner))).toBe('internal');
  });

  it('that hangs is given up', async () => {
    const clock = manualClock();
    const hanging: Sealer = {
      keyId: 'k',
      seal: () => new Promise(() => undefined),
      open: () => new Promise(() => undefined),
    };
    const vault = createVault({ sealer: limitSealer(hanging, clock, 500), randomBytes });
    const sealing = outcome(vault.seal(secret, owner));
    await clock.advance(499);
    expect(clock.pending).toBe(1);
    await clock.advance(1);
    expect(await sealing).toBe('unavailable');
  });

  it('that answers in time leaves no timer behind', async () => {
    const clock = manualClock();
    const vault = createVault({ sealer: limitSealer(ticketSealer(), clock, 500), randomBytes });
    expect(await vault.open(await vault.seal(secret, owner), owner)).toBe(secret);
    expect(clock.pending).toBe(0);
  });
});
