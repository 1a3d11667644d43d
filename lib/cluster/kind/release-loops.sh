# Takes the loop devices of a lease back. Arguments: the shared directory, first and last number.
#
# A device is ours when the array served it, which names its files /forcedetach.VOLUME.GENERATION,
# or when the file behind it lies in the shared directory, or is deleted and lay on the same file
# system. An unbound device in the range holds nothing and is removed too. Each one that stays is
# printed with the reason.
set -u
dir=$1 first=$2 last=$3

mount -t devtmpfs devtmpfs /dev
disk=$(stat -c '%Hd:%Ld' "$dir")
files=" $(find "$dir" -type f -printf '%i ')"

# LOOP_CTL_REMOVE of linux/loop.h; losetup cannot.
remove() {
  perl -e 'open F, "+<", "/dev/loop-control" or die "$!\n"; ioctl F, 0x4C81, $ARGV[0] + 0 or die "$!\n"' "$1" 2>&1
}

is_ours() { # inode device file
  case "$3" in /forcedetach.*.*) return 0 ;; esac
  [ "$2" = "$disk" ] || return 1
  case "$files" in *" $1 "*) return 0 ;; esac
  case "$3" in *deleted*) return 0 ;; esac
  return 1
}

# Prints why a device can't be released.
release() { # number
  if [ -e "/sys/block/loop$1/loop/backing_file" ]; then
    backing=$(losetup --list --noheadings --raw --output BACK-INO,BACK-MAJ:MIN,BACK-FILE "/dev/loop$1")
    rest=${backing#* }
    is_ours "${backing%% *}" "${rest%% *}" "${rest#* }" || { echo "is not ours: ${rest#* }"; return; }
    losetup --detach "/dev/loop$1" 2>&1 || return
  fi
  # A detach is lazy: the number can be removed once the last user is gone.
  for attempt in 1 2 3 4 5 6 7 8 9 10; do
    why=$(remove "$1") && return
    sleep 0.3
  done
  echo "is in use: $why"
}

for number in $(seq "$first" "$last"); do
  [ -d "/sys/block/loop$number" ] || continue
  why=$(release "$number")
  [ -z "$why" ] || echo "/dev/loop$number $why"
done
