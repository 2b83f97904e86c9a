import { isIndex, isObject, type Loose } from '../../base/values.ts';
import { openBlocks } from './blocks.ts';
import { imageParts, soundReader } from './output-files.ts';
import { detailsIn, readable } from './reasoning.ts';
import { citationReader } from './sources.ts';
import { openCalls } from './tool-calls.ts';
import type { StreamPart } from './types.ts';

/** Makes the parts of one response of its deltas. Each block is opened and closed once. */
export interface PartReader {
  /** Reads a delta of the first choice. */
  add(delta: Loose): StreamPart[];
  /** Ends a complete response: only now are its calls complete. */
  finish(): StreamPart[];
  /** Closes what is open of a response that broke off. Calls that were on the way stay incomplete. */
  abandon(): StreamPart[];
  /** true: the model has refused to respond. */
  hasRefused(): boolean;
}

/** @param soundType  the media type of sounds, which depends on the request */
export function partReader(soundType: string): PartReader {
  const blocks = openBlocks();
  const calls = openCalls();
  const citations = citationReader();
  const sound = soundReader(soundType);

  function readThoughts(delta: Loose): StreamPart[] {
    const details = detailsIn(delta.reasoning_details);
    const parts: StreamPart[] = [];
    const said = delta.reasoning;
    if (typeof said === 'string' && said !== '' && details.every((detail) => readable(detail) === ''))
      parts.push(...blocks.think(said, undefined, null));
    for (const detail of details) {
      const text = readable(detail);
      if (text === '') blocks.keep(detail);
      else parts.push(...blocks.think(text, isIndex(detail.index) ? detail.index : undefined, detail));
    }
    return parts;
  }

  function readAnnotations(value: unknown): StreamPart[] {
    if (!Array.isArray(value)) return [];
    return value.filter(isObject).flatMap((annotation) => {
      const { source, citation, isNew, goesBack } = citations.read(annotation, blocks.offset());
      if (citation !== null) blocks.cite(citation);
      if (goesBack) blocks.annotate(annotation);
      return source !== null && isNew ? [source] : [];
    });
  }

  function readCalls(value: unknown): StreamPart[] {
    if (!Array.isArray(value) || value.length === 0) return [];
    return [...blocks.close(), ...value.filter(isObject).flatMap((fragment) => calls.add(fragment))];
  }

  return {
    add(delta) {
      sound.add(delta.audio);
      return [
        ...readThoughts(delta),
        ...blocks.say(delta.content, false),
        ...blocks.say(delta.refusal, true),
        ...readAnnotations(delta.annotations),
        ...imageParts(delta.images),
        ...readCalls(delta.tool_calls),
      ];
    },
    finish() {
      const hasCalls = calls.count() > 0;
      const parts = hasCalls ? blocks.close() : blocks.end();
      return [...parts, ...sound.part(), ...calls.finish(hasCalls ? { ...blocks.takePending() } : {})];
    },
    abandon: () => [...blocks.close(), ...calls.abandon()],
    hasRefused: blocks.hasRefused,
  };
}
