#include "planning/read_back/agreement.h"

#include <fmt/format.h>

#include "base/text.h"

namespace fusescope {
namespace {

std::optional<double> share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? std::nullopt : std::optional(static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace

std::optional<double> Agreement::precision() const {
  return share(both, predicted);
}

std::optional<double> Agreement::recall() const {
  return share(both, made);
}

std::optional<double> Agreement::f1() const {
  return made == 0 ? std::nullopt : share(2 * both, predicted + made);
}

std::optional<double> Agreement::typesShare() const {
  return share(storedAlike, stored);
}

std::string sharedKernelsText(const Agreement& agreement) {
  if (agreement.predicted + agreement.made == 0) return {};
  if (agreement.made == 0)
    return fmt::format("of {}, none is inside a kernel that it made; we predicted {}", counted(agreement.edges, "edge"),
                       agreement.predicted);
  if (agreement.predicted == 0)
    return fmt::format("of {} edges {} are inside a kernel, and we predicted none of them: recall 0.00",
                       agreement.edges, agreement.made);
  return fmt::format(
      "of {} edges {} are inside a kernel; we predicted {}, and {} of them are right: precision {:.2f}, recall {:.2f}, "
      "F1 {:.2f}",
      agreement.edges, agreement.made, agreement.predicted, agreement.both, *agreement.precision(), *agreement.recall(),
      *agreement.f1());
}

std::string storedTypesText(const Agreement& agreement) {
  if (agreement.stored + agreement.storedNotDisclosed == 0) return {};
  std::string text =
      fmt::format("of {} that both keep in memory ", counted(agreement.stored + agreement.storedNotDisclosed, "edge"));
  if (agreement.stored == 0) return text + "the compiler reports no types";
  text += fmt::format("{} {} the type that we predicted ({:.2f})", agreement.storedAlike,
                      agreement.storedAlike == 1 ? "has" : "have", *agreement.typesShare());
  if (!agreement.otherTypes.empty()) text += "; " + otherTypesText(agreement);
  if (agreement.storedNotDisclosed > 0)
    text += fmt::format("; of {} the type is not disclosed", agreement.storedNotDisclosed);
  return text;
}

std::string otherTypesText(const Agreement& agreement) {
  std::vector<std::string> pairs;
  for (const OtherStoredType& other : agreement.otherTypes)
    pairs.push_back(fmt::format("predicted {}, in fact {}: {}", name(other.predicted), name(other.made), other.edges));
  return joined(pairs, "; ");
}

}  // namespace fusescope
