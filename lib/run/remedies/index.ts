/** A declared remedy, on the ports. The sweep plays the same declaration on the model (lib/sweep/effects.ts). */
import { acts } from './acts.ts';
import type { RemedyDeclaration } from '../../scenario/index.ts';
import type { Remedy } from './remedy.ts';

export const remedyOf = ({ name, acts: names, undo }: RemedyDeclaration): Remedy => ({
  name,
  async apply(context) {
    let detail: string | undefined;
    for (const [index, act] of names.entries()) {
      if (index > 0) context.signal.throwIfAborted();
      const came = await acts[act](context);
      detail ??= came ?? undefined;
    }
    return detail;
  },
  ...(undo === undefined
    ? {}
    : {
        async undo(context) {
          await acts[undo](context);
        },
      }),
});
