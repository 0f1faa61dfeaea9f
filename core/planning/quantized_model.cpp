#include "planning/quantized_model.h"

#include <algorithm>

#include "base/json.h"
#include "calibration/edge_choice.h"
#include "calibration/quantize_graph.h"
#include "ir/graph.h"
#include "planning/directive_map.h"

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
    return Diagnostic{.message = "nothing asks for int8, so the ranges would not be used",
                      .where = {.attribute = "--ranges"},
                      .help = "Give --precision int8 (or int8,f16), or pin nodes to int8."};
  return Done{};
}

/// Returns the directives on which quantisation depends, in their order. `places` gets the index of each.
Directives relevant(const Directives& directives, std::vector<int>& places) {
  Directives kept;
  for (std::size_t i = 0; i < directives.size(); ++i) {
    if (directives[i].kind != DirectiveKind::Pin && directives[i].kind != DirectiveKind::Fallback) continue;
    kept.push_back(directives[i]);
    places.push_back(static_cast<int>(i));
  }
  assignIds(kept);
  return kept;
}

/// Hashes everything from which the quantised graph is made.
Hash128 keyOf(const Model& model, const PlanOptions& options, const std::vector<NodeQuantizeRequest>& requests,
              const QuantizeRequest& request) {
  KeyBuilder key;
  key.text("quantized").text(model.contentHash.hex());
  key.text(options.ranges != nullptr ? options.ranges->contentHash().hex() : "");
  key.number(options.weightOnly.type).number(options.weightOnly.block);
  key.number(request.everyNode).number(request.symmetric);
  for (const NodeQuantizeRequest& request : requests) key.number(request.kind).text(request.by);
  for (const auto& [node, price] : request.priced) {
    key.number(node.index).number(price.integers);
    key.text(Json(price.integersMs.value_or(-1)).dump()).text(Json(price.floatsMs.value_or(-1)).dump());
  }
  return key.hash();
}

/// What is requested for each node: by pins, by fallbacks, and by the patterns that the ranges exclude.
class NodeRequests {
 public:
  static Result<NodeRequests> create(const Model& model, const Target& target, const PlanOptions& options,
                                     const StopToken& stop) {
    NodeRequests requests;
    requests.m_directives = relevant(options.directives, requests.m_places);
    requests.m_map = TRY(resolveDirectives(model, target, requests.m_directives, stop));
    requests.m_excluded.resize(model.graph->nodeIdLimit());
    if (options.ranges == nullptr) return requests;
    PatternMatcher matcher(model);
    for (const std::string& pattern : options.ranges->settings.exclude)
      for (const NodeId node : TRY(matcher.match(pattern, stop)).nodes)
        requests.m_excluded[node.index] = {NodeQuantizeRequest::Kind::Excluded, pattern};
    return requests;
  }

  /// Returns the requests by NodeId, without those of the pin `without`.
  std::vector<NodeQuantizeRequest> all(const Graph& graph, int without = -1) const {
    std::vector<NodeQuantizeRequest> requests = m_excluded;
    for (const NodeId node : graph.order()) {
      const std::vector<int>& pins = m_map.pinsOf[node.index];
      const auto pin = std::ranges::find_if(pins, [&](int each) { return each != without; });
      if (pin != pins.end())
        requests[node.index] = {
            isToFloats(*pin) ? NodeQuantizeRequest::Kind::Floats : NodeQuantizeRequest::Kind::Integers,
            optionText(directive(*pin))};
      if (const int fallback = m_map.fallback[node.index]; fallback >= 0)
        requests[node.index] = {NodeQuantizeRequest::Kind::Fallback, optionText(directive(fallback))};
    }
    return requests;
  }

  int count() const { return static_cast<int>(m_directives.size()); }
  bool isToFloats(int index) const {
    return directive(index).kind == DirectiveKind::Pin && directive(index).type != DataType::I8;
  }
  /// Returns the index in the options.
  int placeOf(int index) const { return m_places[static_cast<std::size_t>(index)]; }

 private:
  const Directive& directive(int index) const { return m_directives[static_cast<std::size_t>(index)]; }

  Directives m_directives;
  std::vector<int> m_places;
  DirectiveMap m_map;
  std::vector<NodeQuantizeRequest> m_excluded;
};

/// `options` and `requests` must outlive the result.
QuantizeRequest requestOf(const PlanOptions& options, const Target& target,
                          std::span<const NodeQuantizeRequest> requests, const StopToken& stop,
                          const PricedIntegers& priced = {}) {
  const bool everyNode = std::ranges::find(options.precisions, DataType::I8) != options.precisions.end();
  // TensorRT's compiler has no zero points.
  const bool symmetric =
      target.predictedFusions || (options.ranges != nullptr && options.ranges->settings.choice.symmetric);
  return {.ranges = options.ranges.get(),
          .nodeRequests = requests,
          .everyNode = everyNode,
          .symmetric = symmetric,
          .weightOnly = options.weightOnly,
          .priced = priced,
          .stop = stop};
}

