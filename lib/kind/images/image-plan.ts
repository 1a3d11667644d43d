/** What would be done to have all images: pure, so that it can be shown and tested without an engine. */
import { projectRoot, releaseOf } from '../../core/index.ts';
import { builtParts } from './built/parts.ts';
import { madeBy, type ImageOrigin, type ImageSet } from './image-set.ts';
import { mirroredSteps, publishedSteps, type PulledSteps } from './published.ts';
import type { ImageStep } from './part.ts';

/** Steps that must run one after the other. */
export type BuildLane = readonly ImageStep[];

export interface ImagePlan {
  /** All that is known of the image set before the images are there. */
  readonly images: Omit<ImageSet, 'ids'>;
  /** Stages follow each other; the lanes of one stage may run side by side. */
  readonly stages: readonly (readonly BuildLane[])[];
}

export interface ImagePlanRequest extends ImageOrigin {
  /** A minor, or a patch of one: `1.37`, `1.37.2`. */
  readonly kubernetes: string;
  /** Volumes are to be provisioned. Default: no, and its image is not made. */
  readonly provisioner?: boolean | undefined;
  /** The project's root, whose files decide the keys. Default: this checkout. */
  readonly root?: string;
}

/** Throws UsageError as `releaseOf` does. */
export function planImages(request: ImagePlanRequest): ImagePlan {
  const { source, kubernetes, registry, provisioner = false, root = projectRoot } = request;
  const kubernetesVersion = releaseOf(kubernetes, madeBy(request));
  if (source === 'built') return planBuilt(root, kubernetesVersion, provisioner);
  const steps =
    registry === undefined
      ? publishedSteps(root, kubernetes)
      : mirroredSteps(root, kubernetes, registry);
  return planPulled({ kubernetesVersion, steps, provisioner }, registry !== undefined);
}

interface PlannedSteps {
  readonly kubernetesVersion: string;
  readonly steps: PulledSteps;
  readonly provisioner: boolean;
}

function planBuilt(root: string, kubernetesVersion: string, provisioner: boolean): ImagePlan {
  const steps = builtParts(root, kubernetesVersion);
  const { kubernetes, attacher, array, pause, base, mysql, node, tools, runtime } = steps;
  const { driver, nodeWithDriver } = steps;
  const asked = provisioner ? [steps.provisioner] : [];
  return {
    images: {
      ...imagesOf({ kubernetesVersion, steps, provisioner }),
      source: 'built',
      creation: { node: nodeWithDriver.ref, has: [driver.ref] },
      load: [driver, ...asked].map(({ ref }) => ref),
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

function planPulled(made: PlannedSteps, tunableForceDetach: boolean): ImagePlan {
  const { node, mysql, attacher, driver, array, tools, provisioner } = made.steps;
  const asked = made.provisioner ? [provisioner] : [];
  return {
    images: {
      ...imagesOf(made),
      source: 'published',
      creation: { node: node.ref, has: [] },
      load: [mysql, attacher, driver, ...asked].map(({ ref }) => ref),
      tunableForceDetach,
    },
    stages: [[[node, mysql, attacher, driver, array, tools, ...asked]]],
  };
}

const imagesOf = ({ kubernetesVersion, steps, provisioner }: PlannedSteps) => ({
  kubernetesVersion,
  node: steps.node.ref,
  database: steps.mysql.ref,
  attacher: steps.attacher.ref,
  ...(provisioner ? { provisioner: steps.provisioner.ref } : {}),
  driver: steps.driver.ref,
  array: steps.array.ref,
  tools: steps.tools.ref,
});

/** The plan as a shell script to read or to paste, one line each. */
export function describePlan(plan: ImagePlan): string[] {
  const steps = plan.stages.flat(2);
  return [
    'WORK=$(mktemp -d)',
    ...steps.flatMap((step) => [`# ${step.name}: ${step.ref}`, ...step.commands]),
  ];
}
