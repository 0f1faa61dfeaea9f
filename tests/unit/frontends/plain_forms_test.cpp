// ONNX Runtime's own operators against what ONNX Runtime calculates: those that have a plain form, plain_forms.json,
// and those that are operators here too, own_operators.json. The scripts of the same names wrote them.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "base/json.h"
#include "passes/pipelines.h"
#include "tests/unit/frontends/onnx_files.h"
#include "tests/unit/frontends/run_graph.h"

namespace fusescope::test {
namespace {

constexpr std::size_t kPlainForms = 91, kOwnOperators = 12;

Json readCases(const std::string& file) {
  std::ifstream in(std::filesystem::path(FUSESCOPE_SOURCE_DIR) / "tests/unit/frontends" / file);
  return Json::parse(in).at("cases");
}

DataType typeNamed(const std::string& name) {
  static const std::map<std::string, DataType> kTypes{
      {"float", DataType::F32}, {"int32", DataType::I32}, {"int64", DataType::I64}, {"uint8", DataType::U8},
      {"int8", DataType::I8},   {"bool", DataType::Bool}, {"uint16", DataType::U16}};
  return kTypes.at(name);
}

Tensor tensorOf(const Json& json) {
  const auto values = json.at("values").get<std::vector<double>>();
  const Tensor wide = Tensor::copyOf<double>(DataType::F64, json.at("dims").get<Dims>(), values);
  return wide.converted(typeNamed(json.at("type")));
}

Result<Model> importCase(const std::string& text) {
  const auto bytes = onnxlib::onnxTextToBytes(text);
  if (!bytes.ok()) return bytes.error();
  return importBytes(bytes.value());
}

void expectNear(const Tensor& got, const Json& wanted, double atol, const std::string& what) {
  const Tensor expected = tensorOf(wanted);
  EXPECT_EQ(got.type(), expected.type()) << what;
  ASSERT_EQ(got.dims(), expected.dims()) << what;
  for (std::int64_t i = 0; i < got.count(); ++i) {
    const double a = got.asDouble(i), b = expected.asDouble(i);
    EXPECT_LE(std::abs(a - b), atol + 1e-5 * std::abs(b)) << what << " [" << i << "] " << a << " instead of " << b;
  }
}

/// What a case's operator becomes.
enum class Becomes { PlainForm, Itself };

void expectForm(const Model& model, Becomes form, const std::string& what) {
  EXPECT_EQ(countCode(model, "import.plain_form"), form == Becomes::PlainForm ? 1U : 0U) << what;
  for (const NodeId id : model.graph->order()) {
    const Node& node = model.graph->node(id);
    EXPECT_EQ(node.domain.empty(), form == Becomes::PlainForm) << what << ": " << node.op;
    EXPECT_EQ(node.origins, std::vector{OriginId(0)}) << what;
  }
}

void runCase(const Json& item, const std::string& text, Becomes form, const std::string& what) {
  const auto model = importCase(text);
  ASSERT_TRUE(model.ok()) << what << ": " << model.error().text();
  expectForm(model.value(), form, what);
  std::vector<Tensor> inputs;
  for (const Json& input : item.at("inputs")) inputs.push_back(tensorOf(input));
  const auto outputs = runGraph(*model.value().graph, inputs);
  ASSERT_EQ(outputs.size(), item.at("outputs").size()) << what;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    expectNear(outputs[i], item.at("outputs")[i], item.at("atol"), what + " output " + std::to_string(i));
}

void runAll(const Json& cases, Becomes becomes) {
  for (const Json& item : cases) {
    const std::string name = item.at("name");
    std::size_t form = 0;
    for (const Json& text : item.at("models"))
      runCase(item, text, becomes, name + (form++ == 0 ? "" : " with open extents"));
  }
}

TEST(PlainForms, CalculateWhatOnnxRuntimeDoes) {
  const Json cases = readCases("plain_forms.json");
  EXPECT_EQ(cases.size(), kPlainForms);
  runAll(cases, Becomes::PlainForm);
}

TEST(OwnOperators, CalculateWhatOnnxRuntimeDoes) {
  const Json cases = readCases("own_operators.json");
  EXPECT_EQ(cases.size(), kOwnOperators);
  runAll(cases, Becomes::Itself);
}

}  // namespace
}  // namespace fusescope::test
