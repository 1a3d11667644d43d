# Takes the loop devices of a lease back. Arguments: the shared directory, first and last number.
#
# A device is ours when the file behind it lies in the shared directory, or is deleted and lay on
# the same file system. An unbound device in the range holds nothing and is removed too. Each one
# that is left alone is printed with the file behind it.
set -u
dir=$1 first=$2 last=$3

mount -t devtmpfs devtmpfs /dev
disk=$(stat -c '%Hd:%Ld' "$dir")
files=" $(find "$dir" -type f -printf '%i ')"

# LOOP_CTL_REMOVE of linux/loop.h; losetup cannot.
remove() {
  perl -e 'open F, "+<", "/dev/loop-control" or die; ioctl F, 0x4C81, $ARGV[0] + 0 or die' "$1"
}

is_ours() { # inode device file
  [ "$2" = "$disk" ] || return 1
  case "$files" in *" $1 "*) return 0 ;; esac
  case "$3" in *deleted*) return 0 ;; esac
  return 1
}

release() { # number
  backing=$(losetup --list --noheadings --raw --output BACK-INO,BACK-MAJ:MIN,BACK-FILE "/dev/loop$1" 2>/dev/null)
  if [ -n "$backing" ]; then
    rest=${backing#* }
    is_ours "${backing%% *}" "${rest%% *}" "${rest#* }" || return 1
    losetup --detach "/dev/loop$1" || return 1
  fi
  # A detach is lazy: the number can be removed once the last user is gone.
  for attempt in 1 2 3 4 5 6 7 8 9 10; do
    remove "$1" 2>/dev/null && return 0
    sleep 0.2
  done
  return 1
}

for number in $(seq "$first" "$last"); do
  [ -d "/sys/block/loop$number" ] || continue
  release "$number" || echo "/dev/loop$number $(cat "/sys/block/loop$number/loop/backing_file" 2>/dev/null)"
done
