#include <limits>

#include "interchange/substitutions/substitution.h"

namespace fusescope {
namespace {

constexpr std::int64_t kBoundsAreOperands = 11;
constexpr std::int64_t kMaxBroadcasts = 8;

/// The constant that a Max or Min of two operands takes beside one that is none; the Relu of a chain takes 0.
struct ClipBound {
  std::string of;  ///< the other operand; empty: it is no such node
  double number = 0;
};

ClipBound boundOf(const FileMatcher& match, std::size_t place, std::string_view op) {
  if (op == "Max" && match.is(place, "Relu")) return {match.node(place).inputs[0], 0};
  if (!match.is(place, op) || match.node(place).inputs.size() != 2) return {};
  const auto &a = match.node(place).inputs[0], &b = match.node(place).inputs[1];
  if (const auto number = match.number(b)) return {a, *number};
  if (const auto number = match.number(a)) return {b, *number};
  return {};
}

/// x ─ Max low | Relu ─ Min high ─ y
Result<std::vector<ReplacedSite>> findBounded(const SiteSearch& search) {
  const FileMatcher& match = search.match;
  std::vector<ReplacedSite> sites;
  for (std::size_t last = 0; last < match.nodes(); ++last) {
    const ClipBound high = boundOf(match, last, "Min");
    const std::ptrdiff_t maker = high.of.empty() ? -1 : match.values().maker(high.of);
    if (maker < 0 || match.onlyReader(high.of) != last) continue;
    const auto first = static_cast<std::size_t>(maker);
    const ClipBound low = boundOf(match, first, "Max");
    const DataType type = match.type(match.result(last)).dtype;
    if (low.of.empty() || low.number > high.number || !isFloat(type)) continue;
    const std::string& y = match.result(last);
    if (!match.sameRank(low.of, y)) continue;  // a bound may add axes to a Max, and not to a Clip
    const std::string name = match.name(last);
    ReplacedSite site{.gone = {first, last}, .at = name};
    const std::string least = search.number(site, y + "_least", low.number, type);
    site.made.push_back(
        fileNodeOf(name, "Clip", {low.of, least, search.number(site, y + "_most", high.number, type)}, y));
    sites.push_back(std::move(site));
  }
  return sites;
}

/// The bound in operand `slot`, or in the attribute of older opsets; nothing: there is none. Not a number: it is no
/// constant.
std::optional<double> clipBound(const FileMatcher& match, std::size_t place, std::size_t slot, const char* attribute,
                                double none) {
  if (match.opset() < kBoundsAreOperands) {
    const double bound = match.real(place, attribute, static_cast<float>(none));
    return bound == none ? std::nullopt : std::optional(bound);
  }
  const auto& inputs = match.node(place).inputs;
  if (inputs.size() <= slot || inputs[slot].empty()) return std::nullopt;
  return match.number(inputs[slot]).value_or(std::numeric_limits<double>::quiet_NaN());
}

Result<std::vector<ReplacedSite>> findClips(const SiteSearch& search) {
  constexpr double kMost = std::numeric_limits<float>::max();
  const FileMatcher& match = search.match;
  std::vector<ReplacedSite> sites;
  for (std::size_t place = 0; place < match.nodes(); ++place) {
    if (!match.is(place, "Clip")) continue;
    const auto low = clipBound(match, place, 1, "min", -kMost), high = clipBound(match, place, 2, "max", kMost);
    const std::string &x = match.node(place).inputs[0], &y = match.result(place);
    const DataType type = match.type(x).dtype;
    if (!low || !high || !(*low <= *high) || !isFloat(type)) continue;
    const std::string name = match.name(place);
    const std::string raised = search.fresh(y + "_raised");
    ReplacedSite site{.gone = {place}, .at = name};
    std::string bound = search.number(site, y + "_least", *low, type);
    site.made.push_back(fileNodeOf(search.fresh(name + "_max"), "Max", {x, bound}, raised));
    bound = search.number(site, y + "_most", *high, type);
    site.made.push_back(fileNodeOf(name, "Min", {raised, bound}, y));
    sites.push_back(std::move(site));
  }
  return sites;
}

}  // namespace

Substitution clip() {
  return {.name = "clip",
          .summary = "Max or Relu, then Min, by constants, become Clip (opset 11): Relu and Min 6 are Relu6",
          .inverse = "clip-spelled-out",
          .opset = kBoundsAreOperands,
          .find = &findBounded};
}

Substitution clipSpelledOut() {
  return {.name = "clip-spelled-out",
          .summary = "Clip with two constant bounds, attributes or operands, becomes Max and Min",
          .inverse = "clip",
          .opset = kMaxBroadcasts,
          .find = &findClips};
}

}  // namespace fusescope
