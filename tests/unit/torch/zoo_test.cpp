#include <fmt/format.h>

#include <iostream>
#include <set>

#include "frontends/torch/program_inputs.h"
#include "interchange/npz.h"
#include "passes/pipelines.h"
#include "tests/unit/torch/pt2_cases.h"

namespace fusescope::test {
namespace {

struct ZooCase {
  const char* name;
  std::int64_t nodes;
  int folded;  ///< weights of convolutions into which the ONNX exporter folded a BatchNormalization under their names
  int gone;    ///< weights that the ONNX exporter folded into others, or left out: biases of 0, positions
};
const std::vector<ZooCase> kZoo{{"bert_tiny", 88, 0, 2},   {"diffusion_block", 77, 0, 0},
                                {"llama_tiny", 176, 0, 1}, {"long_double", 16, 0, 0},
                                {"moe_dense", 118, 0, 0},  {"squeezenet1_1", 66, 0, 26},
                                {"unet_small", 38, 0, 0},  {"tiny_resnet_dynbatch", 44, 13, 65}};

/// The elements of a tensor, or of its transpose where it is a matrix, as bytes.
std::string bytesOfTensor(const Tensor& tensor, bool transposed) {
  const auto* bytes = reinterpret_cast<const char*>(tensor.bytes());
  if (!transposed) return {bytes, tensor.byteSize()};
  const auto rows = static_cast<std::size_t>(tensor.dims()[0]), columns = static_cast<std::size_t>(tensor.dims()[1]);
  const std::size_t element = tensor.byteSize() / (rows * columns);
  std::string result;
  for (std::size_t column = 0; column < columns; ++column)
    for (std::size_t row = 0; row < rows; ++row) result.append(bytes + (row * columns + column) * element, element);
  return result;
}

struct Compared {
  int equal = 0, named = 0;  ///< weights that the ONNX file has under the same name and extents, and those equal there
  int found = 0, all = 0;    ///< weights whose elements are a constant of the ONNX file, or its transpose, by any name
};

Compared comparedWeights(const Graph& torch, const Graph& onnx) {
  std::set<std::string> contents;
  for (const ValueId id : onnx.allValues())
    if (const Tensor* tensor = onnx.constantData(id); tensor != nullptr && tensor->byteSize() > 0)
      contents.insert(bytesOfTensor(*tensor, false));
  Compared compared;
  for (const ValueId id : torch.allValues()) {
    const Value& weight = torch.value(id);
    if (weight.constant == nullptr) continue;
    const Tensor& tensor = *weight.constant;
    ++compared.all;
    const bool isMatrix = tensor.dims().size() == 2;
    compared.found +=
        contents.contains(bytesOfTensor(tensor, false)) || (isMatrix && contents.contains(bytesOfTensor(tensor, true)))
            ? 1
            : 0;
    const auto same = onnx.findValue(weight.name);
    const Tensor* there = same ? onnx.constantData(*same) : nullptr;
    if (there == nullptr || there->dims() != tensor.dims()) continue;
    ++compared.named;
    compared.equal += there->identical(tensor) ? 1 : 0;
  }
  return compared;
}

/// Open extents have other names in the ONNX file, where its author's names of them are kept.
bool sameInputs(const Model& torch, const Model& onnx) {
  if (torch.inputSpecs.size() != onnx.inputSpecs.size()) return false;
  for (std::size_t i = 0; i < torch.inputSpecs.size(); ++i) {
    const InputSpec& a = torch.inputSpecs[i];
    const InputSpec& b = onnx.inputSpecs[i];
    if (a.name != b.name || a.dtype != b.dtype || a.opt.size() != b.opt.size()) return false;
    const Shape& shape = onnx.graph->value(onnx.graph->inputs()[i]).type.shape;
    for (std::size_t axis = 0; axis < a.opt.size(); ++axis)
      if (shape.dims[axis].known() ? a.min[axis] != shape.dims[axis].size || a.max[axis] != shape.dims[axis].size
                                   : a.min[axis] == a.max[axis])
        return false;
  }
  return true;
}

TEST(ZooPt2, EachIsWhatItsOnnxFileIs) {
  FUSESCOPE_REQUIRE_SHARED();
  std::cout << "network               nodes  inputs  examples  weights: equal of named, found of all\n";
  for (const ZooCase& zoo : kZoo) {
    SCOPED_TRACE(zoo.name);
    const auto folder = *sharedFolder() / "zoo" / zoo.name;
    const auto model = importModel(folder / "model.pt2");
    ASSERT_TRUE(model.ok()) << model.error().text();
    const auto onnx = importModel(folder / "model.onnx");
    ASSERT_TRUE(onnx.ok()) << onnx.error().text();
    EXPECT_EQ(model.value().fileNodes, zoo.nodes);
    EXPECT_EQ(model.value().producer, "PyTorch 2.11.0+cu130");
    const bool inputs = sameInputs(model.value(), onnx.value());
    EXPECT_TRUE(inputs);
    const auto examples = readExampleInputs(folder / "model.pt2");
    ASSERT_TRUE(examples.ok()) << examples.error().text();
    const auto recorded = readNpz(folder / "io.npz");
    ASSERT_TRUE(recorded.ok()) << recorded.error().text();
    int equal = 0;
    const auto expected = inputsFrom(recorded.value());
    for (const auto& [name, tensor] : examples.value()) {
      ASSERT_TRUE(expected.contains(name)) << name;
      EXPECT_TRUE(tensor.identical(expected.at(name))) << name;
      equal += tensor.identical(expected.at(name)) ? 1 : 0;
    }
    EXPECT_EQ(examples.value().size(), expected.size());
    const Compared weights = comparedWeights(*model.value().graph, *onnx.value().graph);
    EXPECT_EQ(weights.all - weights.found, zoo.gone);
    EXPECT_EQ(weights.equal + zoo.folded, weights.named);
    EXPECT_GT(weights.named, 0);
    std::cout << fmt::format("{:<22}{:>5}  {:>6}  {} of {}    {} of {}, {} of {}\n", zoo.name, model.value().fileNodes,
                             inputs ? "equal" : "apart", equal, examples.value().size(), weights.equal, weights.named,
                             weights.found, weights.all);
    EXPECT_FALSE(model.value().weightless);
    const auto prepared = prepareModel(model.value());
    EXPECT_TRUE(prepared.ok()) << prepared.error().text();
  }
}

TEST(ZooPt2, ADynamicBatchHasItsRange) {
  FUSESCOPE_REQUIRE_SHARED();
  const auto model = importModel(*sharedFolder() / "zoo/tiny_resnet_dynbatch/model.pt2");
  ASSERT_TRUE(model.ok()) << model.error().text();
  const InputSpec expected{.name = "x",
                           .dtype = DataType::F32,
                           .min = {1, 3, 64, 64},
                           .opt = {2, 3, 64, 64},
                           .max = {32, 3, 64, 64},
                           .source = torch::kFromExample};
  EXPECT_EQ(model.value().inputSpecs, std::vector{expected});
  EXPECT_EQ(model.value().graph->value(model.value().graph->inputs()[0]).type.text(), "f32[s77, 3, 64, 64]");
}

}  // namespace
}  // namespace fusescope::test
