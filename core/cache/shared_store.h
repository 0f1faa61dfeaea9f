#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "cache/kept_store.h"
#include "cache/shared_blob.h"
#include "cache/shared_place.h"

namespace fusescope {

struct SharedStoreOptions {
  CacheMode mode = CacheMode::Write;
  /// For tests: the clock by which a place is left alone.
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
};

/// What a team keeps together, in a place that is not trusted: what it gives is taken only where it is signed with the
/// team's key, as the key it was asked for. A place that fails, or takes too long, is left alone for 30 seconds, and
/// for twice as long each time that it does so again, up to 10 minutes; one that only refuses to take things is still
/// asked. What holds only on one machine, such as where a compiler is, is not shared. Thread-safe.
class SharedStore final : public KeptStore {
 public:
  /// Without a key of the team, `key` is empty: whoever makes the store says so only of a place that nobody else can
  /// write.
  SharedStore(std::unique_ptr<SharedPlace> place, SigningKey key, SharedStoreOptions options = {})
      : m_options(std::move(options)), m_key(std::move(key)), m_place(std::move(place)) {}

  /// As a user names it: a folder, or an address of a Redis (redis_place.h). `keyFile` is empty where there is none:
  /// then only a folder is used that nobody else can write. What cannot be used is said by problem().
  static std::shared_ptr<SharedStore> open(const std::string& place, const std::string& keyFile, CacheMode mode);

  /// As the user named it, where it was opened so.
  const std::string& named() const { return m_named; }
  /// Asks the place for something that it does not have, so that problem() says whether it answers.
  void knock() { find(kCodeKind, {}); }

  std::optional<Kept> find(std::string_view kind, std::string_view key) override;
  bool keep(const KeptFacts& facts, std::string_view key, std::string_view bytes) override;
  std::string problem() const override;
  std::vector<DamagedEntry> takeDamaged() override;

 private:
  using Time = std::chrono::steady_clock::time_point;
  /// Until when something is not done, and why.
  struct Alone {
    Time until{};
    std::chrono::seconds next{0};  ///< how long it is left alone where it fails again
    std::string why;
  };
  bool isUsed(std::string_view kind) const;
  void leaveAlone(Alone& alone, std::string why) const;

  const SharedStoreOptions m_options;
  const SigningKey m_key;
  const std::unique_ptr<SharedPlace> m_place;  ///< null: it cannot be used
  std::string m_problem;                       ///< why it cannot be
  std::string m_named;
  mutable std::mutex m_mutex;
  Alone m_all, m_writing;
  std::vector<DamagedEntry> m_damaged;
};

}  // namespace fusescope
