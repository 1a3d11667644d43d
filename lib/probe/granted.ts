/** What whoever grants rights is given to read and to apply, for just what was asked for. Pure. */
import type { Need } from '../user-cluster.ts';
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

export function needsOf({ home, cut, grantsLater }: Omit<Granted, 'to'>): Need[] {
  const trials = grantsLater ? homeNeeds(home) : trialNeeds(home);
  return [
    ...readNeeds,
    ...(cut === undefined ? trials : cutNeeds(home, cut.node, cut.marks)),
    // What a killed probe left in a given namespace is found there.
    ...(home.isGiven ? [] : cleanNeeds),
  ];
}

/** A namespace that is given comes first. */
export function grantedObjects(granted: Granted): object[] {
  const { home, cut, to } = granted;
  const security = cut === undefined ? 'baseline' : 'privileged';
  return [
    ...(home.isGiven ? [givenNamespaceObject(home.namespace, security)] : []),
    ...rbacObjects(to.name.replaceAll(/[^a-z0-9.-]/gi, '-').toLowerCase(), needsOf(granted), {
      ...{ to, home },
    }),
  ];
}
