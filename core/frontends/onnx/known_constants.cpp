#include "frontends/onnx/known_constants.h"

#include <fmt/format.h>

#include <sstream>

#include "base/version.h"

namespace fusescope {
namespace {

constexpr const char* kFormat = "fusescope.constants.1";
/// Bytes from which a file is looked up. Less is read as fast as an entry of the store is found.
constexpr std::int64_t kLeastFile = std::int64_t{16} << 20;

std::string keyOf(const FileIdentity& file) {
  return fmt::format("{} {} {} {} {} {} {}", kFormat, file.device, file.inode, file.bytes, file.modifiedNs,
                     file.changedNs, file.path);
}

}  // namespace

KnownConstants::KnownConstants(KeptStore* store, const MappedFile& file) : m_store(store), m_file(file) {
  if (store == nullptr || file.identity().bytes < kLeastFile || !isSettled(file.identity())) return;
  m_key = keyOf(file.identity());
  if (const auto kept = store->find(kKind, m_key)) read(kept->bytes);
  m_isKept = store->keepsNew();
}

KnownConstants::Place KnownConstants::placeOf(DataType type, std::span<const std::byte> part) const {
  return {static_cast<std::size_t>(part.data() - m_file.bytes().data()), part.size(), type};
}

std::optional<ConstantFacts> KnownConstants::find(DataType type, std::span<const std::byte> part) const {
  const auto found = m_facts.find(placeOf(type, part));
  return found == m_facts.end() ? std::nullopt : std::optional(found->second);
}

void KnownConstants::add(DataType type, std::span<const std::byte> part, const ConstantFacts& facts) {
  if (!m_isKept) return;
  m_facts.insert_or_assign(placeOf(type, part), facts);
  m_isNew = true;
}

/// Reads the lines of an entry. The store has compared them with their hash.
void KnownConstants::read(const std::string& bytes) {
  std::istringstream lines(bytes);
  std::size_t offset = 0, size = 0;
  std::string type;
  ConstantFacts facts;
  while (lines >> offset >> size >> type >> facts.odd.notNumbers >> facts.odd.infinite >> facts.odd.denormal >>
         facts.hash.high >> facts.hash.low)
    if (const auto known = dataTypeFromName(type)) m_facts.insert_or_assign(Place(offset, size, *known), facts);
}

void KnownConstants::keep(double ms) {
  if (!m_isNew || !checkUnchanged(std::span(&m_file.identity(), 1)).ok() || !m_file.checkIntact().ok()) return;
  std::string lines;
  for (const auto& [place, facts] : m_facts)
    lines += fmt::format("{} {} {} {} {} {} {} {}\n", std::get<0>(place), std::get<1>(place), name(std::get<2>(place)),
                         facts.odd.notNumbers, facts.odd.infinite, facts.odd.denormal, facts.hash.high, facts.hash.low);
  m_store->keep({.kind = kKind,
                 .about = fmt::format("the constants of {}", m_file.identity().path),
                 .madeBy = std::string(kFusescopeVersion),
                 .madeMs = ms},
                m_key, lines);
}

}  // namespace fusescope
