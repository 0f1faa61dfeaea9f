#include "frontends/torch/zip_members.h"

#include <fmt/format.h>

#include <algorithm>

namespace fusescope::torch {
namespace {

/// Returns the largest size to which one compressed member may be unpacked: weights hardly shrink, and a member of
/// zeros may claim any size.
std::uint64_t mostUnpacked(std::uint64_t archiveBytes) {
  return std::max(std::uint64_t{1} << 30, 32 * archiveBytes);
}

}  // namespace

Result<ZipMembers> ZipMembers::of(Storage archive, std::string within) {
  auto reader = ZipReader::of(archive.bytes);
  if (!reader.ok())
    return Diagnostic{.message = fmt::format("cannot be read as a zip archive ({})", reader.error().message),
                      .where = {.attribute = within}};
  ZipMembers members;
  members.m_archive = std::move(archive);
  members.m_within = std::move(within);
  members.m_reader = std::make_shared<const ZipReader>(std::move(reader).value());
  for (const ZipReader::Entry& entry : members.m_reader->entries()) {
    if (!members.m_indexOf.emplace(entry.name, members.m_names.size()).second)
      return members.located({.message = "is in the archive twice"}, entry.name);
    members.m_names.push_back(entry.name);
  }
  return members;
}

std::string ZipMembers::place(std::string_view name) const {
  return m_within.empty() ? std::string(name) : fmt::format("{}, {}", m_within, name);
}

Diagnostic ZipMembers::located(Diagnostic error, std::string_view name) const {
  error.where.attribute = place(name);
  return error;
}

Result<std::size_t> ZipMembers::indexOf(const std::string& name) const {
  const auto found = m_indexOf.find(name);
  if (found == m_indexOf.end()) return located({.message = "is not in the archive"}, name);
  return found->second;
}

Result<std::string> ZipMembers::text(const std::string& name, std::uint64_t most) const {
  const std::size_t index = TRY(indexOf(name));
  const auto bytes = m_reader->bytes(index, most);
  if (!bytes.ok()) return located(bytes.error(), name);
  return std::string(reinterpret_cast<const char*>(bytes.value().data()), bytes.value().size());
}

Result<Storage> ZipMembers::storage(const std::string& name) const {
  const std::size_t index = TRY(indexOf(name));
  if (const auto bytes = m_reader->inPlace(index)) return Storage{.owner = m_archive.owner, .bytes = *bytes};
  auto unpacked = m_reader->bytes(index, mostUnpacked(m_archive.bytes.size()));
  if (!unpacked.ok()) return located(unpacked.error(), name);
  const auto kept = std::make_shared<const std::vector<std::byte>>(std::move(unpacked).value());
  return Storage{.owner = kept, .bytes = *kept};
}

std::string ZipMembers::rootFolder() const {
  std::string root;
  for (const std::string& name : m_names) {
    const std::size_t end = name.find('/');
    if (end == std::string::npos) return {};
    if (!root.empty() && name.compare(0, end, root) != 0) return {};
    root = name.substr(0, end);
  }
  return root;
}

}  // namespace fusescope::torch
