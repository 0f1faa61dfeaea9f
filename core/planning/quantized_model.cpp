#include "planning/quantized_model.h"

#include <algorithm>

#include "calibration/quantize_graph.h"
#include "planning/directive_map.h"
#include "planning/price_integers.h"

namespace fusescope {

namespace {

Status checkOptions(const PlanOptions& options) {
  const bool allNodes = std::ranges::find(options.precisions, DataType::I8) != options.precisions.end();
  if (allNodes && options.ranges == nullptr)
    return Diagnostic{
        .message = "int8 needs to know the ranges of the network's values",
        .where = {.attribute = "--precision"},
        .help = "Make them with: fusescope calibrate MODEL --inputs F -o RANGES.json, and give --ranges."};
  if (options.ranges != nullptr && !asksForIntegers(options))
    return Diagnostic{.message = "nothing asks for int8, so that ranges say nothing",
                      .where = {.attribute = "--ranges"},
                      .help = "Give --precision int8 (or int8,f16), or pin nodes to int8."};
  return Done{};
}

/// What of the directives quantization depends on, in their order.
Directives relevant(const Directives& directives) {
  Directives kept;
  for (const Directive& directive : directives)
    if (directive.kind == DirectiveKind::Pin || directive.kind == DirectiveKind::Fallback) kept.push_back(directive);
  assignIds(kept);
  return kept;
}

/// Of all that the quantised graph is made from.
Hash128 keyOf(const Model& model, const PlanOptions& options, const std::vector<QuantizeWish>& wishes,
              const QuantizeRequest& request) {
  KeyBuilder key;
  key.text("quantized").text(model.contentHash.hex());
  key.text(options.ranges != nullptr ? options.ranges->contentHash().hex() : "");
  key.number(options.weightOnly.type).number(options.weightOnly.block);
  key.number(request.everyNode).number(request.symmetric);
  for (const QuantizeWish& wish : wishes) key.number(wish.kind).text(wish.by);
  for (const auto& [node, price] : request.priced) {
    key.number(node.index).number(price.integers);
    key.text(Json(price.integersMs.value_or(-1)).dump()).text(Json(price.floatsMs.value_or(-1)).dump());
  }
  return key.hash();
}

/// What is wished of each node: by pins, by fallbacks, and by the patterns that the ranges leave out.
Result<std::vector<QuantizeWish>> wishesOf(const Model& model, const Target& target, const PlanOptions& options,
                                           const StopToken& stop) {
  const Directives directives = relevant(options.directives);
  const DirectiveMap map = TRY(resolveDirectives(model, target, directives, stop));
  std::vector<QuantizeWish> wishes(model.graph->nodeIdLimit());
  if (options.ranges != nullptr) {
    PatternMatcher matcher(model);
    for (const std::string& pattern : options.ranges->exclude)
      for (const NodeId node : TRY(matcher.match(pattern, stop)).nodes)
        wishes[node.index] = {QuantizeWish::Kind::Excluded, pattern};
  }
  for (const NodeId node : model.graph->order()) {
    QuantizeWish& wish = wishes[node.index];
    if (const int pin = map.pin[node.index]; pin >= 0) {
      const Directive& directive = directives[static_cast<std::size_t>(pin)];
      const bool integers = directive.type == DataType::I8;
      wish = {integers ? QuantizeWish::Kind::Integers : QuantizeWish::Kind::Floats, optionText(directive)};
    }
    if (const int fallback = map.fallback[node.index]; fallback >= 0)
      wish = {QuantizeWish::Kind::Fallback, optionText(directives[static_cast<std::size_t>(fallback)])};
  }
  return wishes;
}

/// `options` and `wishes` must outlive it.
QuantizeRequest requestOf(const PlanOptions& options, const Target& target, std::span<const QuantizeWish> wishes,
                          const StopToken& stop, const PricedIntegers& priced) {
  const bool everyNode = std::ranges::find(options.precisions, DataType::I8) != options.precisions.end();
  // TensorRT's compiler knows no zero points.
  const bool symmetric = target.predictedFusions || (options.ranges != nullptr && options.ranges->choice.symmetric);
  return {.ranges = options.ranges.get(),
          .wishes = wishes,
          .everyNode = everyNode,
          .symmetric = symmetric,
          .weightOnly = options.weightOnly,
          .priced = priced,
          .stop = stop};
}

}  // namespace

bool asksForIntegers(const PlanOptions& options) {
  const auto pinned = [](const Directive& each) {
    return each.kind == DirectiveKind::Pin && each.type == DataType::I8;
  };
  return std::ranges::find(options.precisions, DataType::I8) != options.precisions.end() ||
         std::ranges::any_of(options.directives, pinned);
}

Result<std::shared_ptr<const Model>> quantizedModel(std::shared_ptr<const Model> model, const PlanOptions& options,
                                                    const Plan* previous, const StopToken& stop,
                                                    const PricedIntegers& priced) {
  TRY(checkOptions(options));
  if (options.ranges == nullptr && options.weightOnly.type == DataType::Undefined) return model;
  const Target target = TRY(Target::fromName(options.target));
  const std::vector<QuantizeWish> wishes = TRY(wishesOf(*model, target, options, stop));
  const QuantizeRequest request = requestOf(options, target, wishes, stop, priced);
  const Hash128 key = keyOf(*model, options, wishes, request);
  if (previous != nullptr && previous->model->unquantized == model && previous->model->contentHash == key)
    return previous->model;
  Model quantized = TRY(quantize(*model, request));
  quantized.unquantized = std::move(model);
  quantized.contentHash = key;
  return std::make_shared<const Model>(std::move(quantized));
}

namespace {

/// What the plan's model was quantised by.
Result<QuantizeRequest> requestOf(const Plan& plan, std::vector<QuantizeWish>& wishes, const StopToken& stop) {
  const Model& model = *unquantized(plan.model);
  wishes = TRY(wishesOf(model, plan.target, plan.options, stop));
  return requestOf(plan.options, plan.target, wishes, stop, recordedIntegers(*model.graph, plan.model->decisions));
}

}  // namespace

Result<std::shared_ptr<const Model>> modelBeforeCodes(const Plan& plan, const StopToken& stop) {
  const auto& model = unquantized(plan.model);
  const bool smooths = plan.options.ranges != nullptr && plan.options.ranges->smoothing > 0;
  if (!smooths) return model;
  std::vector<QuantizeWish> wishes;
  Ranges ranges = *plan.options.ranges;
  Model alike = TRY(smoothed(*model, TRY(requestOf(plan, wishes, stop)), ranges));
  alike.contentHash = hashText("smoothed " + plan.model->contentHash.hex());
  return std::make_shared<const Model>(std::move(alike));
}

Result<std::shared_ptr<const Graph>> graphWithCodes(const Plan& plan, const StopToken& stop) {
  std::vector<QuantizeWish> wishes;
  return TRY(withCodes(*unquantized(plan.model), TRY(requestOf(plan, wishes, stop)))).graph;
}

}  // namespace fusescope
