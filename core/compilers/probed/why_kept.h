#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cache/disk_store.h"
#include "compilers/probed/probed_compiler.h"

namespace fusescope {

/// A field in which two keys differ. A value is null if a key does not have the field.
struct KeyDifference {
  std::string field;  ///< "request.options.sm", "network.network.onnx"
  Json here, nearest;
  bool operator==(const KeyDifference&) const = default;
};
/// Returns the fields in which two keys differ, in their order. Objects are compared field by field, everything else as
/// a whole.
std::vector<KeyDifference> keyDifferences(const Json& here, const Json& nearest);

/// A question to a compiler, and whether its answer is kept.
struct WhyKept {
  std::string what;  ///< "support", or the name of the segment that is compiled
  std::string op;
  Json key;
  std::optional<StoreEntry> found;
  std::optional<StoreEntry> nearest;   ///< if no answer was found: the kept answer whose key differs in the fewest
                                       ///< fields
  std::vector<KeyDifference> differs;  ///< the differences from `nearest`
};

struct WhyAllKept {
  std::string whyNot;  ///< why no answer of this compiler is kept, as a sentence; empty: answers are kept
  std::vector<WhyKept> questions;
};

/// Returns the questions that `compiler` would be asked for `plan` if only its kernels are wanted, and whether the
/// answers are in `store`. Nothing is compiled; the compiler is opened only if its environment is unknown. If its
/// answer about support is not kept, the segments are those of `plan`. Errors: those of asking where it is, and of
/// writing the network; cancelled.
Result<WhyAllKept> whyKept(const ProbedCompiler& compiler, std::shared_ptr<const Plan> plan, DiskStore& store,
                           const BuildOptions& options);

}  // namespace fusescope
