# What the system's package manager knows. Sourced by scripts/setup.

# missing_packages PACKAGE…: those that are not installed, a line each; of one that was never heard of dpkg-query says so by
# failing.
missing_packages() {
  local installed package
  installed=" $({ dpkg-query -W -f='${db:Status-Status}:${Package}\n' "$@" 2>/dev/null || true; } |
    sed -n 's/^installed://p' | tr '\n' ' ')"
  for package in "$@"; do
    [[ $installed == *" $package "* ]] || printf '%s\n' "$package"
  done
}
