#pragma once

#include <memory>
#include <vector>

#include "cache/kept_store.h"

namespace fusescope {

/// Stores in a chain, the nearest first. An entry that a farther store has is kept by the nearer ones when it is found;
/// a new entry is kept by all. Thread-safe.
class StoreLevels final : public KeptStore {
 public:
  explicit StoreLevels(std::vector<std::shared_ptr<KeptStore>> nearestFirst) : m_levels(std::move(nearestFirst)) {}

  std::optional<Kept> find(std::string_view kind, std::string_view key) override;
  /// Returns true if one of the stores kept it.
  bool keep(const KeptFacts& facts, std::string_view key, std::string_view bytes) override;
  /// Returns whether one of the stores does.
  bool keepsNew() const override;
  /// Returns that of the nearest store.
  double msToLoad(std::string_view kind, std::uint64_t bytes) override;
  /// Returns the problems of all stores.
  std::string problem() const override;
  std::vector<DamagedEntry> takeDamaged() override;

 private:
  const std::vector<std::shared_ptr<KeptStore>> m_levels;
};

}  // namespace fusescope
