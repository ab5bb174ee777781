#!/usr/bin/perl
# Runs CHROMIUM with these arguments, unable to open netlink sockets: Chromium then never sees network interfaces come
# and go. With each container, one does, and Chromium fails the connections that it is opening at that moment. Nor does
# it load the popups of its address bar, which are two hidden pages for each context, or processes that it might need.
use strict;
use warnings;
use POSIX ();

my %numbers = (x86_64 => [157, 41], aarch64 => [167, 198]);
my $machine = (POSIX::uname())[4];
my ($prctl, $socket) = @{ $numbers{$machine} // die "$machine is not supported\n" };
my $browser = $ENV{CHROMIUM} // die "CHROMIUM is not set\n";
my ($NO_NEW_PRIVILEGES, $SECCOMP, $FILTER) = (38, 22, 2);
my ($LOAD, $IF_EQUAL, $RETURN) = (0x20, 0x15, 0x06);
my ($NUMBER_AT, $FAMILY_AT, $NETLINK) = (0, 16, 16);
my ($ALLOW, $UNSUPPORTED) = (0x7fff0000, 0x00050000 | 97);

my @filter = (
  [$LOAD, 0, 0, $NUMBER_AT], [$IF_EQUAL, 0, 3, $socket],
  [$LOAD, 0, 0, $FAMILY_AT], [$IF_EQUAL, 0, 1, $NETLINK],
  [$RETURN, 0, 0, $UNSUPPORTED], [$RETURN, 0, 0, $ALLOW],
);
my $code = join '', map { pack 'SCCL', @$_ } @filter;
my $program = pack 'Sx6P', scalar @filter, $code;
syscall($prctl, $NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0 or die "no_new_privs: $!\n";
syscall($prctl, $SECCOMP, $FILTER, $program, 0, 0) == 0 or die "seccomp: $!\n";
# Only the last list counts, so the names join the one that is given.
my $features = 'WebUIOmniboxPopup,WebUIOmniboxAimPopup,SpareRendererForSitePerProcess';
my @arguments = map { /^--disable-features=/ ? "$_,$features" : $_ } @ARGV;
exec $browser, @arguments or die "$browser: $!\n";
