/** The CSI driver's image: the runtime and our code. The only part that an edit of lib/csi rebuilds. */
import * as recipe from '../../engine/recipe.ts';
import { stageDriver } from '../driver-files.ts';
import { definePart, labelChanges, type Part } from '../part.ts';

export function driverPart(root: string, runtime: Part): Part {
  const { files, settings, commands } = stageDriver(root);
  return definePart('driver', { files, settings, needs: [runtime] }, (key, ref) => [
    ...commands,
    ...recipe.addFolder({
      container: `forcedetach-build-${key}`,
      from: runtime.ref,
      folder: ['"$WORK/app/."', '/app'],
      changes: `--change 'ENTRYPOINT ["/usr/local/bin/node", "/app/lib/csi/main.ts"]' ${labelChanges('driver', key)}`,
      ref,
    }),
  ]);
}
