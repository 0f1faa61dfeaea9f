#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>

#include "base/hash.h"
#include "base/mapped_file.h"
#include "cache/kept_store.h"
#include "ir/odd_elements.h"

namespace fusescope {

/// What reading a constant once has shown.
struct ConstantFacts {
  OddElements odd;
  Hash128 hash;  ///< of its bytes
};

/// What was found in the long constants of a file the last time that it was read, in this or in an earlier process, so
/// that a file that did not change since is not read again for that. The file counts as unchanged if it has the same
/// device, inode, size and times; nobody can set the time of the last change of an inode.
class KnownConstants {
 public:
  /// The kind of entries of the store. They hold on this machine alone.
  static constexpr const char* kKind = "constants";

  /// Looks `file` up. `store` may be null; then nothing is known and nothing is kept.
  KnownConstants(KeptStore* store, const MappedFile& file);
  /// Returns the facts of the constant of this type whose bytes are `part` of the file.
  std::optional<ConstantFacts> find(DataType type, std::span<const std::byte> part) const;
  /// Returns whether facts are worth finding out: keep() would keep them.
  bool areKept() const { return m_isKept; }
  void add(DataType type, std::span<const std::byte> part, const ConstantFacts& facts);
  /// Keeps the facts that were added, if there are any and the file did not change meanwhile. Finding them out took
  /// `ms` milliseconds.
  void keep(double ms);

 private:
  using Place = std::tuple<std::size_t, std::size_t, DataType>;  ///< offset and bytes in the file
  Place placeOf(DataType type, std::span<const std::byte> part) const;
  void read(const std::string& bytes);

  KeptStore* m_store;
  const MappedFile& m_file;
  std::string m_key;
  bool m_isKept = false, m_isNew = false;
  std::map<Place, ConstantFacts> m_facts;
};

}  // namespace fusescope
