#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/artifact_store.h"

namespace fusescope {

/// Whether what was kept is used, and what is made is kept.
enum class CacheMode { Off, Read, Write };
std::string_view name(CacheMode mode);  ///< "off", "read", "write"
std::optional<CacheMode> cacheModeFromName(std::string_view text);

/// Seconds since 1970, UTC, as Kept::madeAt counts them.
std::int64_t secondsNow();

/// The kind of compiled code.
inline constexpr std::string_view kCodeKind = "code";

/// What is said of something when it is kept.
struct KeptFacts {
  std::string kind;    ///< what sort of thing it is: "answer", "environment", "code"; keys are of one kind
  std::string about;   ///< for people: "tensorrt-rtx 1.7.1 compiles bert.onnx"
  std::string madeBy;  ///< the version of Fusescope that kept it
  double madeMs = 0;   ///< what making it took, in milliseconds: what a hit saves
  /// Seconds since 1970, UTC, where another level had kept it before; 0: it is kept for the first time, now.
  std::int64_t madeAt = 0;
};

/// Something that was kept.
struct Kept {
  std::string bytes;
  KeptFacts facts;
  std::int64_t madeAt = 0;  ///< seconds since 1970, UTC, by the clock of the machine that kept it
  std::string where;        ///< which level had it: "disk", "shared folder", "redis"
};

/// Something that was kept and failed its check. It is not given, and is to be made again.
struct DamagedEntry {
  std::string about;  ///< of what was kept: KeptFacts::about
  std::string why;    ///< what is wrong with it, and with which file
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
  /// Why it is not used, or what was done so that it can be, as a sentence; empty: nothing is to be said.
  virtual std::string problem() const = 0;
  /// What failed its check since this was asked last.
  virtual std::vector<DamagedEntry> takeDamaged() = 0;

  /// Compiled code, under a kind of its own.
  std::optional<std::string> get(std::string_view key) override;
  void put(std::string_view key, std::string_view bytes) override;
};

}  // namespace fusescope
