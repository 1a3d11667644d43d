import { expect, test } from 'vitest';
import { builtParts } from './built/parts.ts';
import { projectRoot } from '../../core/program.ts';
import { mirroredNames, planImages } from './image-plan.ts';

const registry = '127.0.0.1:5000';
const every = { provisioner: true, beside: ['initiator', 'ceph'] as const };
const plan = planImages({ source: 'published', kubernetes: '1.37', registry, ...every });
const steps = plan.stages.flat(2);

test('every image is pulled by digest, and none without', () => {
  expect(steps.map(({ name }) => name).toSorted()).toEqual(mirroredNames.toSorted());
  for (const { ref, commands } of steps) {
    const text = commands.join('\n');
    expect(ref.startsWith(`${registry}/forcedetach/`)).toBe(true);
    expect(text).toContain(`pinned=${ref.slice(0, ref.lastIndexOf(':'))}@$digest\n`);
    expect(text.match(/docker pull .*/g)).toEqual(['docker pull --quiet "$pinned"']);
  }
});

test('its tag is the key of what this checkout would build, and the image has to say so', () => {
  const parts = builtParts(projectRoot, '1.37.2');
  for (const name of mirroredNames) {
    const step = steps.find((each) => each.name === name);
    expect(step?.ref).toBe(`${registry}/${parts[name].ref}`);
    expect(step?.commands.join('\n')).toContain(
      `forcedetach.key"}}' "$pinned")" = ${parts[name].key} ]`,
    );
  }
});
