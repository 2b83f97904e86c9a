import { deflateSync } from 'node:zlib';
import { pdfFrom } from './pdf.ts';

const object = (text: string) => Buffer.from(text);
const stream = (dict: string, bytes: Buffer) =>
  Buffer.concat([object(`<< /Length ${bytes.length} ${dict} >>\nstream\n`), bytes, object('\nendstream')]);
const repeated = (text: string, bytes: number) => Buffer.alloc(bytes, text);

/** Deflated so often that little is left. */
function packed(bytes: Buffer, times: number): { filter: string; bytes: Buffer } {
  let deflated = bytes;
  for (let time = 0; time < times; time++) deflated = deflateSync(deflated, { level: 9 });
  return { filter: '/FlateDecode '.repeat(times), bytes: deflated };
}

function bomb(dict: string, text: string, bytes: number, times = 2, further = ''): Buffer {
  const { filter, bytes: deflated } = packed(repeated(text, bytes), times);
  return stream(`${dict} /Filter [${filter}${further}]`, deflated);
}

interface Parts {
  catalog?: string;
  pages?: string;
  page?: string;
  resources?: string;
  contents?: Buffer;
  font?: string;
  /** Numbered from 6. */
  more?: Buffer[];
}

/** A PDF of one page, of which some parts are others than usual. */
function onePage(parts: Parts): Uint8Array<ArrayBuffer> {
  const { resources = '/Font << /F1 5 0 R >>', font = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>' } =
    parts;
  return pdfFrom([
    object(parts.catalog ?? '<< /Type /Catalog /Pages 2 0 R >>'),
    object(parts.pages ?? '<< /Type /Pages /Kids [3 0 R] /Count 1 >>'),
    object(
      parts.page ??
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << ${resources} >> >>`,
    ),
    parts.contents ?? stream('', object('BT /F1 12 Tf 72 720 Td (Hello) Tj ET')),
    object(font),
    ...(parts.more ?? []),
  ]);
}

/** Codes of 9 to 12 bits that repeat one byte: what LZW inflates most. */
function lzwOf(codes: number): Buffer {
  const bits: number[] = [];
  const write = (code: number, width: number) => {
    for (let bit = width - 1; bit >= 0; bit--) bits.push((code >> bit) & 1);
  };
  let next = 258;
  let width = 9;
  write(256, 9);
  write(0x20, 9);
  for (let at = 0; at < codes; at++) {
    if (next >= 4094) {
      write(256, width);
      next = 258;
      width = 9;
      write(0x20, 9);
      continue;
    }
    write(next, width);
    next++;
    width = next >= 2047 ? 12 : next >= 1023 ? 11 : next >= 511 ? 10 : 9;
  }
  const bytes = Buffer.alloc(Math.ceil(bits.length / 8));
  for (const [at, bit] of bits.entries()) bytes[at >> 3] = (bytes[at >> 3] as number) | (bit << (7 - (at & 7)));
  return bytes;
}

const type0 = (more: string) => `<< /Type /Font /Subtype /Type0 /BaseFont /A /Encoding /Identity-H ${more} >>`;
const descendant = (more: string) =>
  object(
    `<< /Type /Font /Subtype /CIDFontType2 /BaseFont /A /CIDSystemInfo << /Registry (A) /Ordering (B) /Supplement 0 >> ${more} >>`,
  );

/** A file with its own cross-reference stream. */
function withXrefStream(dict: string, bytes: Buffer): Uint8Array<ArrayBuffer> {
  const head = object('%PDF-1.5\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n');
  const xref = Buffer.concat([
    object('9 0 obj\n'),
    stream(`/Type /XRef /Root 1 0 R ${dict}`, bytes),
    object('\nendobj\n'),
  ]);
  return new Uint8Array(Buffer.concat([head, xref, object(`startxref\n${head.length}\n%%EOF\n`)]));
}

/** Each form draws the next ten times. */
function forms(depth: number): Buffer[] {
  return Array.from({ length: depth }, (_, at) =>
    stream(
      `/Type /XObject /Subtype /Form /BBox [0 0 1 1] /Resources << /Font << /F1 5 0 R >> /XObject << /X ${7 + at} 0 R >> >>`,
      object(at === depth - 1 ? 'BT /F1 12 Tf (aaaaaaaaaa) Tj ET' : '/X Do '.repeat(10)),
    ),
  );
}

/** More than is allowed, and less than it takes minutes to pack. */
const huge = 400_000_000;

/** Files of some kilobytes that cost as much as can be. Most of them once took gigabytes, or may with other parsers. */
export const hostilePdfs: readonly [name: string, make: () => Uint8Array<ArrayBuffer>][] = [
  ['a content that inflates to 400 MB', () => onePage({ contents: bomb('', 'BT ET ', huge, 2) })],
  ['one number of 400 MB', () => onePage({ contents: bomb('', '1', huge, 2) })],
  ['one text of 400 MB', () => onePage({ contents: bomb('', '(', huge, 2) })],
  ['one name of 400 MB', () => onePage({ contents: bomb('', '/aaaaaaaaaa', huge, 2) })],
  ['a content that is deflated three times', () => onePage({ contents: bomb('', ' ', huge, 3) })],
  ['texts without end', () => onePage({ contents: bomb('', 'BT /F1 9 Tf (aaaaaaaaaaaaaaaa) Tj ET ', huge / 2, 2) })],
  ['arrays in arrays, in a content', () => onePage({ contents: bomb('', '[', huge / 2, 2) })],
  ['dictionaries in dictionaries, in a content', () => onePage({ contents: bomb('', '<</A ', huge / 2, 2) })],
  ['run lengths', () => onePage({ contents: bomb('', '\x81 ', huge / 20, 2, '/RunLengthDecode /RunLengthDecode') })],
  ['ASCII 85', () => onePage({ contents: bomb('', 'z', huge / 4, 2, '/ASCII85Decode') })],
  ['ASCII hex', () => onePage({ contents: bomb('', '20', huge, 2, '/ASCIIHexDecode') })],
  [
    'LZW',
    () =>
      onePage({
        contents: (({ filter, bytes }) => stream(`/Filter [${filter}/LZWDecode]`, bytes))(packed(lzwOf(400_000), 1)),
      }),
  ],
  [
    'a predictor with columns without end',
    () =>
      onePage({
        contents: (({ bytes }) =>
          stream(
            '/Filter /FlateDecode /DecodeParms << /Predictor 12 /Columns 2000000000 /Colors 32 /BitsPerComponent 16 >>',
            bytes,
          ))(packed(repeated('\x02', 1_000_000), 1)),
      }),
  ],
  [
    'many contents',
    () =>
      onePage({
        page: `<< /Type /Page /Parent 2 0 R /Contents [${'6 0 R '.repeat(20_000)}] /Resources << >> >>`,
        more: [bomb('', ' ', 10_000_000, 2)],
      }),
  ],
  [
    'a map to Unicode that inflates to 400 MB',
    () =>
      onePage({
        font: type0('/DescendantFonts [6 0 R] /ToUnicode 7 0 R'),
        more: [descendant(''), bomb('', '1 beginbfchar <00> <0041> endbfchar\n', huge, 2)],
      }),
  ],
  [
    'a map to Unicode of all codes',
    () =>
      onePage({
        font: type0('/DescendantFonts [6 0 R] /ToUnicode 7 0 R'),
        more: [
          descendant(''),
          stream(
            '',
            object(
              '1 begincodespacerange <00000000> <ffffffff> endcodespacerange 1 beginbfrange <00000000> <fffffff0> <0041> endbfrange',
            ),
          ),
        ],
      }),
  ],
  [
    'an encoding of all codes',
    () =>
      onePage({
        font: '<< /Type /Font /Subtype /Type0 /BaseFont /A /Encoding 7 0 R /DescendantFonts [6 0 R] >>',
        more: [
          descendant(''),
          stream(
            '/Type /CMap',
            object(
              '1 begincodespacerange <00000000> <ffffffff> endcodespacerange 1 begincidrange <00000000> <fffffff0> 0 endcidrange',
            ),
          ),
        ],
      }),
  ],
  [
    'widths of all codes',
    () => onePage({ font: type0('/DescendantFonts [6 0 R]'), more: [descendant('/W [0 2000000000 500] /DW 1')] }),
  ],
  [
    'vertical widths of all codes',
    () => onePage({ font: type0('/DescendantFonts [6 0 R]'), more: [descendant('/W2 [0 2000000000 500 500 500]')] }),
  ],
  [
    'a map of glyphs of 400 MB',
    () =>
      onePage({
        font: type0('/DescendantFonts [6 0 R]'),
        more: [descendant('/CIDToGIDMap 7 0 R'), bomb('', 'aa', huge, 2)],
      }),
  ],
  [
    'a font file of 400 MB',
    () =>
      onePage({
        font: '<< /Type /Font /Subtype /TrueType /BaseFont /A /FontDescriptor 6 0 R >>',
        more: [
          object('<< /Type /FontDescriptor /FontName /A /Flags 4 /FontFile2 7 0 R >>'),
          bomb('/Length1 1000000000', '\0\x01\0\0', huge, 2),
        ],
      }),
  ],
  [
    'a font program of Type 1 of 400 MB',
    () =>
      onePage({
        font: '<< /Type /Font /Subtype /Type1 /BaseFont /A /FontDescriptor 6 0 R >>',
        more: [
          object('<< /Type /FontDescriptor /FontName /A /Flags 4 /FontFile 7 0 R >>'),
          bomb('/Length1 900000000 /Length2 1000', '%!PS-AdobeFont ', huge, 2),
        ],
      }),
  ],
  [
    'characters from first to last without end',
    () =>
      onePage({
        font: '<< /Type /Font /Subtype /TrueType /BaseFont /A /FirstChar 0 /LastChar 2000000000 /Widths [1] >>',
      }),
  ],
  [
    'differences far out',
    () =>
      onePage({
        font: '<< /Type /Font /Subtype /Type1 /BaseFont /A /Encoding << /Differences [2000000000 /A 4000000000 /B] >> >>',
      }),
  ],
  [
    'an image that says it is huge',
    () =>
      onePage({
        resources: '/XObject << /I 6 0 R >>',
        contents: stream('', object('/I Do '.repeat(1000))),
        more: [
          stream(
            '/Type /XObject /Subtype /Image /Width 100000 /Height 100000 /ColorSpace /DeviceRGB /BitsPerComponent 16',
            object('x'),
          ),
        ],
      }),
  ],
  [
    'an image within the content that inflates',
    () =>
      onePage({
        contents: (({ bytes }) =>
          stream(
            '',
            Buffer.concat([object('BI /W 100000 /H 100000 /BPC 16 /CS /RGB /F [/Fl /Fl] ID '), bytes, object(' EI')]),
          ))(packed(repeated('\0', huge), 2)),
      }),
  ],
  [
    'a colour profile of 400 MB',
    () =>
      onePage({
        resources: '/ColorSpace << /C [/ICCBased 6 0 R] >> /Font << /F1 5 0 R >>',
        contents: stream('', object('/C cs 0 0 0 sc BT /F1 12 Tf (x) Tj ET')),
        more: [bomb('/N 3', '\0', huge, 2)],
      }),
  ],
  [
    'forms in forms, each ten times',
    () => onePage({ resources: '/XObject << /X 6 0 R >>', contents: stream('', object('/X Do')), more: forms(12) }),
  ],
  [
    'a form that draws itself',
    () =>
      onePage({
        resources: '/XObject << /X 6 0 R >>',
        contents: stream('', object('/X Do')),
        more: [
          stream(
            '/Type /XObject /Subtype /Form /BBox [0 0 1 1] /Resources << /XObject << /X 6 0 R >> >>',
            object('/X Do /X Do'),
          ),
        ],
      }),
  ],
  [
    'a page that is its own parent',
    () => onePage({ pages: '<< /Type /Pages /Kids [2 0 R 2 0 R 2 0 R] /Count 1000000 >>' }),
  ],
  ['a number of pages without end', () => onePage({ pages: '<< /Type /Pages /Kids [3 0 R] /Count 2000000000 >>' })],
  [
    'the same page a hundred thousand times',
    () => onePage({ pages: `<< /Type /Pages /Kids [${'3 0 R '.repeat(100_000)}] /Count 100000 >>` }),
  ],
  [
    'arrays in arrays, in the catalogue',
    () => onePage({ catalog: `<< /Type /Catalog /Pages 2 0 R /A ${'['.repeat(1_000_000)} >>` }),
  ],
  [
    'a stream of objects that inflates to 400 MB',
    () =>
      onePage({
        more: [bomb('/Type /ObjStm /N 1000000000 /First 8', '1 0 ', huge, 2)],
        catalog: '<< /Type /Catalog /Pages 2 0 R >>',
        pages: '6 0 R',
      }),
  ],
  [
    'a cross-reference stream that inflates to 400 MB',
    () => {
      const { filter, bytes } = packed(repeated('\x01\0\0\0\x0f\0', huge), 2);
      return withXrefStream(`/Size 160000000 /W [1 4 1] /Filter [${filter}]`, bytes);
    },
  ],
  [
    'a cross-reference stream of huge fields',
    () => withXrefStream('/Size 2000000000 /W [2000000000 2000000000 2000000000] /Index [0 2000000000]', object('xx')),
  ],
  [
    'a cross-reference stream of objects of no width',
    () => withXrefStream('/Size 2000000000 /W [0 0 0] /Index [0 2000000000]', object('xx')),
  ],
  [
    'a table of objects without end',
    () =>
      new Uint8Array(
        object(
          `%PDF-1.4\nxref\n0 2000000000\n${'0000000000 65535 f \n'.repeat(10)}trailer\n<< /Size 2000000000 /Root 1 0 R >>\nstartxref\n9\n%%EOF`,
        ),
      ),
  ],
  [
    'tables that name each other',
    () =>
      new Uint8Array(object('%PDF-1.4\nxref\n0 0\ntrailer\n<< /Size 1 /Root 1 0 R /Prev 9 >>\nstartxref\n9\n%%EOF')),
  ],
];
