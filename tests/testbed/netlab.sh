#!/usr/bin/env bash
# netlab.sh - N "hosts" on one machine: each has its own network, UTS, IPC, PID and mount
# namespace, a private /tmp, /run, /dev/shm and ~/.cache, its own changeable view of /usr/bin,
# and a real OpenSSH sshd.
#
#   netlab.sh up N            head + n001..nNNN on one bridge (idempotent: downs first)
#   netlab.sh exec HOST CMD.. run CMD inside HOST ("head" or "n001", ...)
#   netlab.sh cut HOST | heal HOST                take a host's link down / up
#   netlab.sh stop-sshd HOST | start-sshd HOST    the listener only; open sessions live on
#   netlab.sh hide HOST FILE | unhide HOST FILE   FILE (below LAB_OVERLAY) is gone on that host alone
#   netlab.sh down            remove everything
#
# LAB          state, below /tmp (default /tmp/netlab). $LAB/host/HOST/standin is /run/standin on
#              that host: what the stand-in tools read (number of GPUs, planted faults)
# LAB_PREFIX   of the names of the network namespaces; two labs need two (default nl-)
# LAB_SHARE    folders below /tmp that every host sees, separated by ":" (LAB always is)
# LAB_OVERLAY  folders a host may change for itself alone (default /usr/bin)
# LAB_TOOLS    folder whose files appear in every host's /usr/bin
# LAB_PATH     what a login finds first in its PATH
# LAB_SLOTS    slots a host in $LAB/hostfile (default 1)
#
# Needs root, iproute2, openssh-server. The bridge lives in a namespace of its own: the outer
# network is never touched, and there is no route out of the lab.
set -euo pipefail
LAB=${LAB:-/tmp/netlab}
PFX=${LAB_PREFIX:-nl-}
OVERLAY=${LAB_OVERLAY:-/usr/bin}
STDPATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
SEARCH=${LAB_PATH:+$LAB_PATH:}$STDPATH
NET=10.77            # addresses: head 10.77.0.1, nK 10.77.(K/240).(10 + K%240)
SELF=$(readlink -f "$0")

