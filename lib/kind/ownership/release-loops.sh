# Takes the loop devices of a lease back. Arguments: the shared directory, first and last number, and
# `leased` where they are leased to its cluster now.
#
# A device is ours when the file behind it lies in the shared directory; or when it was deleted, lay on
# the same file system and was put there by a path of that directory; or, of those that are leased, when
# the array served it, which puts files behind devices by the bare name forcedetach.VOLUME.GENERATION, or an
# initiator. A
# leased device with nothing behind it is removed too. Each one that stays is printed with the reason.
set -u
dir=$1 first=$2 last=$3 whose=$4

mount -t devtmpfs devtmpfs /dev
disk=$(stat -c '%Hd:%Ld' "$dir")
files=" $(find "$dir" -type f -printf '%i ')"

# LOOP_CTL_REMOVE of linux/loop.h; losetup cannot.
remove() {
  perl -e 'open F, "+<", "/dev/loop-control" or die "$!\n"; ioctl F, 0x4C81, $ARGV[0] + 0 or die "$!\n"' "$1" 2>&1
}

# The name that was given when the file was put there: lo_file_name of LOOP_GET_STATUS64. The path that
# losetup shows is the kernel's, and begins at the root of a mount that may be gone.
given_name() {
  perl -e 'open F, "<", "/dev/loop$ARGV[0]" or exit; my $info = "\0" x 232;
    ioctl F, 0x4C05, $info or exit; print unpack "Z64", substr $info, 56, 64' "$1"
}

is_ours() { # inode device file given-name
  if [ "$whose" = leased ] && [ "${3%" (deleted)"}" = "/$4" ]; then
    case "$4" in */*) ;; forcedetach.*.*) return 0 ;; esac
  fi
  # Of an initiator that was killed nothing can be read any more.
  [ "$whose" != leased ] || [ "$1$3" != / ] || return 0
  [ "$2" = "$disk" ] || return 1
  case "$files" in *" $1 "*) return 0 ;; esac
  case "$4" in "$dir"/*) ;; *) return 1 ;; esac
  case "$3" in *" (deleted)") return 0 ;; esac
  return 1
}

# Prints why a device can't be released.
release() { # number
  path=/sys/block/loop$1/loop/backing_file
  if [ -e "$path" ]; then
    file=$(cat "$path")
    inode=$(losetup --list --noheadings --raw --output BACK-INO "/dev/loop$1" | tr -d ' ')
    device=$(losetup --list --noheadings --raw --output BACK-MAJ:MIN "/dev/loop$1" | sed 's/\\x20//g; s/ //g')
    is_ours "$inode" "$device" "$file" "$(given_name "$1")" || { echo "is not ours: $file"; return; }
    losetup --detach "/dev/loop$1" 2>&1 || return
  elif [ "$whose" != leased ]; then
    return
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
