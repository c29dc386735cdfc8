# shellcheck shell=bash
# Root directories of a Debian release, made by debootstrap, and processes in them. This file is
# sourced, after tools/common.bash. Environment: MIRROR, the archive of Debian in place of apt's.

# Makes a root directory of a release with some packages, unless there is one with these. Its apt
# has the mirror and the settings of this machine. Prints the reason where that is impossible; the
# log is DIRECTORY.log. make_root DIRECTORY RELEASE PACKAGE[,PACKAGE...]
make_root() {
    local directory=$1 log=$1.log mirror
    [[ $(cat "$directory/complete" 2>/dev/null) != "$3" ]] || return 0
    ((EUID == 0)) || { printf 'only root makes a root directory\n'; return 1; }
    mirror=$(debian_mirror) || { printf 'apt has no archive of Debian; set MIRROR\n'; return 1; }
    mkdir -p "$(dirname "$directory")"
    rm -rf "$directory"
    printf '%s: making a root directory of Debian, %s, in %s\n' "${0##*/}" "$2" "$directory" >&2
    if ! debootstrap --variant=minbase "--include=$3" "$2" "$directory" "$mirror" >"$log" 2>&1; then
        printf 'debootstrap failed: %s\n' "$(tail -n 1 "$log")"
        return 1
    fi
    apt-config dump | sed -nE '/^Acquire::(https?|Check)\b/p' \
        >"$directory/etc/apt/apt.conf.d/90machine"
    printf '%s\n' "$3" >"$directory/complete"
}

# Runs a command in a root directory, with processes, mounts, /dev/shm and /tmp of its own, which
# end with it; the network is this machine's. The mounts are in a namespace of their own: to remove
# the directory meanwhile removes nothing of the machine. in_root DIRECTORY COMMAND...
in_root() {
    # shellcheck disable=SC2016  # expanded by the inner shell
    unshare --mount --pid --ipc --uts --fork --kill-child --propagation private bash -euc '
        root=$1
        shift
        mount --bind "$root" "$root"
        cd "$root"
        mount -t proc proc proc
        mount --rbind --make-rslave /sys sys
        mount --bind /dev dev
        mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts dev/pts
        mount -t tmpfs -o mode=1777 tmpfs dev/shm
        mount -t tmpfs -o mode=1777 tmpfs tmp
        cp -L /etc/resolv.conf etc/resolv.conf
        # the root of a chroot may make no user namespace, which the tests need
        pivot_root . mnt
        umount -l /mnt
        env -i HOME=/root LANG=C.UTF-8 TERM="${TERM-dumb}" \
            PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"' \
        bash "$@"
}

# Copies the files of this checkout, without those that are built, to a directory, whose build/ is
# kept: copy_checkout DIRECTORY
copy_checkout() {
    local to=$1 file
    [[ -e .git ]] || die "this is no git checkout"
    mkdir -p "$to"
    find "$to" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
    git clone -q --bare . "$to/.git"
    git -C "$to" config core.bare false
    git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
        [[ ! -e $file && ! -L $file ]] || printf '%s\0' "$file"
    done | tar -c --null -T - | tar -x -C "$to"
    git -C "$to" reset -q
}
