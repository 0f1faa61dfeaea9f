#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/artifact_store.h"

namespace fusescope {

/// Whether kept results are used (Read), and new results are also kept (Write).
enum class CacheMode { Off, Read, Write };
std::string_view name(CacheMode mode);  ///< "off", "read", "write"
std::optional<CacheMode> cacheModeFromName(std::string_view text);

/// The kind of entries that contain compiled code.
inline constexpr std::string_view kCodeKind = "code";

/// The facts that are stored with an entry.
struct KeptFacts {
  std::string kind;    ///< the kind of the entry, "answer", "compiled", "environment" or "code"; keys are compared within a kind
  std::string about;   ///< for people: "tensorrt-rtx 1.7.1 compiles bert.onnx"
  std::string madeBy;  ///< the version of Fusescope that kept it
  double madeMs = 0;   ///< how long it took to make, in milliseconds: the time that a hit saves
  /// When another level first kept it, in seconds since 1970, UTC; 0: it is kept for the first time now.
  std::int64_t madeAt = 0;
};

/// An entry that was found.
struct Kept {
  std::string bytes;
  KeptFacts facts;
  std::int64_t madeAt = 0;  ///< seconds since 1970, UTC, by the clock of the machine that kept it
  std::string where;        ///< the level that had it: "disk", "shared folder", "redis"
};

/// An entry that failed its check. It is not returned and must be made again.
struct DamagedEntry {
  std::string about;  ///< KeptFacts::about of the entry
  std::string why;    ///< what is wrong with it, and with which file
};

/// A store for results that are kept between builds and processes. It knows only bytes and keys, and compares keys in
/// full. Stores can be chained: if one does not have an entry, it asks the next one and keeps the result. Thread-safe.
/// A lost entry costs time but never changes a result: an entry that cannot be kept is dropped, and one that fails its
/// check is not returned.
class KeptStore : public ArtifactStore {
 public:
  virtual std::optional<Kept> find(std::string_view kind, std::string_view key) = 0;
  /// Replaces the entry of this key. Returns false if it was not kept.
  virtual bool keep(const KeptFacts& facts, std::string_view key, std::string_view bytes) = 0;
  /// Returns how many milliseconds loading an entry of this many unpacked bytes takes on this machine, as far as loads
  /// of this kind were measured: rather too few, and 0 if none was.
  virtual double msToLoad(std::string_view /*kind*/, std::uint64_t /*bytes*/) { return 0; }
  /// Returns whether new entries are kept at all. Who makes bytes only for the store asks first.
  virtual bool keepsNew() const { return true; }
  /// Returns, as a sentence, why the store is not used, or what was repaired so that it can be used; empty if there is
  /// nothing to say.
  virtual std::string problem() const = 0;
  /// Returns the entries that failed their check since the last call.
  virtual std::vector<DamagedEntry> takeDamaged() = 0;

  /// Implements ArtifactStore: compiled code is an entry of kind kCodeKind.
  std::optional<std::string> get(std::string_view key) override;
  void put(std::string_view key, std::string_view bytes, double madeMs) override;
};

}  // namespace fusescope
