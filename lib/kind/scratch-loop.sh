# Proves on a scratch file that a loop device can be bound, cut and freed. Argument: its number.
# Run as root where loop devices may be used; it leaves nothing behind.
set -eu
number=$1
device=/dev/loop$number
file=$(mktemp)

[ "${2:-}" = own-dev ] && mount -t devtmpfs devtmpfs /dev
[ ! -e "/sys/block/loop$number" ] || { echo "$device is in use already" >&2; exit 1; }

control() { # request number: an ioctl of /dev/loop-control, linux/loop.h
  perl -e 'open F, "+<", "/dev/loop-control" or die "$!\n"; ioctl F, hex $ARGV[0], $ARGV[1] + 0 or die "$!\n"' "$1" "$2"
}
finish() {
  losetup --detach "$device" 2>/dev/null || true
  for attempt in 1 2 3 4 5; do control 4C81 "$number" 2>/dev/null && break; sleep 0.2; done
  rm -f "$file"
}
trap finish EXIT

truncate -s 1M "$file"
losetup --direct-io=on "$device" "$file"
dd if="$device" of=/dev/null bs=4096 count=1 skip=8 iflag=direct 2>/dev/null
perl -e '
  my $status = "\0" x 232;
  open F, "+<", $ARGV[0] or die "$!\n";
  ioctl F, 0x4C05, $status or die "$!\n";
  substr $status, 32, 8, pack "Q<", 512;
  ioctl F, 0x4C04, $status or die "$!\n";
' "$device"
if dd if="$device" of=/dev/null bs=4096 count=1 skip=8 iflag=direct 2>/dev/null; then
  echo "$device still reads after it was cut" >&2
  exit 1
fi
