/** All parts that are built on this machine, in an order in which each comes after its needs. */
import type { Part } from '../part.ts';
import { arrayPart } from './array.ts';
import { basePart } from './base.ts';
import { driverPart } from './driver.ts';
import { kubernetesPart, pausePart } from './kubernetes.ts';
import { mysqlPart } from './mysql.ts';
import { nodePart, nodeWithDriverPart } from './node.ts';
import { attacherPart, provisionerPart } from './sidecars.ts';
import { runtimePart, toolsPart } from './tools.ts';

export interface BuiltParts {
  readonly base: Part;
  readonly kubernetes: Part;
  readonly attacher: Part;
  /** Of clusters whose volumes are provisioned. */
  readonly provisioner: Part;
  readonly array: Part;
  readonly pause: Part;
  readonly mysql: Part;
  readonly node: Part;
  readonly tools: Part;
  readonly runtime: Part;
  readonly driver: Part;
  /** What a new cluster's nodes are made of. */
  readonly nodeWithDriver: Part;
}

export function builtParts(root: string, kubernetesVersion: string): BuiltParts {
  const base = basePart(root);
  const kubernetes = kubernetesPart(root, kubernetesVersion);
  const attacher = attacherPart(root);
  const pause = pausePart(root);
  const mysql = mysqlPart(root);
  const runtime = runtimePart(root);
  const contents = { base, kubernetes, pause, preloaded: [mysql, attacher, runtime] };
  const node = nodePart(root, kubernetesVersion, contents);
  const driver = driverPart(root, runtime);
  return {
    kubernetes,
    attacher,
    provisioner: provisionerPart(root),
    array: arrayPart(root),
    pause,
    base,
    mysql,
    node,
    tools: toolsPart(root),
    runtime,
    driver,
    nodeWithDriver: nodeWithDriverPart(root, node, driver),
  };
}
