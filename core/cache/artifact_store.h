#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace fusescope {

/// Keeps compiled code between builds and processes. It knows only bytes and keys, and compares keys in full.
/// Thread-safe. A lost entry costs time but never changes a result.
class ArtifactStore {
 public:
  virtual ~ArtifactStore() = default;
  virtual std::optional<std::string> get(std::string_view key) = 0;
  /// `madeMs` is how long making the code took, in milliseconds.
  virtual void put(std::string_view key, std::string_view bytes, double madeMs) = 0;
};

/// Returns the store that keeps nothing.
const std::shared_ptr<ArtifactStore>& noArtifacts();

}  // namespace fusescope
