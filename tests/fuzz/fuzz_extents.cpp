// Extents of any size, from constants and from data: what has no room is refused in words, and numbers of operations
// and bytes are never beyond what counts them. A text of one network: OPERATOR constant|data NUMBER…

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "frontends/importers.h"
#include "onnxlib/onnx_text.h"
#include "passes/pipelines.h"
#include "planning/plan_totals.h"
#include "tests/fuzz/fuzz_support.h"

using namespace fusescope;

namespace {

using Numbers = std::vector<std::int64_t>;

constexpr std::int64_t kSmall = 32;

/// Small, or so large that no machine has room for it: what lies between would be made.
std::int64_t withoutBetween(std::int64_t number) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 44;
  return number > kSmall && number < kHuge ? kHuge : number;
}

std::string listOf(const Numbers& numbers) {
  std::string text;
  for (const std::int64_t number : numbers) text += (text.empty() ? "" : ", ") + std::to_string(number);
  return text;
}

/// The inputs beside `n`, and the nodes, by operator. {N}: the numbers as extents, in which case large ones are only
/// planned; {1}: so many ones.
const std::map<std::string, std::pair<const char*, const char*>>& networks() {
  static const std::map<std::string, std::pair<const char*, const char*>> kNetworks{
      {"ConstantOfShape", {"", "c = ConstantOfShape(n) y = Relu(c)"}},
      {"Expand", {"float[{1}] x", "e = Expand(x, n) y = Relu(e)"}},
      {"Tile", {"float[{1}] x", "t = Tile(x, n) y = Relu(t)"}},
      {"Range",
       {"int64 from, int64 step",
        "axis = Constant<value_ints = [0]>() to = ReduceMax<keepdims = 0>(n, axis) "
        "y = Range(from, to, step)"}},
      {"Reshape", {"float[{1}] x", "y = Reshape(x, n)"}},
      {"Extents", {"float[{N}] x", "y = Relu(x)"}},
      {"MatMul", {"float[{N}] x", "t = Transpose(x) y = MatMul(x, t)"}},
  };
  return kNetworks;
}

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

void checkCount(const std::optional<std::int64_t>& count, const char* what) {
  if (count && *count < 0) fuzz::report("nothing is counted below zero", what);
}

void checkRefusal(const Diagnostic& error) {
  if (error.message.empty()) fuzz::report("a refusal has words", "");
}

void run(const std::shared_ptr<const Plan>& plan, const Numbers& numbers) {
  std::map<std::string, Tensor> inputs;
  for (const ValueId id : plan->graph().inputs()) {
    const Value& value = plan->graph().value(id);
    const auto dims = value.type.shape.fixed();
    if (value.name == "n") {
      inputs.emplace("n", Tensor::ofInt64(numbers));
    } else if (dims && elementCount(*dims)) {
      Tensor tensor = Tensor::zeros(value.type.dtype, *dims);
      if (value.name == "step") tensor.mutableData<std::int64_t>()[0] = 1;
      inputs.emplace(value.name, std::move(tensor));
    } else {
      return;  // it is too large to be given
    }
  }
  for (const char* backend : {"reference", "native"}) {
    const auto engine = buildEngine(plan, {.backend = backend, .threads = 1, .measureTactics = false});
    if (!engine.ok()) {
      checkRefusal(engine.error());
      continue;
    }
    const auto result = engine.value()->run(inputs);
    if (!result.ok()) checkRefusal(result.error());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream words{std::string(fuzz::asText({data, size}))};
  std::string op, from;
  words >> op >> from;
  Numbers numbers;
  for (std::int64_t number = 0; numbers.size() < 4 && words >> number;) numbers.push_back(number);
  const auto network = networks().find(op);
  if (network == networks().end() || numbers.empty()) return 0;
  const bool areExtents = std::string_view(network->second.first).find("{N}") != std::string_view::npos;
  if (!areExtents) std::ranges::transform(numbers, numbers.begin(), withoutBetween);
  const std::string rank = std::to_string(numbers.size());
  std::string inputs = replaced(network->second.first, "{N}", listOf(numbers));
  inputs = replaced(inputs, "{1}", listOf(Numbers(numbers.size(), 1)));
  const bool isConstant = from == "constant";
  if (!isConstant) inputs += (inputs.empty() ? "int64[" : ", int64[") + rank + "] n";
  const auto bytes =
      onnxlib::onnxTextToBytes("<ir_version: 8, opset_import: [\"\" : 18]>\nnet (" + inputs + ") => (float[...] y) " +
                               (isConstant ? "<int64[" + rank + "] n = {" + listOf(numbers) + "}> " : "") + "{ " +
                               network->second.second + " }");
  if (!bytes.ok()) return 0;
  const std::string& file = bytes.value();
  auto imported = importModel(fuzz::asFile({reinterpret_cast<const std::uint8_t*>(file.data()), file.size()}, ".onnx"));
  if (!imported.ok()) return checkRefusal(imported.error()), 0;
  auto prepared = prepareModel(std::move(imported).value());
  if (!prepared.ok()) return checkRefusal(prepared.error()), 0;
  const auto planned = makePlan(std::make_shared<const Model>(std::move(prepared).value()), PlanOptions());
  if (!planned.ok()) return checkRefusal(planned.error()), 0;
  const std::shared_ptr<const Plan> plan = planned.value();
  for (const FusedNode& fused : plan->fusedNodes) {
    checkCount(fused.flops, "operations");
    checkCount(fused.bytes, "bytes");
  }
  checkCount(totalsWithoutBodies(*plan).flops, "all operations");
  checkCount(totalsWithoutBodies(*plan).bytes, "all bytes");
  const bool isSmall = std::ranges::all_of(numbers, [](std::int64_t number) { return number <= kSmall; });
  if (isSmall || !areExtents) run(plan, numbers);
  return 0;
}
