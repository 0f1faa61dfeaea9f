#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>

#include "base/json.h"
#include "tests/unit/frontends/onnx_files.h"
#include "tests/unit/frontends/run_graph.h"

namespace fusescope::test {

/// The cases of a file that plain_forms.py or a script beside it wrote: networks of a node, inputs, and what ONNX
/// Runtime calculates.
inline Json runtimeCases(const std::string& file) {
  std::ifstream in(std::filesystem::path(FUSESCOPE_SOURCE_DIR) / "tests/unit/frontends" / file);
  return Json::parse(in).at("cases");
}

inline Tensor tensorOfCase(const Json& json) {
  static const std::map<std::string, DataType> kTypes{
      {"float", DataType::F32}, {"double", DataType::F64}, {"int32", DataType::I32}, {"int64", DataType::I64},
      {"uint8", DataType::U8},  {"int8", DataType::I8},    {"bool", DataType::Bool}, {"uint16", DataType::U16}};
  const auto dims = json.at("dims").get<Dims>();
  if (json.at("type") == "string") return Tensor::ofStrings(dims, json.at("values").get<std::vector<std::string>>());
  std::vector<double> values;
  for (const Json& value : json.at("values")) values.push_back(value.is_string() ? NAN : value.get<double>());
  return Tensor::copyOf<double>(DataType::F64, dims, values).converted(kTypes.at(json.at("type")));
}

inline Result<Model> importedCase(const std::string& text) {
  const auto bytes = onnxlib::onnxTextToBytes(text);
  if (!bytes.ok()) return bytes.error();
  return importBytes(bytes.value());
}

inline void expectNear(const Tensor& got, const Json& wanted, double atol, const std::string& what) {
  const Tensor expected = tensorOfCase(wanted);
  EXPECT_EQ(got.type(), expected.type()) << what;
  ASSERT_EQ(got.dims(), expected.dims()) << what;
  if (got.type() == DataType::String) {
    EXPECT_EQ(got.strings(), expected.strings()) << what;
    return;
  }
  for (std::int64_t i = 0; i < got.count(); ++i) {
    const double a = got.asDouble(i), b = expected.asDouble(i);
    EXPECT_LE(std::abs(a - b), atol + 1e-5 * std::abs(b)) << what << " [" << i << "] " << a << " instead of " << b;
  }
}

/// Runs the imported network of a case on the case's inputs.
inline void expectCaseRuns(const Json& item, const Model& model, const std::string& what) {
  std::vector<Tensor> inputs;
  for (const Json& input : item.at("inputs")) inputs.push_back(tensorOfCase(input));
  const auto outputs = runGraph(*model.graph, inputs);
  ASSERT_EQ(outputs.size(), item.at("outputs").size()) << what;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    expectNear(outputs[i], item.at("outputs")[i], item.at("atol"), what + " output " + std::to_string(i));
}

}  // namespace fusescope::test
