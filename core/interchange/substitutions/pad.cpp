#include <algorithm>

#include "interchange/substitutions/substitution.h"

namespace fusescope {
namespace {

constexpr std::int64_t kPadsAreOperands = 11;

/// What a Pad adds in front of and behind each axis: constants, of zeros; empty: it is no such Pad.
std::vector<std::int64_t> zerosAround(const FileMatcher& match, std::size_t pad) {
  const auto& inputs = match.node(pad).inputs;
  if (match.text(pad, "mode", "constant") != "constant") return {};
  if (match.opset() < kPadsAreOperands)
    return match.real(pad, "value", 0) == 0 ? match.list(pad, "pads") : std::vector<std::int64_t>();
  const bool isZero = inputs.size() < 3 || inputs[2].empty() || match.number(inputs[2]) == 0.0;
  const bool hasAxes = inputs.size() > 3 && !inputs[3].empty();
  if (!isZero || hasAxes || inputs.size() < 2) return {};
  return match.integers(inputs[1]).value_or(std::vector<std::int64_t>());
}

bool padsItself(const FileMatcher& match, std::size_t place) {
  if (match.text(place, "auto_pad", "NOTSET") != "NOTSET") return false;
  return match.is(place, "Conv") || (match.is(place, "AveragePool") && match.integer(place, "ceil_mode", 0) == 0);
}

/// Runtimes refuse a pool that is padded by as much as its kernel is long.
bool reachKernel(const std::vector<std::int64_t>& pads, const std::vector<std::int64_t>& kernel) {
  for (std::size_t i = 0; i < pads.size(); ++i)
    if (kernel.empty() || pads[i] >= kernel[i % kernel.size()]) return true;
  return false;
}

/// The pads of a Conv or pool that does what `pad` and `place` do; nothing where none does.
std::optional<std::vector<std::int64_t>> joinedPads(const FileMatcher& match, std::size_t pad, std::size_t place) {
  const std::vector<std::int64_t> around = zerosAround(match, pad);
  const std::size_t rank = around.size() / 2;
  if (rank < 3 || around[0] != 0 || around[1] != 0 || around[rank] != 0 || around[rank + 1] != 0) return std::nullopt;
  if (std::ranges::any_of(around, [](std::int64_t count) { return count < 0; })) return std::nullopt;
  std::vector<std::int64_t> pads = match.list(place, "pads");
  pads.resize(2 * (rank - 2), 0);
  // The zeros of a Pad are averaged, those of a pool only where it says so.
  const bool padsAlready = std::ranges::any_of(pads, [](std::int64_t count) { return count != 0; });
  if (match.is(place, "AveragePool") && padsAlready && match.integer(place, "count_include_pad", 0) == 0)
    return std::nullopt;
  for (std::size_t axis = 0; axis + 2 < rank; ++axis) {
    pads[axis] += around[axis + 2];
    pads[axis + rank - 2] += around[axis + 2 + rank];
  }
  if (match.is(place, "AveragePool") && reachKernel(pads, match.list(place, "kernel_shape"))) return std::nullopt;
  return pads;
}

void setAttribute(onnxlib::FileNode& node, const std::string& name, onnxlib::FileAttributeValue value) {
  std::erase_if(node.attributes, [&](const onnxlib::FileAttribute& held) { return held.name == name; });
  node.attributes.push_back({.name = name, .value = std::move(value)});
}

Result<std::vector<ReplacedSite>> findPads(const SiteSearch& search) {
  const FileMatcher& match = search.match;
  std::vector<ReplacedSite> sites;
  for (std::size_t pad = 0; pad < match.nodes(); ++pad) {
    const auto place = match.is(pad, "Pad") ? match.onlyReader(match.result(pad)) : std::nullopt;
    if (!place || !padsItself(match, *place) || match.node(*place).inputs[0] != match.result(pad)) continue;
    const auto pads = joinedPads(match, pad, *place);
    if (!pads) continue;
    onnxlib::FileNode made = match.node(*place);
    made.name = match.name(*place);
    made.inputs[0] = match.node(pad).inputs[0];
    setAttribute(made, "pads", *pads);
    if (made.op == "AveragePool") setAttribute(made, "count_include_pad", std::int64_t{1});
    sites.push_back({.gone = {pad, *place}, .made = {made}, .at = made.name});
  }
  return sites;
}

Result<std::vector<ReplacedSite>> findPadded(const SiteSearch& search) {
  const FileMatcher& match = search.match;
  std::vector<ReplacedSite> sites;
  for (std::size_t place = 0; place < match.nodes(); ++place) {
    const std::vector<std::int64_t> pads = match.list(place, "pads");
    const bool isAny = std::ranges::any_of(pads, [](std::int64_t count) { return count != 0; });
    if (!isAny || !padsItself(match, place)) continue;
    if (match.is(place, "AveragePool") && match.integer(place, "count_include_pad", 0) == 0) continue;
    std::vector<std::int64_t> around(2, 0);
    const auto half = static_cast<std::ptrdiff_t>(pads.size() / 2);
    around.insert(around.end(), pads.begin(), pads.begin() + half);
    around.insert(around.end(), 2, 0);
    around.insert(around.end(), pads.begin() + half, pads.end());
    onnxlib::FileNode made = match.node(place);
    made.name = match.name(place);
    const std::string x = made.inputs[0], padded = search.fresh(made.outputs[0] + "_padded");
    ReplacedSite site{.gone = {place}};
    onnxlib::FileNode pad = fileNodeOf(search.fresh(made.name + "_pad"), "Pad", {x}, padded);
    if (match.opset() < kPadsAreOperands)
      setAttribute(pad, "pads", around);
    else
      pad.inputs.push_back(search.integers(site, padded + "_pads", around));
    made.inputs[0] = padded;
    setAttribute(made, "pads", std::vector<std::int64_t>(pads.size(), 0));
    site.at = pad.name;
    site.made = {pad, made};
    sites.push_back(std::move(site));
  }
  return sites;
}

}  // namespace

Substitution padInto() {
  return {.name = "pad-into",
          .summary = "a Pad with zeros becomes the padding of the Conv or AveragePool after it",
          .inverse = "pad-apart",
          .find = &findPads};
}

Substitution padApart() {
  return {.name = "pad-apart",
          .summary = "the padding of a Conv, or of an AveragePool that averages it, becomes a Pad before it",
          .inverse = "pad-into",
          .find = &findPadded};
}

}  // namespace fusescope
