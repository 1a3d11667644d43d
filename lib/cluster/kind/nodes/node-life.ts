/** An observer that sees on one node only: it ends when the node does, and says why. */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { beatEveryMs, type Beating } from '../../../history/observers.ts';
import { inspect } from '../../../engine/run.ts';

/** After so long without a beat the node is looked at. */
const patienceMs = 1.5 * beatEveryMs;
const lookEveryMs = 10_000;

const statesSchema = z.array(z.object({ State: z.object({ Status: z.string() }) }));

/** Why nothing on the node can be read now; undefined where it runs: then silence is a gap. */
export async function whyDeaf(node: string): Promise<string | undefined> {
  const [found] = statesSchema.parse(await inspect('container', [node]));
  if (found === undefined) return 'the node is gone';
  const { Status: status } = found.State;
  if (status === 'running') return undefined;
  return status === 'paused' ? 'the node is frozen' : 'the node is switched off';
}

export interface NodeLife extends AsyncDisposable {
  beat(): void;
}

export interface NodeLifeOptions {
  /** Default: what the engine says of its container. */
  readonly why?: (node: string) => Promise<string | undefined>;
  readonly patienceMs?: number;
  readonly lookEveryMs?: number;
}

/** Until disposed, whatever becomes of the node in between. */
export function liveOn(node: string, beating: Beating, options: NodeLifeOptions = {}): NodeLife {
  const { why = whyDeaf } = options;
  const ended = new AbortController();
  const { signal } = ended;
  let beatAtMs = performance.now();
  const looking = (async () => {
    while (!signal.aborted) {
      await sleep(options.lookEveryMs ?? lookEveryMs, undefined, { signal, ref: false }).catch(
        () => undefined,
      );
      const silentMs = performance.now() - beatAtMs;
      if (signal.aborted || silentMs < (options.patienceMs ?? patienceMs)) continue;
      // An engine that does not answer says nothing of the node: silence stays silence.
      const reason = await why(node).catch(() => undefined);
      if (reason !== undefined) beating.end(reason);
    }
  })();
  return {
    beat: () => {
      beatAtMs = performance.now();
      beating.beat();
    },
    async [Symbol.asyncDispose]() {
      ended.abort();
      await looking;
      beating.end();
    },
  };
}
