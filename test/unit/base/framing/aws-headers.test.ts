import { expect, it } from 'vitest';
import { awsEventStream } from '../../../../src/base/framing/aws-event-stream.ts';
import { eventFrame } from '../../../support/converse-wire.ts';

it('reads the headers of each frame, also where frames of the same size come in the same bytes', () => {
  const [first, second] = [eventFrame('aaaa', { a: 1 }), eventFrame('bbbb', { b: 2 })];
  const framer = awsEventStream.framer(1000);
  const read: unknown[] = [];
  const bytes = new Uint8Array(first.length);
  for (const frame of [first, second, second, first]) {
    bytes.set(frame);
    framer.push(bytes);
    while (framer.next()) read.push(framer.read()?.name);
    framer.release();
  }
  expect(read).toEqual(['aaaa', 'bbbb', 'bbbb', 'aaaa']);
});
