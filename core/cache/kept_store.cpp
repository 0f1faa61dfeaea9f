#include "cache/kept_store.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/version.h"

namespace fusescope {
namespace {

constexpr std::array<std::pair<CacheMode, std::string_view>, 3> kModes{
    {{CacheMode::Off, "off"}, {CacheMode::Read, "read"}, {CacheMode::Write, "write"}}};

}  // namespace

std::string_view name(CacheMode mode) {
  return std::ranges::find(kModes, mode, &decltype(kModes)::value_type::first)->second;
}

std::optional<CacheMode> cacheModeFromName(std::string_view text) {
  const auto found = std::ranges::find(kModes, text, &decltype(kModes)::value_type::second);
  return found == kModes.end() ? std::nullopt : std::optional(found->first);
}

std::optional<std::string> KeptStore::get(std::string_view key) {
  auto kept = find(kCodeKind, key);
  return kept ? std::optional(std::move(kept->bytes)) : std::nullopt;
}

void KeptStore::put(std::string_view key, std::string_view bytes, double madeMs) {
  keep({.kind = std::string(kCodeKind),
        .about = "compiled code",
        .madeBy = std::string(kFusescopeVersion),
        .madeMs = madeMs},
       key, bytes);
}

}  // namespace fusescope
