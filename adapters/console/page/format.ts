const usd = (digits: number) =>
  new Intl.NumberFormat('en', {
    style: 'currency',
    currency: 'USD',
    minimumFractionDigits: 2,
    maximumFractionDigits: digits,
  });
const coarse = usd(2);
const middle = usd(4);
const fine = usd(9);
const whole = new Intl.NumberFormat('en');
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** US dollars, with as many digits as a small sum needs. null: not known. */
export function money(amount: number | null | undefined): string {
  if (amount === null || amount === undefined) return '–';
  const size = Math.abs(amount);
  return (size === 0 || size >= 100 ? coarse : size >= 0.01 ? middle : fine).format(amount);
}

/** The same of nano-dollars. */
export function nano(amount: number | null | undefined): string {
  return amount === null || amount === undefined ? '–' : money(amount / 1e9);
}

export function count(amount: number | null | undefined): string {
  return amount === null || amount === undefined ? '–' : whole.format(amount);
}

export function short(amount: number): string {
  return Math.abs(amount) < 10_000 ? whole.format(amount) : compact.format(amount);
}

/** A number and its unit, which stay on one line. */
export function withUnit(amount: number | string, unit: string): string {
  return `${amount}\u00a0${unit}`;
}

export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '–';
  if (ms < 1000) return withUnit(Math.round(ms), 'ms');
  if (ms < 60_000) return withUnit((ms / 1000).toFixed(ms < 10_000 ? 2 : 1), 's');
  if (ms < 3_600_000) return withUnit((ms / 60_000).toFixed(1), 'min');
  return ms < 172_800_000 ? withUnit((ms / 3_600_000).toFixed(1), 'h') : withUnit(Math.round(ms / 86_400_000), 'd');
}

export function percent(share: number | null | undefined, digits = 1): string {
  return share === null || share === undefined || Number.isNaN(share)
    ? '–'
    : withUnit((share * 100).toFixed(digits), '%');
}

/** A time in the zone of the reader, with seconds. */
export function time(at: string | number | null | undefined): string {
  if (at === null || at === undefined) return '–';
  const date = new Date(at);
  const two = (part: number) => String(part).padStart(2, '0');
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** US dollars for a million tokens, of the price of one. */
export function perMillion(price: string | undefined): string {
  if (price === undefined) return '–';
  const perToken = Number(price);
  return perToken < 0 ? 'not known' : money(Math.round(perToken * 1e12) / 1e6);
}

/** The same word with a capital first letter. */
export function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
