/** Kubernetes versions that the model plays. */

export const kubernetesVersions = ['1.28', '1.29', '1.30', '1.31', '1.32', '1.33', '1.34'] as const;
/** Of the images. */
export const kubernetesDefault = '1.34';
export type KubernetesVersion = (typeof kubernetesVersions)[number];
