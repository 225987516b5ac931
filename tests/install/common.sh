# Functions for the scripts in this folder, which source this file.

say() { printf '%s\n' "$*" >&2; }

has() { command -v "$1" >/dev/null 2>&1; }

# Runs a command as root, if possible without a password.
as_root() {
    if [[ $(id -u) == 0 ]]; then
        "$@"
    elif has sudo && sudo -n true 2>/dev/null; then
        sudo -n --preserve-env=DEBIAN_FRONTEND "$@"
    else
        say "error: this command requires root: $*"
        return 2
    fi
}

# Whether the lists of packages were fetched within the last hour.
knows_packages() {
    local lists=/var/lib/apt/lists
    [[ -n $(find "$lists" -maxdepth 0 -mmin -60 2>/dev/null) && -n $(find "$lists" -maxdepth 1 -name '*Packages*' -print -quit 2>/dev/null) ]]
}

# Installs Debian packages that are missing.
apt_install() {
    local missing=() package
    for package in "$@"; do
        dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
    done
    ((${#missing[@]})) || return 0
    if ! has apt-get; then
        say "error: please install: ${missing[*]}"
        return 2
    fi
    say "installing ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    local install=(apt-get install -q -y --no-install-recommends "${missing[@]}")
    if knows_packages && as_root "${install[@]}" </dev/null >&2; then return; fi
    as_root apt-get update -q </dev/null >&2
    as_root "${install[@]}" </dev/null >&2
}
