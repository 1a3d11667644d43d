# The writer of ../real-storage for a guest: `DEVICE NODE EVERY_MS`. Writes tokens, each with O_DIRECT and a flush,
# and prints its journal. Times are the guest's CLOCK_MONOTONIC.
use strict;
use Fcntl;
use IO::Handle;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC sleep);

use constant { BLOCK => 4096, RING => 256, SHARED => 512, O_DIRECT => 040000 };
my ($device, $node, $every) = @ARGV;
STDOUT->autoflush(1);

sub now { return 1000 * clock_gettime(CLOCK_MONOTONIC) }
sub note { print join(' ', @_), "\n" }

# Direct I/O needs memory at a page's beginning.
sub page {
  my ($text) = @_;
  return (-unpack('J', pack('p', $$text))) & (BLOCK - 1);
}
my $out = "\0" x (3 * BLOCK);
my $in = "\0" x (3 * BLOCK);
sysopen(my $file, $device, O_RDWR | O_DIRECT) or die "$device: $!";

sub look {
  my $at = page(\$in);
  sysseek($file, SHARED * BLOCK, 0);
  defined sysread($file, $in, BLOCK, $at) or return 0;
  my ($magic, $who, $seq) = unpack('a8 a1 x7 Q<', substr($in, $at, 24));
  note('finds', $seq, sprintf('%.1f', now())) if $magic eq 'FDTOKEN1' && $who ne $node;
  return 1;
}

sub put {
  my ($seq, $block) = @_;
  my $at = page(\$out);
  substr($out, $at, BLOCK) = pack('a8 a1 x7 Q< x40', 'FDTOKEN1', $node, $seq) x 64;
  sysseek($file, $block * BLOCK, 0);
  return (syswrite($file, $out, BLOCK, $at) // 0) == BLOCK && defined $file->sync;
}

for (my $seq = 1; ; $seq++) {
  my $ring = ($node eq 'b') * RING + (($seq - 1) / 2) % RING;
  my $block = $seq % 2 == 0 ? SHARED : $ring;
  my $looked = $node eq 'a' || $block != SHARED || look();
  note('asks', $seq, sprintf('%.1f', now())) if $looked;
  if ($looked && put($seq, $block)) { note('done', $seq, sprintf('%.1f', now())) }
  else {
    my ($name) = grep { $!{$_} } keys %!;
    note('fails', $seq, sprintf('%.1f', now()), $name // 'unknown');
  }
  my $due = now() + $every;
  sleep($every / 1000);
  my $late = now() - $due;
  note('late', int $late, int now()) if $late > 100;
}
