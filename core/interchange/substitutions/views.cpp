// Chains of nodes that only look at elements in other extents or another order.
#include <algorithm>

#include "interchange/substitutions/substitution.h"

namespace fusescope {
namespace {

bool isReshaping(const FileMatcher& match, std::size_t place) {
  return match.is(place, "Reshape") || match.is(place, "Flatten") || match.is(place, "Squeeze") ||
         match.is(place, "Unsqueeze");
}

/// The extents that the last of a chain gives, whatever it reads; nothing where they depend on that.
std::optional<std::vector<std::int64_t>> givenExtents(const FileMatcher& match, std::size_t last) {
  if (match.is(last, "Reshape") && match.node(last).inputs.size() == 2) {
    const auto extents = match.integers(match.node(last).inputs[1]);
    const bool copies = extents && std::ranges::find(*extents, 0) != extents->end();
    if (extents && !copies) return extents;
  }
  // A zero would copy the extent that stands there before.
  const auto extents = match.type(match.result(last)).shape.fixed();
  return extents && std::ranges::find(*extents, 0) == extents->end() ? extents : std::nullopt;
}

/// Views one behind the other, whose results nobody else reads, are one Reshape to what the last gives.
Result<std::vector<ReplacedSite>> findReshapes(const SiteSearch& search) {
  const FileMatcher& match = search.match;
  std::vector<ReplacedSite> sites;
  for (std::size_t last = 0; last < match.nodes(); ++last) {
    if (!isReshaping(match, last)) continue;
    const auto next = match.onlyReader(match.result(last));
    if (next && isReshaping(match, *next) && match.node(*next).inputs[0] == match.result(last)) continue;
    std::set<std::size_t> chain{last};
    std::size_t first = last;
    for (;;) {
      const std::ptrdiff_t before = match.values().maker(match.node(first).inputs[0]);
      if (before < 0 || !isReshaping(match, static_cast<std::size_t>(before))) break;
      if (match.onlyReader(match.node(first).inputs[0]) != first) break;
      first = static_cast<std::size_t>(before);
      chain.insert(first);
    }
    const auto extents = chain.size() < 2 ? std::nullopt : givenExtents(match, last);
    if (!extents) continue;
    const std::string &y = match.result(last), &x = match.node(first).inputs[0];
    const std::string name = match.name(last);
    ReplacedSite site{.gone = std::move(chain)};
    site.made.push_back(fileNodeOf(name, "Reshape", {x, search.integers(site, y + "_extents", *extents)}, y));
    sites.push_back(std::move(site));
  }
  return sites;
}

/// The order of axes of a Transpose; empty: it is not known.
std::vector<std::int64_t> orderOf(const FileMatcher& match, std::size_t place) {
  std::vector<std::int64_t> order = match.list(place, "perm");
  if (!order.empty()) return order;
  const TensorType type = match.type(match.node(place).inputs[0]);
  for (std::size_t axis = type.shape.rank(); axis > 0; --axis) order.push_back(static_cast<std::int64_t>(axis) - 1);
  return order;
}

/// Two Transposes one behind the other are one; two that cancel are an Identity.
Result<std::vector<ReplacedSite>> findTransposes(const SiteSearch& search) {
  const FileMatcher& match = search.match;
  std::vector<ReplacedSite> sites;
  for (std::size_t second = 0; second < match.nodes(); ++second) {
    if (!match.is(second, "Transpose")) continue;
    const auto first = match.maker(match.node(second).inputs[0], "Transpose");
    if (!first || match.onlyReader(match.result(*first)) != second) continue;
    const std::vector<std::int64_t> inner = orderOf(match, *first), outer = orderOf(match, second);
    if (inner.empty() || inner.size() != outer.size()) continue;
    std::vector<std::int64_t> order;
    for (const std::int64_t axis : outer) order.push_back(inner[static_cast<std::size_t>(axis)]);
    const std::string &x = match.node(*first).inputs[0], &y = match.result(second);
    const std::string name = match.name(second);
    ReplacedSite site{.gone = {*first, second}};
    site.made.push_back(std::ranges::is_sorted(order)
                            ? fileNodeOf(name, "Identity", {x}, y)
                            : fileNodeOf(name, "Transpose", {x}, y, {{.name = "perm", .value = order}}));
    sites.push_back(std::move(site));
  }
  return sites;
}

}  // namespace

Substitution reshapes() {
  return {.name = "reshapes",
          .summary = "several Reshape, Flatten, Squeeze and Unsqueeze in a row become one Reshape",
          .opset = 5,
          .find = &findReshapes};
}

Substitution transposes() {
  return {.name = "transposes",
          .summary = "several Transposes in a row become one, or an Identity if they cancel",
          .repeats = true,
          .find = &findTransposes};
}

}  // namespace fusescope
