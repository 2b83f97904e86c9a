/** Milliseconds of the frames of a packet by the number of its configuration, RFC 6716, section 3.1. */
function frameMs(configuration: number): number {
  if (configuration < 12) return [10, 20, 40, 60][configuration & 3] as number;
  if (configuration < 16) return [10, 20][configuration & 1] as number;
  return [2.5, 5, 10, 20][configuration & 3] as number;
}

/** The longest packet, milliseconds. */
export const longestPacketMs = 120;

/** Returns the milliseconds that a packet of Opus plays. @param second  its second byte, where it has one */
export function packetMs(first: number, second: number): number {
  const code = first & 3;
  const frames = code === 0 ? 1 : code < 3 ? 2 : second & 63;
  return Math.min(frames * frameMs(first >> 3), longestPacketMs);
}
