#!/usr/bin/env bash
# Installs what is missing: the locked packages, the project's own Node among them; with --test also a browser and a broker, with
# --image what builds an image, with --cluster what a hub on several machines needs.
set -euo pipefail
cd "$(dirname "$0")/.."

# A test that calls one of these scripts must not have packages replaced under the suite that it runs in.
[ -z "${PLENUM_NO_SETUP:-}" ] || exit 0

case $(uname -m) in
  x86_64) arch=x64 ;;
  aarch64) arch=arm64 ;;
  *) echo "setup: there is no pinned Node for $(uname -m)" >&2; exit 78 ;;
esac

# The stamp is a copy of the lock file that was installed: a checkout that gives the file another time installs nothing.
# An empty stamp is of an installation by hand, and its time counts.
stamp=node_modules/.setup-done
is_installed() {
  if [ -s "$stamp" ]; then cmp -s package-lock.json "$stamp"; else [ -e "$stamp" ] && [ ! package-lock.json -nt "$stamp" ]; fi
}
if ! is_installed; then
  command -v npm >/dev/null || { echo 'setup: Node 20 or newer with npm is needed' >&2; exit 78; }
  echo 'setup: installing the locked packages (once)' >&2
  npm ci >&2
  ln -sf "../node-linux-$arch/bin/node" node_modules/.bin/node # npm before 11.19 drops this link
  cp package-lock.json "$stamp"
fi

# Runs apt-get. Another program may use it at the same time: apt-get itself waits for one of its two locks only.
run_apt() {
  local tries said
  for ((tries = 0; tries < 120; tries++)); do
    if said=$(DEBIAN_FRONTEND=noninteractive LC_ALL=C apt-get -qq -o DPkg::Lock::Timeout=600 "$@" 2>&1); then return 0; fi
    case $said in *'Could not get lock'* | *'Unable to lock'*) sleep 5 ;; *) break ;; esac
  done
  printf '%s\n' "$said" >&2
  return 1
}

# Installs what is missing of Debian's packages; the first argument says what they are for.
install_packages() {
  local purpose=$1 need=()
  shift
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2> /dev/null | grep -q '^install ok installed' || need+=("$package")
  done
  [ ${#need[@]} -gt 0 ] || return 0
  [ "$(id -u)" = 0 ] || { echo "setup: $purpose as root, with these packages of Debian: ${need[*]}" >&2; exit 78; }
  echo "setup: apt-get install ${need[*]} (once)" >&2
  run_apt update
  run_apt install -y --no-install-recommends "${need[@]}"
}

case ${1:-} in
  --image)
    install_packages 'an image is built' mmdebstrap squashfs-tools rauc gdisk mtools dosfstools grub-common cpio kmod xz-utils \
      binutils openssl e2fsprogs cryptsetup-bin qemu-system-arm qemu-efi-aarch64
    ;;
  --cluster)
    install_packages 'a cluster is tried' rabbitmq-server postgresql
    # Debian starts a node and a database at once; the tests start their own.
    systemctl disable --now rabbitmq-server postgresql > /dev/null 2>&1 || true
    ;;
esac

[ "${1:-}" = --test ] || exit 0

# Debian's and Ubuntu's packages for the tests: a browser, an independent MQTT broker, the firewall's own check, what the box's
# scripts ask its page with, and a clock that is wrong for one process.
want=()
[ -x "${CHROMIUM:-/usr/bin/chromium}" ] || want+=(chromium)
command -v mosquitto >/dev/null || [ -x /usr/sbin/mosquitto ] || want+=(mosquitto)
[ -x /usr/sbin/nft ] || want+=(nftables)
command -v wget >/dev/null || want+=(wget)
compgen -G '/usr/lib/*/faketime/libfaketimeMT.so.1' >/dev/null || want+=(faketime)
if [ ${#want[@]} -gt 0 ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
  echo "setup: apt-get install ${want[*]} (once)" >&2
  run_apt update
  run_apt install -y --no-install-recommends "${want[@]}"
elif [ ${#want[@]} -gt 0 ]; then
  echo "setup: not root, so the tests use the packaged browser and broker, and leave out the firewall's check, the box's scripts and wrong clocks; for the real ones: apt-get install ${want[*]}" >&2
fi
