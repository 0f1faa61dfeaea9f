#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace fusescope {

/// Keeps compiled code between builds and processes. Knows bytes and keys only; a key is compared whole. Thread-safe.
/// Losing something costs time, never a result.
class ArtifactStore {
 public:
  virtual ~ArtifactStore() = default;
  virtual std::optional<std::string> get(std::string_view key) = 0;
  virtual void put(std::string_view key, std::string_view bytes) = 0;
};

/// The one that keeps nothing.
const std::shared_ptr<ArtifactStore>& noArtifacts();

}  // namespace fusescope
