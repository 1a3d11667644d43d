import { expect, test } from 'vitest';
import { toolsFor } from './ensure.ts';

const step = (name: string): { name: string; ref: string; commands: string[] } => ({
  name,
  ref: name,
  commands: [],
});

test('a driver edit asks for neither Go nor mmdebstrap', () => {
  expect(toolsFor([step('driver')])).toEqual(['docker', 'flock', 'tar']);
});

test('Kubernetes asks for Go, Debian roots for mmdebstrap', () => {
  expect(toolsFor([step('kubernetes')])).toContain('go');
  expect(toolsFor([step('mysql')])).toContain('mmdebstrap');
});