/// Returns the request with which the plan's model was quantised.
Result<QuantizeRequest> requestOf(const Plan& plan, std::vector<NodeQuantizeRequest>& requests, const StopToken& stop) {
  const Model& model = *unquantized(plan.model);
  requests = TRY(NodeRequests::create(model, plan.target, plan.options, stop)).all(*model.graph);
  return requestOf(plan.options, plan.target, requests, stop, plan.priced.integers);
}

bool quantizes(const PlanOptions& options) {
  return options.ranges != nullptr || options.weightOnly.type != DataType::Undefined;
}

/// Returns by NodeId whether a node reads codes.
std::vector<char> codedBy(const Graph& graph, const QuantizeRequest& request) {
  std::vector<char> coded(graph.nodeIdLimit(), 0);
  const EdgeChoice choice = chooseEdges(graph, request);
  for (const Product& product : choice.products) coded[product.node.index] = 1;
  for (const auto& [value, edge] : choice.edges)
    for (const NodeId reader : edge.readers) coded[reader.index] = 1;
  for (const Product& product : choice.floats)
    if (request.weightOnly.type != DataType::Undefined && graph.constantData(product.weights)->dims().size() == 2)
      coded[product.node.index] = 1;
  return coded;
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
  if (!quantizes(options)) return model;
  const Target target = TRY(Target::fromName(options.target));
  const std::vector<NodeQuantizeRequest> requests =
      TRY(NodeRequests::create(*model, target, options, stop)).all(*model->graph);
  const QuantizeRequest request = requestOf(options, target, requests, stop, priced);
  const Hash128 key = keyOf(*model, options, requests, request);
  if (previous != nullptr && previous->model->unquantized == model && previous->model->contentHash == key)
    return previous->model;
  Model quantized = TRY(quantize(*model, request));
  quantized.unquantized = std::move(model);
  quantized.contentHash = key;
  return std::make_shared<const Model>(std::move(quantized));
}

Result<std::shared_ptr<const Model>> modelBeforeCodes(const Plan& plan, const StopToken& stop) {
  const auto& model = unquantized(plan.model);
  const bool smooths = plan.options.ranges != nullptr && plan.options.ranges->settings.smoothing > 0;
  if (!smooths) return model;
  std::vector<NodeQuantizeRequest> requests;
  Ranges ranges = *plan.options.ranges;
  Model alike = TRY(smoothed(*model, TRY(requestOf(plan, requests, stop)), ranges));
  alike.contentHash = hashText("smoothed " + plan.model->contentHash.hex());
  return std::make_shared<const Model>(std::move(alike));
}

Result<std::shared_ptr<const Graph>> graphWithCodes(const Plan& plan, const StopToken& stop) {
  std::vector<NodeQuantizeRequest> requests;
  return TRY(withCodes(*unquantized(plan.model), TRY(requestOf(plan, requests, stop)))).graph;
}

Result<std::vector<char>> codedNodes(const Model& model, const PlanOptions& options, const StopToken& stop) {
  TRY(checkOptions(options));
  if (!quantizes(options)) return std::vector<char>(model.graph->nodeIdLimit(), 0);
  const Target target = TRY(Target::fromName(options.target));
  const std::vector<NodeQuantizeRequest> requests =
      TRY(NodeRequests::create(model, target, options, stop)).all(*model.graph);
  return codedBy(*model.graph, requestOf(options, target, requests, stop));
}

Result<std::map<int, std::vector<NodeId>>> keptInFloats(const Model& model, const PlanOptions& options,
                                                        const StopToken& stop) {
  std::map<int, std::vector<NodeId>> kept;
  if (!quantizes(options)) return kept;
  const Target target = TRY(Target::fromName(options.target));
  const NodeRequests requests = TRY(NodeRequests::create(model, target, options, stop));
  const std::vector<NodeQuantizeRequest> asked = requests.all(*model.graph);
  const std::vector<char> coded = codedBy(*model.graph, requestOf(options, target, asked, stop));
  for (int pin = 0; pin < requests.count(); ++pin) {
    TRY(checkStop(stop));
    if (!requests.isToFloats(pin)) continue;
    const std::vector<NodeQuantizeRequest> others = requests.all(*model.graph, pin);
    const std::vector<char> without = codedBy(*model.graph, requestOf(options, target, others, stop));
    for (const NodeId node : model.graph->order())
      if (without[node.index] && !coded[node.index]) kept[requests.placeOf(pin)].push_back(node);
  }
  return kept;
}

}  // namespace fusescope
