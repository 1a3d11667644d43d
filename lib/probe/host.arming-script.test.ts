import { expect, test } from 'vitest';
import { armingScript } from './host.ts';

test('files are written first, then units start, then both are proven', () => {
  const script = armingScript({
    ...{ run: 'r', folder: '/run/r', before: 'mkdir -p /run/r' },
    units: [
      { name: 'late', afterMs: 59_500, accuracyMs: 100, script: 'echo "$HOME"' },
      { name: 'soon', script: 'sleep 9\ntrue' },
    ],
    proof: 'echo armed',
  });
  expect(script).toBe(`set -eu
mkdir -p /run/r
cat > /run/r/late.sh <<'LATE'
echo "$HOME"
LATE
cat > /run/r/soon.sh <<'SOON'
sleep 9
true
SOON
systemd-run --quiet --collect --unit=r-late --on-active=60s --timer-property=AccuracySec=100ms /bin/sh /run/r/late.sh
systemd-run --quiet --collect --unit=r-soon  /bin/sh /run/r/soon.sh
echo armed`);
});
