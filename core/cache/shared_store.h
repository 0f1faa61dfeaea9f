#pragma once

#include <chrono>
#include <filesystem>
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
  /// For tests: the clock that decides how long a place is not used after a failure.
  std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
  /// The file in which processes of this machine tell each other that the place is not to be asked (shared_rest.h);
  /// empty: each finds out itself.
  std::filesystem::path restFile{};
};

/// Returns whether entries of this kind are valid on every machine that has the same key. Others, such as where a
/// compiler is, are valid on one machine only.
bool isValidElsewhere(std::string_view kind);

/// The store of a team in a place that is not trusted: an entry is accepted only if it is signed with the team's key,
/// for the key that was asked for. A place that fails or takes too long is not used for 30 seconds, and after each
/// further failure for twice as long, up to 10 minutes, by all processes that know the same `restFile`, unless the
/// settings are wrong, which concerns this process alone; a place that
/// only refuses to accept entries is still asked for them. Entries that are valid on one machine only, such as where a
/// compiler is, are not shared. Thread-safe.
class SharedStore final : public KeptStore {
 public:
  /// Creates the store. An empty `key` means that the team has none; that is only safe for a place that nobody else can
  /// write.
  SharedStore(std::unique_ptr<SharedPlace> place, SigningKey key, SharedStoreOptions options = {})
      : m_options(std::move(options)), m_key(std::move(key)), m_place(std::move(place)) {}

  /// Opens the place that a user named: a folder or the address of a Redis (redis_place.h). `keyFile` is empty if there
  /// is none; then a folder is only used if nobody else can write it. If the place cannot be used, problem() says why.
  static std::shared_ptr<SharedStore> open(const std::string& place, const std::string& keyFile,
                                           SharedStoreOptions options);

  /// Returns the place as the user named it; empty if it was not opened by name.
  const std::string& named() const { return m_named; }
  /// Asks the place for an entry that does not exist, so that problem() then says whether it answers.
  void ping() { find(kCodeKind, {}); }

  /// SharedPlace::contents() and SharedPlace::collect(), for which people wait: up to half a minute, and up to ten.
  /// Errors: also that the place cannot be used.
  Result<PlaceContents> contents();
  Result<PlaceCollected> collect(std::int64_t mostBytes);

  std::optional<Kept> find(std::string_view kind, std::string_view key) override;
  bool keep(const KeptFacts& facts, std::string_view key, std::string_view bytes) override;
  bool keepsNew() const override { return m_options.mode == CacheMode::Write; }
  std::string problem() const override;
  std::vector<DamagedEntry> takeDamaged() override;

 private:
  using Time = std::chrono::steady_clock::time_point;
  /// The time until which something is not done, and the reason.
  struct Alone {
    Time until{};
    std::chrono::seconds next{0};  ///< how long it is not done if it fails again
    std::string why;
  };
  bool isUsed(std::string_view kind) const;
  void leaveAlone(Alone& alone, std::string why) const;
  void rest(std::string why);
  void readRest();
  void answered();

  const SharedStoreOptions m_options;
  const SigningKey m_key;
  const std::unique_ptr<SharedPlace> m_place;  ///< null if it cannot be used
  std::string m_problem;                       ///< why it cannot be used
  std::string m_named;
  mutable std::mutex m_mutex;
  Alone m_all, m_writing;
  std::vector<DamagedEntry> m_damaged;
};

}  // namespace fusescope
