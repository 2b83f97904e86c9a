import { describe, expect, it } from 'vitest';
import { bytesIn, pdfsIn } from '../../../../src/plugins/file-parser/pdf-parts.ts';
import type { ChatMessage } from '../../../../src/schema/chat/chat.ts';

const found = (file_data: string, filename?: string) =>
  pdfsIn([{ role: 'user', content: [{ type: 'file', file: { file_data, filename } }] } as ChatMessage]);

describe('a PDF in a message', () => {
  it.each<[string, string]>([
    ['white space before and between its letters', ' JVBE\nRi0x Ljc='],
    ['no padding', 'JVBERi0xLjc'],
    ['parameters', 'data:application/octet-stream;name=a;base64,JVBERi0xLjc='],
  ])('is found by its first bytes, with %s', (_, data) => {
    const [pdf] = found(data);
    if (pdf === undefined || !('text' in pdf.content)) throw new Error('expected a PDF with its text');
    expect(new TextDecoder().decode(bytesIn(pdf.content) ?? undefined)).toBe('%PDF-1.7');
  });
  it.each(['AAAA', 'data:text/plain,hello', 'data:;base64,AAAA', ''])('is not %j', (data) => {
    expect(found(data)).toEqual([]);
  });
  it('is named by the last part of its path', () => {
    expect(found('https://files.example/a/b.pdf?c=/d.pdf#e')[0]?.name).toBe('b.pdf');
    expect(found('https://files.example/a/')).toEqual([]);
  });
  it.each<[string, string]>([
    ['a path', `https://files.example/${'a'.repeat(2_000_000)}/.pdf`],
    ['a head that never ends', `data:${'a;'.repeat(2_000_000)}`],
    ['base64 of megabytes', `JVBERi0x${'A'.repeat(20_000_000)}`],
  ])('is looked for in a moment, whatever is sent: %s', (_, data) => {
    // Work that grows with the square of this length, or a decoding for nothing, would take hours, or gigabytes.
    expect(found(data).length).toBeLessThan(2);
  });
});
