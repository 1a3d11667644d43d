/** The programs of the driver's image, each one file at the path that it has in a checkout; packages stay outside. */
import { defineConfig } from 'rolldown';

const programs = [
  'lib/storage/csi/main',
  'lib/storage/csi/disk-tool',
  'lib/storage/csi/watch-tool',
  'lib/kind/self-fence/main',
];

export default defineConfig(
  programs.map((program) => ({
    input: `${program}.ts`,
    platform: /** @type {'node'} */ ('node'),
    external: /^[^./]/,
    treeshake: { moduleSideEffects: false },
    output: { entryFileNames: `${program}.ts`, codeSplitting: false },
  })),
);
