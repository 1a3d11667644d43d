/** What whoever grants rights is given to read and to apply, for just what was asked for. Pure. */
import type { Need } from '../user-cluster.ts';
import {
  policyAnnotation,
  policyName,
  policyNeeds,
  policyObjects,
  type LimitedAccount,
} from './policy.ts';
import {
  cleanNeeds,
  cutNeeds,
  homeNeeds,
  rbacObjects,
  readNeeds,
  trialNeeds,
  type Grantee,
  type Home,
} from './rights.ts';
import { givenNamespaceObject } from './trials/objects.ts';

export interface Granted {
  readonly home: Home;
  /** Default: trials. */
  readonly cut?: { readonly node: string; readonly marks: boolean };
  /** The end of attachments is granted by their names, once those are known. */
  readonly grantsLater: boolean;
  readonly to: Grantee;
}

function needsOf({ home, cut, grantsLater }: Granted): Need[] {
  const trials = grantsLater ? homeNeeds(home) : trialNeeds(home);
  return [
    ...readNeeds,
    ...(cut === undefined ? trials : cutNeeds(home, cut.node, cut.marks)),
    // What a killed probe left in a given namespace is found there.
    ...(home.isGiven ? [] : cleanNeeds),
  ];
}

/**
 * Whom a policy limits: who may end attachments without their names, in a namespace that is known. A policy
 * of a person would be in the way of their other work.
 */
function limitedBy({ home, cut, grantsLater, to }: Granted): LimitedAccount | undefined {
  const { kind, namespace } = to;
  const isBare = home.isGiven && cut === undefined && !grantsLater;
  return isBare && kind === 'ServiceAccount' && namespace !== undefined
    ? { name: to.name, namespace }
    : undefined;
}

/** A namespace that is given comes first, and what limits a right before the right. */
export function grantedObjects(granted: Granted): object[] {
  const { home, cut, to } = granted;
  const { namespace } = home;
  const security = cut === undefined ? 'baseline' : 'privileged';
  const limited = limitedBy(granted);
  const needs = [...needsOf(granted), ...(limited === undefined ? [] : policyNeeds(namespace))];
  const annotations = limited === undefined ? {} : { [policyAnnotation]: policyName(namespace) };
  return [
    ...(home.isGiven ? [givenNamespaceObject(namespace, security, annotations)] : []),
    ...(limited === undefined ? [] : policyObjects(namespace, limited)),
    ...rbacObjects(to.name.replaceAll(/[^a-z0-9.-]/gi, '-').toLowerCase(), needs, { to, home }),
  ];
}
