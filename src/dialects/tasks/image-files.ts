import { fromBase64, toBase64 } from '../../base/base64.ts';
import { joinBytes } from '../../base/bytes.ts';
import { readDataUrl } from '../../base/data-url.ts';
import { type UploadedFile, uploadedFile } from '../../base/http/uploaded-file.ts';
import type { ImageSource } from './contract.ts';

/** The media type of a file that declares none. */
const usualType = 'image/png';

/** Returns a picture as a part of a form. @returns null: it is an address elsewhere, or no base64 */
export function fileOf(source: ImageSource): UploadedFile | null {
  if (source.kind === 'file') {
    const { type, name } = source.file;
    const mediaType = type ?? usualType;
    return { ...source.file, type: mediaType, name: name ?? nameOf(mediaType) };
  }
  const data = readDataUrl(source.url);
  const bytes = data === null ? null : fromBase64(data.base64);
  if (data === null || bytes === null) return null;
  return uploadedFile(nameOf(data.mediaType), data.mediaType, [bytes]);
}

/** Returns the address of a picture; of a file, a data URL. */
export function addressOf(source: ImageSource): string {
  if (source.kind === 'url') return source.url;
  const { mediaType, base64 } = base64Of(source) as { mediaType: string; base64: string };
  return `data:${mediaType};base64,${base64}`;
}

/** Returns the content of a picture; null: it is an address elsewhere. */
export function base64Of(source: ImageSource): { mediaType: string; base64: string } | null {
  if (source.kind === 'url') return readDataUrl(source.url);
  const { chunks, type } = source.file;
  return { mediaType: type ?? usualType, base64: toBase64(joinBytes(chunks)) };
}

/** Some servers tell the media type by the name. */
function nameOf(mediaType: string): string {
  return `image.${mediaType.split('/')[1]?.replace(/[^a-z0-9]/g, '') || 'png'}`;
}

/** Returns the sides of a size such as `1024x768`; null: it names none. */
export function sidesOf(size: string | null): { width: number; height: number } | null {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(size ?? '') ?? [];
  return width === undefined || height === undefined ? null : { width: Number(width), height: Number(height) };
}

/** The sides of a square of each resolution, in pixels. */
const squares: Readonly<Record<string, number>> = { '512': 512, '1K': 1024, '2K': 2048, '4K': 4096 };

/**
 * Returns a size in pixels for the wishes of a request, in steps of 16.
 * @returns null: the request leaves the size to the model
 */
export function pixelsFor(size: string | null, resolution: string | null, aspectRatio: string | null) {
  const sides = sidesOf(size);
  if (sides !== null) return sides;
  if (resolution === null && aspectRatio === null) return null;
  const square = squares[resolution ?? '1K'] as number;
  const [across = 1, down = 1] = (aspectRatio ?? '1:1').split(':').map(Number);
  const step = (length: number) => Math.max(16, Math.round(length / 16) * 16);
  return { width: step(square * Math.sqrt(across / down)), height: step(square * Math.sqrt(down / across)) };
}

const ratios = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'];

/** Returns the usual ratio that a size has, within a hundredth; null: it has none of them. */
export function ratioOf(size: string | null): string | null {
  const sides = sidesOf(size);
  if (sides === null) return null;
  const given = sides.width / sides.height;
  const near = (ratio: string) => {
    const [across = 1, down = 1] = ratio.split(':').map(Number);
    return Math.abs(given / (across / down) - 1) < 0.01;
  };
  return ratios.find(near) ?? null;
}
