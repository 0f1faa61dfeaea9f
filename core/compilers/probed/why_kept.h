#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cache/disk_store.h"
#include "compilers/probed/probed_compiler.h"

namespace fusescope {

/// A field of two keys that differs. A value that a key does not have is null.
struct KeyDifference {
  std::string field;  ///< "request.options.sm", "network.network.onnx"
  Json here, nearest;
  bool operator==(const KeyDifference&) const = default;
};
/// The fields in which two keys differ, in their order: objects field by field, all else as a whole.
std::vector<KeyDifference> keyDifferences(const Json& here, const Json& nearest);

/// A question to a compiler, and whether its answer is kept.
struct WhyKept {
  std::string what;  ///< "support", or the segment that is compiled
  std::string op;
  Json key;
  std::optional<StoreEntry> found;
  std::optional<StoreEntry> nearest;   ///< where it was not found: the kept answer whose key differs in least fields
  std::vector<KeyDifference> differs;  ///< from that
};

struct WhyAllKept {
  std::string whyNot;  ///< why nothing of this compiler is kept, as a sentence; empty: it is
  std::vector<WhyKept> questions;
};

/// What `compiler` would be asked for `plan` where only what it makes is wanted, and whether the answers are in
/// `store`. Nothing is compiled; the compiler is opened where nobody knows what is in its environment. Where its answer
/// to what it supports is not kept, the segments are those of `plan` as it is. Errors: those of asking where it is, and
/// of writing the network; cancelled.
Result<WhyAllKept> whyKept(const ProbedCompiler& compiler, std::shared_ptr<const Plan> plan, DiskStore& store,
                           const BuildOptions& options);

}  // namespace fusescope
