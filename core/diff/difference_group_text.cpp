#include <fmt/format.h>

#include <algorithm>

#include "base/json.h"
#include "base/quantities.h"
#include "base/text.h"
#include "diff/difference_groups.h"

namespace fusescope {

namespace {

Json groupTimeJson(const std::optional<DiffTime>& time) {
  if (!time) return nullptr;
  return {{"ms", time->ms}, {"how", name(time->how)}};
}

Json groupNumber(const std::optional<double>& number) {
  return number ? jsonNumber(*number) : Json(nullptr);
}

Json groupKernels(const std::vector<CoveringNode>& kernels) {
  Json all = Json::array();
  for (const CoveringNode& kernel : kernels)
    all.push_back({{"name", kernel.place.text()}, {"identity", kernel.identity.hex()}});
  return all;
}

Json toJson(const DifferenceSite& site) {
  return {{"name", site.name},
          {"nodes", site.nodes},
          {"a", groupKernels(site.a)},
          {"b", groupKernels(site.b)},
          {"block", site.block.empty() ? Json(nullptr) : Json(site.block)},
          {"a_time", groupTimeJson(site.ofA)},
          {"b_time", groupTimeJson(site.ofB)}};
}

Json toJson(const DifferenceGroup& group) {
  Json sites = Json::array();
  for (const DifferenceSite& site : group.sites) sites.push_back(toJson(site));
  return {{"topic", name(group.topic)},
          {"sign", std::string(1, group.sign)},
          {"what", group.what},
          {"because", group.because},
          {"block", group.block.empty() ? Json(nullptr) : Json(group.block)},
          {"copies", group.copies},
          {"of_copies", group.of},
          {"delta_ms", groupNumber(group.deltaMs())},
          {"a_time", groupTimeJson(group.ofA)},
          {"b_time", groupTimeJson(group.ofB)},
          {"a_max_over_rms", groupNumber(group.errorOfA)},
          {"b_max_over_rms", groupNumber(group.errorOfB)},
          {"sites", std::move(sites)}};
}

}  // namespace

std::string placeText(const DifferenceGroup& group) {
  if (group.copies > 1 && group.copies == group.of) return fmt::format("{}, the same in ×{}", group.block, group.of);
  if (group.of > 1 && group.copies == 1) return fmt::format("{} alone", group.sites.front().block);
  if (group.of > 1) return fmt::format("{}, in {} of {}", group.block, group.copies, group.of);
  return group.block;
}

Json toJson(const std::vector<DifferenceGroup>& groups) {
  Json all = Json::array();
  for (const DifferenceGroup& group : groups) all.push_back(toJson(group));
  return all;
}

std::string printGroups(const std::vector<DifferenceGroup>& groups, std::size_t most) {
  if (groups.empty()) return {};
  std::string text = "\n@@ by block, those that differ most in time first @@\n";
  const std::size_t shown = most == 0 ? groups.size() : std::min(most, groups.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const DifferenceGroup& group = groups[i];
    text += fmt::format("{} {}", group.sign, group.what);
    if (group.sites.size() > 1) text += fmt::format(" ({})", group.sites.size());
    if (const std::string place = placeText(group); !place.empty()) text += ", " + place;
    if (group.sites.size() == 1) text += ": " + group.sites.front().name;
    if (!group.because.empty()) text += ", because of " + joined(group.because, " and ");
    if (group.deltaMs() && *group.deltaMs() != 0)
      text +=
          fmt::format("; {} ({} → {})", inTimeDifference(*group.deltaMs()), name(group.ofA->how), name(group.ofB->how));
    if (group.errorOfA) text += fmt::format("; error {:.3g} → {:.3g}", *group.errorOfA, *group.errorOfB);
    text += "\n";
  }
  if (shown < groups.size()) text += fmt::format("… and {} more\n", groups.size() - shown);
  return text;
}

}  // namespace fusescope
