/** What would be done to have all images: pure, so that it can be shown and tested without an engine. */
import { fileURLToPath } from 'node:url';
import { releaseOf } from '../kubernetes-versions.ts';
import { builtParts } from './built/parts.ts';
import { madeBy, type ImageOrigin, type ImageSet } from './image-set.ts';
import { mirroredSteps, type MirroredSteps } from './mirrored.ts';
import type { Step } from './part.ts';
import { publishedSteps, type PublishedSteps } from './published.ts';

/** Steps that must run one after the other. */
export type Lane = readonly Step[];

export interface ImagePlan {
  /** All that is known of the image set before the images are there. */
  readonly images: Omit<ImageSet, 'ids'>;
  /** Stages follow each other; the lanes of one stage may run side by side. */
  readonly stages: readonly (readonly Lane[])[];
}

export interface PlanRequest extends ImageOrigin {
  /** A minor, or a patch of one: `1.37`, `1.37.2`. */
  readonly kubernetes: string;
  /** Volumes are to be provisioned. Default: no, and its image is not made. */
  readonly provisioner?: boolean | undefined;
  /** The project's root, whose files decide the keys. Default: this checkout. */
  readonly root?: string;
}

/** This checkout. */
export const projectRoot = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/** Throws UsageError as `releaseOf` does. */
export function planImages(request: PlanRequest): ImagePlan {
  const { source, kubernetes, registry, provisioner = false, root = projectRoot } = request;
  const kubernetesVersion = releaseOf(kubernetes, madeBy(request));
  if (source === 'built') return planBuilt(root, kubernetesVersion, provisioner);
  const steps =
    registry === undefined
      ? publishedSteps(root, kubernetes)
      : mirroredSteps(root, kubernetes, registry);
  return planPulled({ kubernetesVersion, steps, provisioner }, registry !== undefined);
}

function planBuilt(root: string, kubernetesVersion: string, provisioner: boolean): ImagePlan {
  const parts = builtParts(root, kubernetesVersion);
  const asked = provisioner ? [parts.provisioner] : [];
  const {
    kubernetes,
    attacher,
    array,
    pause,
    base,
    mysql,
    node,
    tools,
    runtime,
    driver,
    nodeWithDriver,
  } = parts;
  return {
    images: {
      source: 'built',
      kubernetesVersion,
      node: node.ref,
      creation: { node: nodeWithDriver.ref, has: [driver.ref] },
      load: [driver, ...asked].map(({ ref }) => ref),
      database: mysql.ref,
      attacher: attacher.ref,
      ...(provisioner ? { provisioner: parts.provisioner.ref } : {}),
      driver: driver.ref,
      array: array.ref,
      tools: tools.ref,
      tunableForceDetach: true,
    },
    // The compiler wants the processor, the packages the network and the disk.
    stages: [
      [
        [kubernetes, attacher, ...asked, pause, array],
        [base, mysql, runtime, tools],
      ],
      [[node, driver, nodeWithDriver]],
    ],
  };
}

interface Pulled {
  readonly kubernetesVersion: string;
  readonly steps: PublishedSteps | MirroredSteps;
  readonly provisioner: boolean;
}

function planPulled(
  { kubernetesVersion, steps, provisioner }: Pulled,
  tunableForceDetach: boolean,
): ImagePlan {
  const { node, mysql, attacher, driver, array, tools } = steps;
  const asked = provisioner ? [steps.provisioner] : [];
  return {
    images: {
      source: 'published',
      kubernetesVersion,
      node: node.ref,
      creation: { node: node.ref, has: [] },
      load: [mysql, attacher, driver, ...asked].map(({ ref }) => ref),
      database: mysql.ref,
      attacher: attacher.ref,
      ...(provisioner ? { provisioner: steps.provisioner.ref } : {}),
      driver: driver.ref,
      array: array.ref,
      tools: tools.ref,
      tunableForceDetach,
    },
    stages: [[[node, mysql, attacher, driver, array, tools, ...asked]]],
  };
}

/** The plan as a shell script to read or to paste, one line each. */
export function describePlan(plan: ImagePlan): string[] {
  const steps = plan.stages.flat(2);
  return [
    'WORK=$(mktemp -d)',
    ...steps.flatMap((step) => [`# ${step.name}: ${step.ref}`, ...step.commands]),
  ];
}
