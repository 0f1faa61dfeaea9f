#include "session/session_ranges.h"

#include "base/json.h"

#include <fmt/format.h>

#include <algorithm>

namespace fusescope {
namespace {

Json coarsely(const Ranges& ranges) {
  Ranges coarse = ranges;
  for (auto& [value, edge] : coarse.edges)
    if (edge.histogram) edge.histogram = edge.histogram->withAtMost(SessionRanges::kMostBins);
  return toJson(coarse, Histograms::Written);
}

}  // namespace

bool Calibrated::operator==(const Calibrated& other) const {
  if (ranges == other.ranges) return true;
  return ranges != nullptr && other.ranges != nullptr && ranges->contentHash() == other.ranges->contentHash();
}

Json SessionRanges::add(const std::shared_ptr<const Ranges>& ranges) {
  if (ranges == nullptr) return nullptr;
  const auto same = std::ranges::find_if(
      m_all, [&](const std::shared_ptr<const Ranges>& known) { return Calibrated{known} == Calibrated{ranges}; });
  const auto place = same - m_all.begin();
  if (same == m_all.end()) m_all.push_back(ranges);
  return place;
}

Json SessionRanges::toJson() const {
  Json list = Json::array();
  for (const auto& ranges : m_all) list.push_back(coarsely(*ranges));
  return list;
}

Result<SessionRanges> SessionRanges::fromJson(const Json& json) {
  if (!json.is_array()) return Diagnostic{.message = "must be a list"};
  SessionRanges table;
  for (const Json& entry : json) table.m_all.push_back(std::make_shared<const Ranges>(TRY(rangesFromJson(entry))));
  return table;
}

Result<std::shared_ptr<const Ranges>> SessionRanges::at(const Json& place) const {
  if (place.is_null()) return std::shared_ptr<const Ranges>();
  const std::int64_t index = place.is_number_integer() ? place.get<std::int64_t>() : -1;
  if (index < 0 || index >= std::ssize(m_all))
    return Diagnostic{.message = fmt::format("must be an index into the {} of the session's ranges", m_all.size())};
  return m_all[static_cast<std::size_t>(index)];
}

}  // namespace fusescope
