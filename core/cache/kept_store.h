#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cache/artifact_store.h"

namespace fusescope {

/// What is said of something when it is kept.
struct KeptFacts {
  std::string kind;    ///< what sort of thing it is: "answer", "environment", "code"; keys are of one kind
  std::string about;   ///< for people: "tensorrt-rtx 1.7.1 compiles bert.onnx"
  std::string madeBy;  ///< the version of Fusescope that kept it
  double madeMs = 0;   ///< what making it took, in milliseconds: what a hit saves
};

/// Something that was kept.
struct Kept {
  std::string bytes;
  KeptFacts facts;
  std::int64_t madeAt = 0;  ///< seconds since 1970, UTC, by the clock of the machine that kept it
  std::string where;        ///< which level had it: "disk"
};

/// A store for results that are kept between builds and processes. It knows only bytes and keys, and compares keys in
/// full. Stores can be chained: if one does not have an entry, it asks the next one and keeps the result. Thread-safe.
/// A lost entry costs time but never changes a result: an entry that cannot be kept is dropped, and one that fails its
/// check is not returned.
class KeptStore : public ArtifactStore {
 public:
  virtual std::optional<Kept> find(std::string_view kind, std::string_view key) = 0;
  /// Replaces what stands under the key. False: it was not kept.
  virtual bool keep(const KeptFacts& facts, std::string_view key, std::string_view bytes) = 0;
};

}  // namespace fusescope
