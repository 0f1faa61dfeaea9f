// The order of axes in which the network is handed an image.
#include <algorithm>

#include "frontends/onnx/file_tensors.h"
#include "interchange/substitutions/substitution.h"

namespace fusescope {
namespace {

using Order = std::vector<std::int64_t>;

const Order kToNhwc{0, 2, 3, 1}, kToNchw{0, 3, 1, 2};

/// The borders of the file with input `name` called otherwise, its extents in another order.
onnxlib::NetworkEdits::Borders withInput(const FileMatcher& match, const std::string& name,
                                         const std::string& otherwise, const Order& order) {
  onnxlib::NetworkEdits::Borders borders{.inputs = {}, .outputs = match.file().graph.outputs};
  for (const onnxlib::FileValue& input : match.file().graph.inputs) {
    if (!match.values().isInput(input.name)) continue;
    onnxlib::FileValue& kept = borders.inputs.emplace_back(input);
    if (input.name != name) continue;
    kept.name = otherwise;
    for (std::size_t axis = 0; axis < order.size(); ++axis)
      kept.type.dims[axis] = input.type.dims[static_cast<std::size_t>(order[axis])];
  }
  return borders;
}

Status checkImage(const FileMatcher& match, const std::string& name) {
  const auto& inputs = match.file().graph.inputs;
  const auto found = std::ranges::find(inputs, name, &onnxlib::FileValue::name);
  const bool isInput = found != inputs.end() && match.values().isInput(name);
  if (isInput && found->type.ranked && found->type.dims.size() == 4) return Done{};
  return Diagnostic{.message = isInput ? "it does not have four extents" : "it is not an input of the network",
                    .where = {.value = name},
                    .help = "Name an input that holds images."};
}

/// INPUT in NCHW becomes INPUT_nhwc, and a Transpose makes INPUT of it.
Result<std::vector<ReplacedSite>> turnToNhwc(const SiteSearch& search) {
  const std::string& input = search.argument;
  TRY(checkImage(search.match, input));
  const std::string turned = search.fresh(input + "_nhwc");
  ReplacedSite site{.at = turned};
  site.borders = withInput(search.match, input, turned, kToNhwc);
  site.turned[input] = {turned, kToNhwc};
  site.made.push_back(
      fileNodeOf(search.fresh(input + "_to_nchw"), "Transpose", {turned}, input, {{.name = "perm", .value = kToNchw}}));
  return std::vector{std::move(site)};
}

/// INPUT in NHWC, which only a Transpose to NCHW reads, becomes what that made.
Result<std::vector<ReplacedSite>> turnToNchw(const SiteSearch& search) {
  const FileMatcher& match = search.match;
  const std::string& input = search.argument;
  TRY(checkImage(match, input));
  const auto reader = match.onlyReader(input);
  if (!reader || !match.is(*reader, "Transpose") || match.list(*reader, "perm") != kToNchw)
    return Diagnostic{.message = "the only node that reads it is not a Transpose from NHWC to NCHW",
                      .where = {.value = input}};
  ReplacedSite site{.gone = {*reader}, .at = match.result(*reader)};
  site.borders = withInput(match, input, match.result(*reader), kToNchw);
  site.turned[input] = {match.result(*reader), kToNchw};
  return std::vector{std::move(site)};
}

}  // namespace

Substitution nhwcInput() {
  return {.name = "nhwc-input",
          .summary = "an input in NCHW becomes an input in NHWC, named INPUT_nhwc, followed by a Transpose",
          .inverse = "nchw-input",
          .argument = RuleArgument::Value,
          .find = &turnToNhwc};
}

Substitution nchwInput() {
  return {
      .name = "nchw-input",
      .summary = "an input in NHWC that only a Transpose reads becomes an input in NCHW, and the Transpose is removed",
      .inverse = "nhwc-input",
      .argument = RuleArgument::Value,
      .find = &turnToNchw};
}

}  // namespace fusescope
