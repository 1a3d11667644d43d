/** Puts the CSI driver on a cluster: its images into the nodes, its objects into the API. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubernetesObject, V1PodTemplateSpec } from '@kubernetes/client-node';
import * as engine from '../engine/commands.ts';
import { linesOf, run } from '../engine/run.ts';
import { readManifest, renderCsiManifests } from '../objects.ts';
import type { CreateOptions, Standing } from './create-cluster.ts';
import { sharedDir } from './kind-config.ts';
import { loadImages } from './kind-command.ts';
import { apply } from '../../core/index.ts';
import { kubectl } from '../kubernetes.ts';
import { engineName } from '../ownership/registry.ts';

/** Image of the driver that its pods run; another one rolls them out again. */
const idAnnotation = 'forcedetach.dev/driver-id';

interface DeployOptions extends CreateOptions {
  readonly standing: Standing;
  /** References that its nodes have from their own image. Default: none is known. */
  readonly present?: readonly string[];
}

/** Loads what the nodes lack, applies the manifests and waits until every pod runs the new ones. */
export async function deployDriver(options: DeployOptions): Promise<void> {
  const { images, standing, onProgress, signal } = options;
  await loadMissing(options);
  onProgress('starting the CSI driver');
  const manifests = await renderCsiManifests({
    driverImage: images.driver,
    attacherImage: images.attacher,
    provisionerImage: images.provisioner,
    loops: standing.lease.loops,
    sharedDir,
    driverEnds: options.shutdown?.driverEnds,
  });
  for (const manifest of manifests) annotate(manifest, images.ids['driver'] ?? images.driver);
  const policy =
    options.admission === 'open'
      ? []
      : await readManifest(`prevention/${options.admission}.yaml`, {});
  await apply(standing.clients, [...manifests, ...policy]);
  await rolledOut(standing.nodes[0]?.node ?? '', manifests, signal);
}

/** Same tag, other content: only the annotation makes Kubernetes start new pods. */
function annotate(manifest: KubernetesObject, id: string): void {
  const { template } = (manifest as { spec?: { template?: V1PodTemplateSpec } }).spec ?? {};
  if (template === undefined) return;
  template.metadata ??= {};
  template.metadata.annotations = { ...template.metadata.annotations, [idAnnotation]: id };
}

const rolledOutWithinS = 120;

async function rolledOut(
  controlPlane: string,
  manifests: readonly KubernetesObject[],
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const { kind = '', metadata } of manifests) {
    if (!['DaemonSet', 'Deployment', 'StatefulSet'].includes(kind)) continue;
    const what = [`${kind}/${metadata?.name}`, '--namespace', metadata?.namespace ?? 'default'];
    const status = ['rollout', 'status', ...what, `--timeout=${rolledOutWithinS}s`];
    const argv = engine.exec(controlPlane, ...kubectl, ...status);
    await run(argv, { signal, timeoutMs: (rolledOutWithinS + 30) * 1000 });
  }
}

/**
 * `kind load` unpacks each image again on every call where the nodes have no crictl, so what was
 * loaded is remembered beside the kubeconfig, which lives as long as the nodes.
 */
async function loadMissing(options: DeployOptions): Promise<void> {
  const { kind, images, standing, present = [], onProgress, signal } = options;
  const file = join(standing.state.path, 'loaded.json');
  const text = await readFile(file, 'utf8').catch(() => '{}');
  const loaded = JSON.parse(text) as Record<string, string>;
  const ids = images.load.length === 0 ? [] : linesOf(await run(engine.imageIds(images.load)));
  const wanted = Object.fromEntries(images.load.map((ref, index) => [ref, ids[index] ?? '']));
  const missing = images.load.filter(
    (ref) => loaded[ref] !== wanted[ref] && !present.includes(ref),
  );
  if (missing.length > 0) {
    onProgress(`loading into the nodes: ${missing.join(', ')}`);
    const name = engineName(standing.labels.cluster);
    await loadImages(kind, { name, images: missing, signal });
  }
  await writeFile(file, JSON.stringify({ ...loaded, ...wanted }));
}
