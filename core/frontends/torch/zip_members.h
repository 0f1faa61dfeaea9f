#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/zip_archive.h"
#include "frontends/torch/storage.h"

namespace fusescope::torch {

/// The members of a zip archive in memory: a .pt2, or a torch.save() file in one. Immutable.
class ZipMembers {
 public:
  /// The archive's bytes exist as long as `archive.owner`. `within` is the archive's name in errors, and empty for the
  /// file itself. It is an error if it is not an archive, or if a name occurs twice.
  static Result<ZipMembers> of(Storage archive, std::string within);

  const std::vector<std::string>& names() const { return m_names; }  ///< in the archive's order
  bool has(const std::string& name) const { return m_indexOf.contains(name); }
  /// Returns the name of a member in errors: "data/weights/model.pt, archive/data.pkl".
  std::string place(std::string_view name) const;
  /// Returns the contents of a small member, JSON or a pickle, after comparing its checksum. Errors are located at the
  /// member: it does not exist, is damaged, or has more than `most` bytes.
  Result<std::string> text(const std::string& name, std::uint64_t most) const;
  /// Returns the bytes of a member: in the archive, or unpacked if the member is compressed. Errors are those of
  /// text().
  Result<Storage> storage(const std::string& name) const;
  /// Returns the part before the first '/' that the names of all members have in common; empty if there is none.
  std::string rootFolder() const;

 private:
  Result<std::size_t> indexOf(const std::string& name) const;
  Diagnostic located(Diagnostic error, std::string_view name) const;

  Storage m_archive;
  std::string m_within;
  std::shared_ptr<const ZipReader> m_reader;
  std::vector<std::string> m_names;
  std::map<std::string, std::size_t> m_indexOf;
};

}  // namespace fusescope::torch
