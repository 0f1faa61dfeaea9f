#include "engine/region_key.h"

#include <algorithm>

#include "analysis/fingerprint.h"
#include "base/hash.h"
#include "base/text.h"

namespace fusescope {
namespace {

std::string described(const KernelRequest& request, ValueId value) {
  KeyBuilder key;
  if (const auto found = request.values.find(value); found != request.values.end()) {
    key.text(name(found->second.dtype));
    for (const std::int64_t extent : found->second.dims) key.number(extent);
  }
  if (request.plan->graph().isConstant(value)) key.text(name(request.plan->storedType(value)));
  for (const FusedOutput& output : request.fused->outputs)
    if (output.value == value) key.text("output");
  for (const InnerEdge& edge : request.fused->innerEdges)
    if (edge.value == value) key.text(edge.real ? "real" : "inner").text(name(edge.type));
  return key.canonical();
}

}  // namespace

std::string regionKey(const KernelRequest& request) {
  const FusedNode& fused = *request.fused;
  KeyBuilder context;
  context.text(fused.kind).text(name(fused.compute)).text(name(fused.accumulate));
  for (const NodeId node : fused.nodes) context.text(name(request.plan->calculates[node.index]));
  return structuralKey({.graph = &request.plan->graph(),
                        .nodes = fused.nodes,
                        .describe = [&](ValueId value) { return described(request, value); },
                        .context = context.canonical()});
}

TimingContext timingContext(const Plan& plan, const Backend& backend, int threads) {
  return {.capabilities = joined({plan.target.capabilities.begin(), plan.target.capabilities.end()}, "+"),
          .backend = std::string(backend.name()) + " " + backend.version(),
          .threads = threads};
}

std::string regionTimeKey(const std::string& region, const TimingContext& context) {
  KeyBuilder key;
  key.text("fusescope.region_time.1").text(region);
  key.text(context.capabilities).text(context.backend).number(context.threads);
  return key.canonical();
}

std::string timingKey(const std::string& region, const Tactic& tactic, const TimingContext& context) {
  KeyBuilder key;
  key.text("fusescope.timing.1").text(region).text(tactic.name);
  for (const Layout layout : tactic.inputLayouts) key.text(name(layout));
  key.text("->");
  for (const Layout layout : tactic.outputLayouts) key.text(name(layout));
  key.text(context.capabilities).text(context.backend).number(context.threads);
  return key.canonical();
}

}  // namespace fusescope
