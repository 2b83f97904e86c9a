/** The words that other languages write for the words of JSON. JSON has no other word than null for the last four. */
const words: ReadonlyMap<string, string> = new Map([
  ['true', 'true'],
  ['false', 'false'],
  ['null', 'null'],
  ['none', 'null'],
  ['nil', 'null'],
  ['undefined', 'null'],
  ['nan', 'null'],
  ['inf', 'null'],
  ['infinity', 'null'],
]);
const strictNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const looseNumber = /^([+-]?)(\d[\d_]*)?(?:\.(\d*))?([eE][+-]?\d+)?$/;
const hex = /^([+-]?)(0[xX][\da-fA-F]+)$/;

export interface Word {
  /** The word of JSON; null: the text is none of the words and numbers. */
  raw: string | null;
  /** true: null stands for a value that JSON has no word for, such as NaN. */
  isStandIn: boolean;
  /** true: the text is the beginning of a word of JSON. */
  isCut: boolean;
}

/** Returns the meaning of a text without quotes. */
export function wordOf(text: string): Word {
  if (strictNumber.test(text)) return { raw: text, isStandIn: false, isCut: false };
  const plain = text.toLowerCase().replace(/^[+-](?=inf|nan)/, '');
  const said = words.get(plain);
  if (said !== undefined) return { raw: said, isStandIn: /^(?:nan|inf|infinity|undefined)$/.test(plain), isCut: false };
  return { raw: numberOf(text), isStandIn: false, isCut: isBeginning(plain) };
}

function isBeginning(plain: string): boolean {
  return plain !== '' && [...words.keys()].some((word) => word.startsWith(plain));
}

/**
 * Reads a number in the syntax of JSON, digit for digit; null: the text is none, or may be read in two ways, such as
 * 010.
 */
function numberOf(text: string): string | null {
  const based = hex.exec(text);
  if (based !== null) return `${based[1] === '-' ? '-' : ''}${BigInt(based[2] as string)}`;
  const loose = looseNumber.exec(text);
  if (loose === null) return null;
  const [, sign, whole = '', fraction, exponent = ''] = loose;
  if (whole === '' && (fraction ?? '') === '') return null;
  const digits = whole.replaceAll('_', '');
  if (/^0\d/.test(digits)) return null;
  return `${sign === '-' ? '-' : ''}${digits || '0'}${fraction === undefined ? '' : `.${fraction || '0'}`}${exponent}`;
}
