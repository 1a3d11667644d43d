/** The CSI driver's image: the runtime and our code. The only part that an edit of lib/csi rebuilds. */
import { stageDriver } from '../driver-files.ts';
import { definePart, labelChanges, type Part } from '../part.ts';

export function driverPart(root: string, runtime: Part): Part {
  const { files, settings, commands } = stageDriver(root);
  return definePart('driver', { files, settings, needs: [runtime] }, (key, ref) => [
    ...commands,
    `docker rm --force forcedetach-build-${key} >/dev/null 2>&1 || true`,
    `docker create --name forcedetach-build-${key} ${runtime.ref}`,
    `docker cp "$WORK/app/." forcedetach-build-${key}:/app`,
    `docker commit --change 'ENTRYPOINT ["/usr/local/bin/node", "/app/lib/csi/main.ts"]' ` +
      `${labelChanges('driver', key)} forcedetach-build-${key} ${ref}`,
    `docker rm forcedetach-build-${key}`,
  ]);
}
