/** What a person has to paste where a node could not be given back what a fault took. */
import { InfrastructureError } from '../../../errors.ts';
import { pasteable } from '../../../engine/run.ts';

const code = 'NODE_NOT_HEALED';

/**
 * Does the work; where that fails, throws InfrastructureError `NODE_NOT_HEALED` with the command
 * (`argv`) that does the same. An error that has it already passes.
 */
export async function orByHand(
  { node, argv }: { readonly node: string; readonly argv: readonly string[] },
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (cause) {
    if (cause instanceof InfrastructureError && cause.code === code) throw cause;
    throw new InfrastructureError(code, `${node} was not given back what the fault took`, {
      hint: 'see that the engine answers, then do it by hand',
      command: pasteable(argv),
      cause,
    });
  }
}
