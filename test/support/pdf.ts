import { deflateSync } from 'node:zlib';

/** A PDF with these texts, a page each, in the simplest form that readers take. */
export function pdfOf(pages: readonly string[]): Uint8Array<ArrayBuffer> {
  return pdfWith(
    pages.map((text) => {
      const lines = text.split('\n').map((line) => `(${line.replace(/[\\()]/g, '\\$&')}) Tj T*`);
      return Buffer.from(`BT /F1 12 Tf 14 TL 72 720 Td ${lines.join(' ')} ET`);
    }),
  );
}

/** A small PDF whose only page inflates to this many bytes, which draw nothing. */
export function pdfBomb(bytes: number): Uint8Array<ArrayBuffer> {
  return pdfWith([Buffer.alloc(bytes, 'BT ET ')]);
}

function pdfWith(contents: readonly Buffer[]): Uint8Array<ArrayBuffer> {
  const objects: Buffer[] = [
    Buffer.from('<< /Type /Catalog /Pages 2 0 R >>'),
    Buffer.from(
      `<< /Type /Pages /Kids [${contents.map((_, at) => `${4 + at * 2} 0 R`).join(' ')}] /Count ${contents.length} >>`,
    ),
    Buffer.from('<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>'),
  ];
  for (const [at, content] of contents.entries()) {
    const packed = deflateSync(content);
    objects.push(
      Buffer.from(
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${5 + at * 2} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
      ),
      Buffer.concat([
        Buffer.from(`<< /Length ${packed.length} /Filter /FlateDecode >>\nstream\n`),
        packed,
        Buffer.from('\nendstream'),
      ]),
    );
  }
  return pdfFrom(objects);
}

/** A PDF of these objects, numbered from 1; the first is the catalogue. */
export function pdfFrom(objects: readonly Buffer[]): Uint8Array<ArrayBuffer> {
  const parts = [Buffer.from('%PDF-1.4\n')];
  const offsets: number[] = [];
  let length = parts[0]?.length ?? 0;
  for (const [at, object] of objects.entries()) {
    offsets.push(length);
    const part = Buffer.concat([Buffer.from(`${at + 1} 0 obj\n`), object, Buffer.from('\nendobj\n')]);
    parts.push(part);
    length += part.length;
  }
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  parts.push(
    Buffer.from(
      `xref\n0 ${size}\n0000000000 65535 f \n${rows}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${length}\n%%EOF\n`,
    ),
  );
  return new Uint8Array(Buffer.concat(parts));
}
