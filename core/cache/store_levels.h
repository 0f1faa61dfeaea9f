#pragma once

#include <memory>
#include <vector>

#include "cache/kept_store.h"

namespace fusescope {

/// Stores that stand before each other, the nearest first. What a farther one has is kept by the nearer ones when it is
/// found; what is kept goes to all. Thread-safe.
class StoreLevels final : public KeptStore {
 public:
  explicit StoreLevels(std::vector<std::shared_ptr<KeptStore>> nearestFirst) : m_levels(std::move(nearestFirst)) {}

  std::optional<Kept> find(std::string_view kind, std::string_view key) override;
  /// True: one of them kept it.
  bool keep(const KeptFacts& facts, std::string_view key, std::string_view bytes) override;
  /// Of all of them.
  std::string problem() const override;
  std::vector<DamagedEntry> takeDamaged() override;

 private:
  const std::vector<std::shared_ptr<KeptStore>> m_levels;
};

}  // namespace fusescope
