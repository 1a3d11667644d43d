/** The model with the verbs of some capabilities, and of no other: a backend that has just these. */
import { capabilities, capabilityNames, type Capability } from '../../lib/core/capabilities.ts';
import type { Backend, BreakableTestbed, Testbed } from '../../lib/run/ports/cluster.ts';

/** What was asked of such a backend: `machine.freeze`. */
export interface AskedVerbs {
  /** Verbs that it has and that were called. */
  readonly called: Set<string>;
  /** Verbs that it lacks and that somebody looked for. */
  readonly missed: Set<string>;
}

type Declared = Readonly<Partial<Record<string, string | readonly string[]>>>;

/** Verbs of a capability by their port; none where it is no call. */
export const verbsOf = (capability: Capability): readonly string[] =>
  Object.entries(capabilities[capability] as Declared).flatMap(([port, verbs]) =>
    Array.isArray(verbs) ? verbs.map((verb: string) => `${port}.${verb}`) : [],
  );

type Narrow = <T extends object>(port: T, ...names: readonly string[]) => T;

function narrowing(has: readonly Capability[], { called, missed }: AskedVerbs): Narrow {
  const there = new Set(has.flatMap(verbsOf));
  const optional = new Set(capabilityNames.flatMap(verbsOf));
  return (port, ...names) =>
    new Proxy(port, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key);
        const full = names
          .map((name) => `${name}.${String(key)}`)
          .find((each) => optional.has(each));
        if (full === undefined) return value;
        if (!there.has(full)) {
          missed.add(full);
          return undefined;
        }
        if (typeof value !== 'function') return value;
        return (...args: unknown[]): unknown => {
          called.add(full);
          return Reflect.apply(value, target, args);
        };
      },
    });
}

const onlyOf = <T extends BreakableTestbed>(testbed: T, narrow: Narrow): T => ({
  ...testbed,
  machine: (node: string) => narrow(testbed.machine(node), 'machine'),
  kubernetes: narrow(testbed.kubernetes, 'kubernetes', 'pods'),
  controlPlane: narrow(testbed.controlPlane, 'controlPlane'),
});

const onlyOfVolume = (testbed: Testbed, narrow: Narrow): Testbed => ({
  ...onlyOf(testbed, narrow),
  disk: narrow(testbed.disk, 'disk'),
});

/** `heard`: is told what is asked. */
export const having =
  (has: readonly Capability[], heard: AskedVerbs) =>
  (model: Backend): Backend => ({
    ...model,
    async open(volumes) {
      const opened = await model.open(volumes);
      const narrow = narrowing(has, heard);
      return {
        ...opened,
        cluster: onlyOf(opened.cluster, narrow),
        volumes: opened.volumes.map((each) =>
          each.status === 'rejected' ? each : { ...each, value: onlyOfVolume(each.value, narrow) },
        ),
      };
    },
  });
