/** placeholder until csi-manifests.ts is there */
import type { CreateOptions, Standing } from './create-cluster.ts';
export async function deployDriver(_: CreateOptions & { standing: Standing }): Promise<void> {}
