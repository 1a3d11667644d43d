/** Puts the CSI driver on a cluster: its images into the nodes, its objects into the API. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { KubernetesObject, V1PodTemplateSpec } from '@kubernetes/client-node';
import * as engine from '../engine/commands.ts';
import { run } from '../engine/run.ts';
import type { ImageSet } from '../images/image-plan.ts';
import { renderCsiManifests } from '../objects.ts';
import type { CreateOptions, Standing } from './create-cluster.ts';
import { sharedDir } from './kind-config.ts';
import { kindCommand } from './kind-command.ts';
import { apply, type KubeClients, waitFor } from '../../core/index.ts';
import { engineName } from '../ownership/registry.ts';

/** Image of the driver that its pods run; another one rolls them out again. */
const idAnnotation = 'forcedetach.dev/driver-id';

export interface DeployOptions extends CreateOptions {
  readonly standing: Standing;
  /** References that its nodes have from their own image. Default: none is known. */
  readonly present?: readonly string[];
}

/** Loads what the nodes lack, applies the manifests and waits until every pod runs the new ones. */
export async function deployDriver(options: DeployOptions): Promise<void> {
  const { images, standing, onProgress, signal } = options;
  await loadImages(options);
  onProgress('starting the CSI driver');
  const manifests = await renderCsiManifests({
    driverImage: images.driver,
    attacherImage: images.attacher,
    provisionerImage: images.provisioner,
    loops: standing.lease.loops,
    sharedDir,
  });
  for (const manifest of manifests) annotate(manifest, images.ids['driver'] ?? images.driver);
  await apply(standing.clients, manifests);
  await rolledOut(standing.clients, manifests, signal);
}

/** Same tag, other content: only the annotation makes Kubernetes start new pods. */
function annotate(manifest: KubernetesObject, id: string): void {
  const { template } = (manifest as { spec?: { template?: V1PodTemplateSpec } }).spec ?? {};
  if (template === undefined) return;
  template.metadata ??= {};
  template.metadata.annotations = { ...template.metadata.annotations, [idAnnotation]: id };
}

async function rolledOut(
  { apps }: KubeClients,
  manifests: readonly KubernetesObject[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const look = async ({ kind, metadata }: KubernetesObject): Promise<true | string> => {
    const named = { name: metadata?.name ?? '', namespace: metadata?.namespace ?? 'default' };
    const said = `${kind} ${named.name}`;
    if (kind === 'DaemonSet') {
      const { metadata: read, status } = await apps.readNamespacedDaemonSet(named);
      const want = status?.desiredNumberScheduled ?? 0;
      const done =
        status?.observedGeneration === read?.generation &&
        want > 0 &&
        status?.updatedNumberScheduled === want &&
        status?.numberReady === want;
      return done || `${said}: ${status?.numberReady ?? 0} of ${want} ready`;
    }
    if (kind === 'Deployment' || kind === 'StatefulSet') {
      const {
        metadata: read,
        spec,
        status,
      } = kind === 'Deployment'
        ? await apps.readNamespacedDeployment(named)
        : await apps.readNamespacedStatefulSet(named);
      const want = spec?.replicas ?? 1;
      const done =
        status?.observedGeneration === read?.generation &&
        status?.updatedReplicas === want &&
        status?.readyReplicas === want;
      return done || `${said}: ${status?.readyReplicas ?? 0} of ${want} ready`;
    }
    return true;
  };
  const command = 'kubectl get pods --all-namespaces';
  const wait = { what: 'the CSI driver runs on all nodes', timeoutMs: 120_000, signal, command };
  await waitFor(wait, async () => {
    const answers = await Promise.all(manifests.map(look));
    return answers.find((answer) => answer !== true) ?? true;
  });
}

/**
 * `kind load` unpacks each image again on every call where the nodes have no crictl, so what was
 * loaded is remembered beside the kubeconfig, which lives as long as the nodes.
 */
async function loadImages({
  kind,
  images,
  standing,
  present = [],
  onProgress,
  signal,
}: DeployOptions): Promise<void> {
  const file = join(standing.state.path, 'loaded.json');
  const text = await readFile(file, 'utf8').catch(() => '{}');
  const loaded = JSON.parse(text) as Record<string, string>;
  const wanted = await imageIds(images);
  const missing = Object.keys(wanted).filter(
    (ref) => loaded[ref] !== wanted[ref] && !present.includes(ref),
  );
  if (missing.length > 0) {
    onProgress(`loading into the nodes: ${missing.join(', ')}`);
    const name = engineName(standing.labels.cluster);
    await kindCommand(kind).load({ name, images: missing, signal });
  }
  await writeFile(file, JSON.stringify({ ...loaded, ...wanted }));
}

async function imageIds({ load }: ImageSet): Promise<Record<string, string>> {
  if (load.length === 0) return {};
  const ids = await run(engine.imageIds(load));
  return Object.fromEntries(ids.split('\n').map((id, index) => [load[index] ?? '', id]));
}