addr() { # HOST -> address
  if [ "$1" = head ]; then echo $NET.0.1; else
    local k=$((10#${1#n})); echo $NET.$((k / 240)).$((10 + k % 240)); fi
}
hosts() { echo head; seq -f 'n%03g' 1 "$1"; }
initpid() { cat "$LAB/host/$1/pid1"; }
inside() { local h=$1; shift; nsenter -t "$(initpid "$h")" --all --wd=/ env PATH="$SEARCH" "$@"; }

make_keys() {
  mkdir -p "$LAB/dotssh" "$LAB/host"; chmod 700 "$LAB/dotssh"
  ssh-keygen -q -t ed25519 -N '' -C netlab -f "$LAB/dotssh/id_ed25519"
  cp "$LAB/dotssh/id_ed25519.pub" "$LAB/dotssh/authorized_keys"
  : >"$LAB/dotssh/known_hosts"
  printf '127.0.0.1 localhost\n' >"$LAB/hosts"
  local h
  for h in $(hosts "$1"); do
    mkdir -p "$LAB/host/$h/standin"
    ssh-keygen -q -t ed25519 -N '' -C "$h" -f "$LAB/host/$h/hostkey"
    cp "$LAB/dotssh/authorized_keys" "$LAB/host/$h/authorized_keys"
    echo "$(addr "$h") $h" >>"$LAB/hosts"
    echo "$h,$(addr "$h") $(cut -d' ' -f1,2 "$LAB/host/$h/hostkey.pub")" >>"$LAB/dotssh/known_hosts"
    [ "$h" = head ] || echo "$h slots=${LAB_SLOTS:-1}" >>"$LAB/hostfile"
  done
}

sshd_of() { # HOST: replaces this shell by its sshd
  exec /usr/sbin/sshd -D -e -f /dev/null -h "$LAB/host/$1/hostkey" \
    -o PidFile=none -o UsePAM=no -o UseDNS=no -o StrictModes=no \
    -o PermitRootLogin=prohibit-password -o PasswordAuthentication=no \
    -o KbdInteractiveAuthentication=no -o "AuthorizedKeysFile=$LAB/host/$1/authorized_keys" \
    -o MaxStartups=1000:30:2000 -o MaxSessions=100 -o "SetEnv=PATH=$SEARCH" \
    -o "Subsystem=sftp internal-sftp"
}

wire() { # HOST
  local n=$PFX$1
  ip netns add "$n"
  ip -n "${PFX}sw" link add "v-$1" type veth peer name eth0 netns "$n"
  ip -n "${PFX}sw" link set "v-$1" master br0 up
  ip -n "$n" addr add "$(addr "$1")/16" dev eth0
  ip -n "$n" link set lo up
  ip -n "$n" link set eth0 up
}

boot() { # HOST: start its pid 1, which starts sshd
  mkdir -p /root/.ssh /root/.cache
  setsid nsenter --net="/run/netns/$PFX$1" \
    unshare --uts --ipc --mount --pid --fork --kill-child --mount-proc \
    bash "$SELF" _init "$1" </dev/null >"$LAB/host/$1/log" 2>&1 &
  echo $! >"$LAB/host/$1/outer"
}

_init() { # pid 1 of a host
  hostname "$1"
  mount --bind "$LAB/hosts" /etc/hosts
  mount --bind "$LAB/dotssh" /root/.ssh
  # sshd starts bash in a way that reads ~/.bashrc; the outer machine's may be slow and noisy
  local rc
  for rc in .bashrc .bash_profile .profile; do
    if [ -f "/root/$rc" ]; then mount --bind /dev/null "/root/$rc"; fi
  done
  mount -t tmpfs -o mode=700 tmpfs /root/.cache
  mount -t tmpfs tmpfs /run
  mkdir -p /run/sshd /run/lock /run/standin
  mount --bind "$LAB/host/$1/standin" /run/standin
  private_dev
  mount -t tmpfs tmpfs /dev/shm
  local shared i=0 folder
  IFS=: read -ra shared <<<"$LAB${LAB_SHARE:+:$LAB_SHARE}"
  for folder in "${shared[@]}"; do   # keep what is shared across the private /tmp
    mkdir -p "/run/keep$i"; mount --rbind "$folder" "/run/keep$i"; i=$((i + 1))
  done
  mount -t tmpfs -o mode=1777 tmpfs /tmp
  i=0
  for folder in "${shared[@]}"; do
    mkdir -p "$folder"; mount --rbind "/run/keep$i" "$folder"; i=$((i + 1))
  done
  local changeable; i=0
  IFS=: read -ra changeable <<<"$OVERLAY"
  for folder in "${changeable[@]}"; do
    mkdir -p "/run/overlay$i/upper" "/run/overlay$i/work"
    mount -t overlay overlay -o "lowerdir=$folder,upperdir=/run/overlay$i/upper,workdir=/run/overlay$i/work" "$folder"
    i=$((i + 1))
  done
  if [ -n "${LAB_TOOLS:-}" ]; then cp "$LAB_TOOLS"/* /usr/bin/; fi
  cd /
  trap : CHLD
  start_sshd "$1" &
  while :; do sleep 1000 & wait $! || true; done   # bash as pid 1 reaps orphans
}

private_dev() { # /dev of this host: what programs need, and the files of two cards that the real one does not have
  local file
  mkdir -p /run/dev
  mount -t tmpfs -o mode=755 tmpfs /run/dev
  for file in null zero full random urandom tty ptmx; do : >"/run/dev/$file"; mount --bind "/dev/$file" "/run/dev/$file"; done
  for file in pts shm; do mkdir "/run/dev/$file"; mount --rbind "/dev/$file" "/run/dev/$file"; done
  for file in fd stdin stdout stderr; do ln -s "$(readlink "/dev/$file")" "/run/dev/$file"; done
  mkdir /run/dev/infiniband
  : >/run/dev/infiniband/uverbs0; : >/run/dev/infiniband/uverbs1
  mount --rbind /run/dev /dev
}

start_sshd() { echo "$BASHPID" >"$LAB/host/$1/sshd.inner"; sshd_of "$1"; }

up() {
  down
  mkdir -p "$LAB"
  make_keys "$1"
  ip netns add "${PFX}sw"
  ip -n "${PFX}sw" link add br0 type bridge
  ip -n "${PFX}sw" link set br0 up
  local h i o
  for h in $(hosts "$1"); do wire "$h"; boot "$h"; done
  for h in $(hosts "$1"); do
    for i in $(seq 200); do
      grep -qs 'Server listening' "$LAB/host/$h/log" && break; sleep 0.05
    done
    grep -qs 'Server listening' "$LAB/host/$h/log" || { echo "$h did not come up:" >&2; cat "$LAB/host/$h/log" >&2; exit 1; }
    o=$(cat "$LAB/host/$h/outer")
    # nsenter execs unshare, whose only child is the host's pid 1
    tr -d ' ' <"/proc/$o/task/$o/children" >"$LAB/host/$h/pid1"
  done
}

down() {
  local f n
  if [ -d "$LAB/host" ]; then
    for f in "$LAB"/host/*/outer; do
      [ -f "$f" ] || continue
      # only a process that really is one of ours
      if grep -qs unshare "/proc/$(cat "$f")/cmdline"; then kill -9 "$(cat "$f")"; fi
    done
    sleep 0.2
  fi
  for n in $(ip netns list | awk '{print $1}' | grep "^$PFX" || true); do ip netns del "$n"; done
  rm -rf "$LAB/host" "$LAB/dotssh" "$LAB/hosts" "$LAB/hostfile"
}

cmd=${1:?see the head of this file}; shift
case $cmd in
  up) up "${1:?N}" ;;
  down) down ;;
  exec) h=$1; shift; exec nsenter -t "$(initpid "$h")" --all --wd=/ env PATH="$SEARCH" "$@" ;;
  cut) ip -n "${PFX}sw" link set "v-$1" down ;;
  heal) ip -n "${PFX}sw" link set "v-$1" up ;;
  stop-sshd) inside "$1" sh -c "kill \$(cat $LAB/host/$1/sshd.inner)" ;;
  start-sshd) inside "$1" setsid -f "$SELF" _sshd "$1" </dev/null >/dev/null 2>>"$LAB/host/$1/log" ;;
  hide) inside "$1" mv "$2" "$2.hidden" ;;
  unhide) inside "$1" mv "$2.hidden" "$2" ;;
  _init) _init "$1" ;;
  _sshd) start_sshd "$1" ;;
  *) echo "unknown: $cmd" >&2; exit 2 ;;
esac
