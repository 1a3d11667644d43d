/** The probe's image: the runtime, and forcedetach as its entry point. It serves as its pods' image, too. */
import * as recipe from '../../engine/recipe.ts';
import { definePart, labelChanges, type Part } from '../part.ts';
import { stageProbe } from '../probe-files.ts';

export function probePart(root: string, runtime: Part): Part {
  const { files, settings, commands } = stageProbe(root);
  const changes = [
    'ENV PATH=/app/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    'ENTRYPOINT ["/usr/local/bin/node", "/app/bin/forcedetach.mjs"]',
  ].map((change) => `--change '${change}'`);
  return definePart('probe', { files, settings, needs: [runtime] }, (key, ref) => [
    ...commands,
    'ln -s forcedetach.mjs "$WORK/app/bin/forcedetach"',
    ...recipe.addFolder({
      container: `forcedetach-build-${key}`,
      from: runtime.ref,
      folder: ['"$WORK/app/."', '/app'],
      changes: `${changes.join(' ')} ${labelChanges('probe', key)}`,
      ref,
    }),
  ]);
}
