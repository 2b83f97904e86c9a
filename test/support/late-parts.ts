// Loaded beforehand: a gateway loads it when it is first needed, which takes time that a manual clock knows nothing of.
import 'keyv';
import '../../src/catalog/snapshot.ts';
import './dialects.ts';
import '../../src/fetching/guarded.ts';
import '../../src/guardrails/text/screening.ts';
import '../../src/http/socket/sockets.ts';
import '../../src/operations/index.ts';
import '../../src/providers/sandbox/whole.ts';
