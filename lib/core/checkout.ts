/** Whether this is a checkout, and where: the npm package is compiled, and has nothing that images are built from. */
import { existsSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { InfrastructureError } from './errors.ts';

/** Without a slash at its end. */
export const projectRoot = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

export const isCheckout: boolean = import.meta.url.endsWith('.ts');

/** A path that this project's docs name; where the working folder has no such file, the project's own. */
export function orShipped(path: string): string {
  if (isAbsolute(path) || existsSync(path)) return path;
  const shipped = join(projectRoot, path);
  return existsSync(shipped) ? shipped : path;
}

/** Throws InfrastructureError `NEEDS_CHECKOUT` in the npm package. `doing`: what can't be done there. */
export function needCheckout(doing: string): void {
  if (isCheckout) return;
  throw new InfrastructureError('NEEDS_CHECKOUT', `the npm package cannot do this: ${doing}`, {
    hint: 'this needs the source: clone the repository and run it there; the package only predicts',
    command: 'npx forcedetach run node-crash --cluster sim',
  });
}
