// Files of an engine of TensorRT, of any bytes, are refused in words or read; what is read fits the network that it is
// read for, and the network that is made of layers alone.

#include "compilers/tensorrt/engine_reader.h"
#include "frontends/tensorrt/layer_network.h"
#include "passes/pipelines.h"
#include "planning/read_back/read_back_plan.h"
#include "tests/fuzz/fuzz_support.h"
#include "tests/fuzz/made_graph.h"

using namespace fusescope;

namespace {

/// All nodes were built: no target's table matters.
std::shared_ptr<const Plan> planOf(Model model) {
  PlanOptions options;
  options.target = "tensorrt-10";
  options.support = supportOfBuilt(*model.graph);
  const auto plan = makePlan(std::make_shared<const Model>(std::move(model)), options);
  return plan.ok() ? plan.value() : nullptr;
}

/// x -> Conv_0 -> Relu_1 -> Conv_2 -> Add_3 (with what Relu_1 made) -> y
CompilerInput residual() {
  fuzz::MadeGraph graph;
  const TensorType type{DataType::F32, Shape::of(Dims{1, 4, 8, 8})};
  const ValueId w = graph.constant("w", Tensor::zeros(DataType::F32, {4, 4, 1, 1}));
  const auto add = [&](const std::string& op, std::vector<ValueId> inputs) {
    const std::string number = std::to_string(graph.nodeCount());
    return graph.node(op, op + "_" + number, std::move(inputs), "v" + number, type);
  };
  const ValueId relu = add("Relu", {add("Conv", {graph.input("x", type), w})});
  return graphAsNamed(planOf(graph.take(add("Add", {add("Conv", {relu, w}), relu}))));
}

void readFor(const CompilerInput& network, const EngineFiles& files) {
  ReadBack told = readEngine(network, files);
  adviseOnRegions(network, told);
  const auto made = readBackPlan(network.plan, told);
  if (!made.ok()) fuzz::report("what is read fits the network", made.error().text());
  const auto again = readBackPlanFromJson(toJson(*made.value()), network.plan);
  if (!again.ok()) fuzz::report("what was read is read again from its document", again.error().text());
}

template <class T>
std::optional<T> readOrRefused(const Result<T>& result) {
  if (result.ok()) return result.value();
  if (result.error().message.empty()) fuzz::report("what cannot be read is refused in words", "");
  return std::nullopt;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const CompilerInput network = residual();
  const std::string_view text = fuzz::asText({data, size});
  const auto layers = readOrRefused(parseEngineLayers(text));
  EngineFiles files;
  files.profile = readOrRefused(parseEngineProfile(text));
  files.times = readOrRefused(parseEngineTimes(text));
  files.log = readOrRefused(parseEngineLog(text));
  if (!layers) return 0;
  files.layers = *layers;
  readFor(network, files);
  const auto drawn = readOrRefused(layerNetwork(*layers));
  if (!drawn) return 0;
  const auto prepared = readOrRefused(prepareModel(*drawn));
  if (!prepared) return 0;
  const auto plan = planOf(*prepared);
  if (plan != nullptr) readFor(graphAsNamed(plan), files);
  return 0;
}
