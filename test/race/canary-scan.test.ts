import { describe, expect, it } from 'vitest';
import { scanFor } from '../support/canary/scan.ts';

const mark = 'Canary1a2b3c4d+/=?&"\\~';
const { find } = scanFor(['Nowhere0123456789', mark]);
const inside = `sk-${mark}-tail`;

describe('the scan for marked secrets', () => {
  it.each<[string, string | Uint8Array]>([
    ['as it is', inside],
    ['in a header', `Bearer ${inside}`],
    [
      'in bytes that are no text',
      Buffer.concat([Buffer.from([0xff, 0x00, 0xc3]), Buffer.from(inside), Buffer.alloc(9)]),
    ],
    ['in UTF-16', Buffer.from(inside, 'utf16le')],
    ['in JSON', JSON.stringify({ error: { message: `Wrong key: ${inside}` } })],
    ['in JSON inside JSON', JSON.stringify({ a: JSON.stringify([Buffer.from(inside).toString('hex')]) })],
    ['as code points', [...inside].map((one) => `\\u00${one.charCodeAt(0).toString(16)}`).join('')],
    ['URL-encoded', `https://upstream.test/?key=${encodeURIComponent(inside)}&more=1`],
    ['URL-encoded throughout', Buffer.from(inside).toString('hex').replace(/../g, '%$&')],
    ['in hex', `0x${Buffer.from(inside).toString('hex')}`],
    ['in upper-case hex', Buffer.from(inside).toString('hex').toUpperCase()],
    ['in base64', `Basic ${Buffer.from(inside).toString('base64')}`],
    ['in base64 behind a name', Buffer.from(`user:${inside}`).toString('base64')],
    ['in base64 behind a longer name', Buffer.from(`users:${inside}`).toString('base64')],
    ['in base64url', Buffer.from(`{"key":"${inside}"}`).toString('base64url')],
  ])('finds one %s', (_, where) => {
    expect(find(where)).not.toEqual([]);
  });
  it('finds nothing where there is none', () => {
    expect(find(`sk-C...tail ${'Canary'.repeat(50)} ${Buffer.from('Canary, and others').toString('base64')}`)).toEqual(
      [],
    );
    expect(find(new Uint8Array(100_000))).toEqual([]);
  });
  it('says which it found, and how', () => {
    expect(find(inside)).toEqual(['Canary1a2b3c… plain']);
  });
});
