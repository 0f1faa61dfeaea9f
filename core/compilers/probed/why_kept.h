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
  /// The commands that ask this question: "build", if it finds an answer that `plan` would not; empty: all of them.
  std::string by{};
  Json key{};
  std::optional<StoreEntry> found{};
  std::string where{};                   ///< the level at which it was found (Kept::where)
  std::optional<StoreEntry> nearest{};   ///< if no answer was found: the kept answer of this compiler whose key differs
                                         ///< in the fewest fields, and of these, the one whose network is the same
                                         ///< or differs in the fewest parts
  std::vector<KeyDifference> differs{};  ///< the differences from `nearest`
  /// The parts in which the network differs from that of `nearest` (network_digests.h); empty if it is the same, or if
  /// this is not known.
  std::vector<std::string> parts{};
  /// Of the compiled network that a process which is to run it would load (kept_compiled.h); nothing: it is not kept.
  std::optional<StoreEntry> compiled{};
  std::string givenUp{};  ///< why the store does not keep it any longer; empty: it does
};
/// Returns the place at which an answer was found, for people: "on disk", "in the shared folder", "in Redis".
std::string placeInWords(const std::string& where);
/// Returns what differs from the nearest answer apart from the network, if it is known in which parts the network
/// differs; otherwise everything that differs.
std::vector<KeyDifference> differencesBesideParts(const WhyKept& why);

struct WhyAllKept {
  std::string whyNot;  ///< why no answer of this compiler is kept, as a sentence; empty: answers are kept
  std::string shared;  ///< why the shared place was not asked, as a sentence; empty: it was, or there is none
  std::vector<WhyKept> questions;
};

/// The stores in which answers are looked for.
struct KeptPlaces {
  DiskStore& disk;
  KeptStore* shared = nullptr;  ///< a place that a team shares, opened for reading; null: there is none
};

/// Returns the questions that `compiler` would be asked for `plan` if only its kernels are wanted, and whether the
/// answers are kept. Nothing is compiled; the compiler is opened only if its environment is unknown. If its answer
/// about support is not kept, the segments are those of `plan`. A segment has a second question if the answer that
/// `build` needs is kept, and not the one that `plan` needs, which also compares inner values. Errors: those of asking
/// where the compiler is, and of writing the network; cancelled.
Result<WhyAllKept> whyKept(const ProbedCompiler& compiler, std::shared_ptr<const Plan> plan, const KeptPlaces& places,
                           const BuildOptions& options);

}  // namespace fusescope
