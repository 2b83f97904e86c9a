import type { Issue } from '../../base/refusal.ts';
import type { ImageGenerationsRequest, ImagesRequest } from '../../schema/images/request.ts';

/** Finds fields that a stream needs, or has no place for. */
export function streamIssues({
  stream,
  partial_images: partials,
  response_format: format,
}: Pick<ImageGenerationsRequest, 'stream' | 'partial_images' | 'response_format'>): Issue[] {
  return [
    ...(stream !== true && (partials ?? 0) > 0
      ? [{ path: 'partial_images', message: 'expected stream: true, or no intermediate images' }]
      : []),
    ...(stream === true && format === 'url'
      ? [{ path: 'response_format', message: 'expected b64_json: the events of a stream hold the images' }]
      : []),
  ];
}

/** Finds a size that contradicts the resolution or the ratio. */
export function sizeIssues({ size, resolution, aspect_ratio: ratio }: ImagesRequest): Issue[] {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(size ?? '') ?? [];
  if (width === undefined || height === undefined) {
    const isOther = (size ?? 'auto') !== 'auto' && (resolution ?? size) !== size;
    return isOther
      ? [{ path: 'size', message: `expected the same as resolution, ${resolution}, or none of the two` }]
      : [];
  }
  const [across = 1, down = 1] = (ratio ?? `${width}:${height}`).split(':').map(Number);
  const isOtherRatio = Math.abs((Number(width) * down) / (Number(height) * across) - 1) > 0.01;
  return [
    ...((resolution ?? null) === null
      ? []
      : [{ path: 'resolution', message: 'expected none beside a size in pixels' }]),
    ...(isOtherRatio ? [{ path: 'aspect_ratio', message: `expected the ratio of ${size}, or none` }] : []),
  ];
}
