# Long fuzzing. Sourced by scripts/test and scripts/sanitize.
# Each target of tests/fuzz has a folder of its name in the corpus.
FUZZ_TARGETS=$(cd tests/fuzz/corpus && printf '%s ' *)
readonly FUZZ_TARGETS

# fuzz_everything SECONDS: the seeded mutator over 5,000 files, then each libFuzzer target for SECONDS. What is found is
# written to build-fuzz/findings; what the fuzzers learn is kept in the cache and starts the next run.
fuzz_everything() {
  local seconds=$1 target status=0 learned
  scripts/build release
  build/bin/mutation --count 5000 || status=1
  scripts/setup fuzz
  # shellcheck disable=SC2086 # a list of targets
  cmake --build --preset fuzz --target $(printf 'fuzz_%s ' $FUZZ_TARGETS)
  mkdir -p build-fuzz/findings
  for target in $FUZZ_TARGETS; do
    learned="$FUSESCOPE_CACHE/fuzz/$target"
    mkdir -p "$learned"
    echo "==> fuzzing $target for $seconds seconds"
    "build-fuzz/bin/fuzz_$target" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=3000 -max_len=65536 \
      -print_final_stats=1 -verbosity=0 -artifact_prefix="build-fuzz/findings/$target-" \
      "$learned" "tests/fuzz/corpus/$target" || status=1
  done
  return "$status"
}
