#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/zip_archive.h"
#include "frontends/torch/storage.h"

namespace fusescope::torch {

/// The members of a zip archive that lies in memory: a .pt2, or a file of torch.save() within one. Immutable.
class ZipMembers {
 public:
  /// The archive's bytes live as long as `archive.owner`. `within`: what errors call the archive, empty for the file
  /// itself. Errors: it is no archive, it has a name twice.
  static Result<ZipMembers> of(Storage archive, std::string within);

  const std::vector<std::string>& names() const { return m_names; }  ///< in the archive's order
  bool has(const std::string& name) const { return m_indexOf.contains(name); }
  /// How errors call a member: "data/weights/model.pt, archive/data.pkl".
  std::string place(std::string_view name) const;
  /// The content of a small member, JSON or a pickle; its check sum is compared. Errors are located at the member: it
  /// is not there, it is damaged, it has more than `most` bytes.
  Result<std::string> text(const std::string& name, std::uint64_t most) const;
  /// The bytes of a member: where the archive has them, or unpacked where it is compressed. Errors as text().
  Result<Storage> storage(const std::string& name) const;
  /// The part of the names before the first '/' that all members have in common; empty: they have none.
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
