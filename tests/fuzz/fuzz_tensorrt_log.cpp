// A log of TensorRT for RTX of any bytes is refused in words or read; what is read fits the network that it is read
// for.

#include "compilers/tensorrt_rtx/build_log.h"
#include "compilers/tensorrt_rtx/layer_reader.h"
#include "planning/read_back/read_back_plan.h"
#include "tests/fuzz/fuzz_support.h"
#include "tests/fuzz/made_graph.h"

using namespace fusescope;

namespace {

/// x -> MatMul n0 -> Relu n1 -> Transpose n2 -> Reshape n3 -> MatMul n4 -> y, handed over; null: it cannot be made.
std::shared_ptr<const Plan> chain() {
  fuzz::MadeGraph graph;
  const TensorType type{DataType::F32, Shape::of(Dims{4, 8})}, turned{DataType::F32, Shape::of(Dims{8, 4})};
  const ValueId w = graph.constant("w", Tensor::zeros(DataType::F32, {8, 8}));
  const ValueId shape = graph.constant("s", Tensor::ofInt64({4, 8}));
  const auto add = [&](const std::string& op, std::vector<ValueId> inputs, const TensorType& made,
                       std::map<std::string, Attribute> attributes = {}) {
    const std::size_t number = graph.nodeCount();
    return graph.node(op, "n" + std::to_string(number), std::move(inputs), "v" + std::to_string(number + 1), made,
                      std::move(attributes));
  };
  ValueId last = graph.input("v0", type);
  last = add("MatMul", {last, w}, type);
  last = add("Relu", {last}, type);
  last = add("Transpose", {last}, turned, {{"perm", std::vector<std::int64_t>{1, 0}}});
  last = add("Reshape", {last, shape}, type);
  Model model = graph.take(add("MatMul", {last, w}, type));
  PlanOptions options;
  options.compiler = "tensorrt-rtx";
  options.target = "tensorrt-rtx";
  return makePlan(std::make_shared<const Model>(std::move(model)), options).value();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const CompilerInput network = graphAsNamed(chain());
  const std::string_view text = fuzz::asText({data, size});
  const auto log = readBuildLog(text);
  if (!log.ok()) {
    if (log.error().message.empty()) fuzz::report("what cannot be read is refused in words", "");
    return 0;
  }
  const auto made = readBackPlan(network.plan, readLayers(network, log.value()));
  if (!made.ok()) fuzz::report("what is read fits the network", made.error().text());
  const auto again = readBackPlanFromJson(toJson(*made.value()), network.plan);
  if (!again.ok()) fuzz::report("what was read is read again from its document", again.error().text());
  return 0;
}
