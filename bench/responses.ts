import { measuring, serveParent } from './control.ts';
import { type Cost, costsOf } from './cpu-cost.ts';
import { benchChunks, convert } from './responses/convert.ts';

/** Measures the way from chunks of chat completions to the events of Responses, from the sources. */

/** CPU per chunk, the beginning and the end of the stream included. */
export interface ResponsesCosts {
  converted: Cost;
}

function measure(): ResponsesCosts {
  const chunks = benchChunks();
  return costsOf({ converted: () => void convert(chunks) }, { rounds: 40, perRound: 50, parts: chunks.length });
}

serveParent({ ...measuring, port: () => 0, measure });
